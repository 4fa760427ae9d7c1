// The workers: every morsel once, errors by morsel order, cancelling, fairness, the threadless
// mode.
#include "runtime/device/cpu/worker_pool.h"

#include "runtime/base/stop.h"

#include <atomic>
#include <chrono>
#include <numeric>

#include <gtest/gtest.h>

using namespace headrace;

namespace {
PollState finish(Job &job, Doorbell &bell) {
  while (job.poll() == PollState::kPending) {
    if (bell.wait(20'000'000'000) == Doorbell::Wake::kTimeout) {
      ADD_FAILURE() << "a job did not end";
      return PollState::kPending;
    }
  }
  return job.poll();
}

/// A body that writes down in which order morsels run.
MorselBody appends(std::string &order, char letter) {
  return [&order, letter](int, int64_t) {
    order += letter;
    return Status();
  };
}
} // namespace

class WorkerPoolTest : public testing::TestWithParam<int> {};

TEST_P(WorkerPoolTest, EveryMorselRunsOnceWithItsWorkersState) {
  WorkerPool pool({.threads = GetParam()});
  Doorbell bell;
  std::vector<int64_t> sums(static_cast<size_t>(pool.workers()));
  Job job = pool.submit({.name = "sum", .morsels = 1000, .doorbell = &bell},
                        [&](int worker, int64_t morsel) {
                          sums[static_cast<size_t>(worker)] += morsel;
                          return Status();
                        });
  EXPECT_EQ(finish(job, bell), PollState::kDone);
  EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), int64_t{0}), 999 * 1000 / 2);
  EXPECT_EQ(job.morselsDone(), 1000);
  EXPECT_TRUE(job.status().ok());
}

TEST_P(WorkerPoolTest, TheSmallestFailingMorselIsReported) {
  WorkerPool pool({.threads = GetParam()});
  for (int repeat = 0; repeat < 50; ++repeat) {
    Doorbell bell;
    Job job = pool.submit(
        {.name = "divide", .morsels = 200, .doorbell = &bell}, [&](int, int64_t morsel) {
          return morsel % 10 == 7 ? makeError(ErrorKind::kData, "division by zero in ", morsel)
                                  : Status();
        });
    EXPECT_EQ(finish(job, bell), PollState::kFailed);
    EXPECT_EQ(job.status().message(), "division by zero in 7");
    EXPECT_LT(job.morselsDone(), 200);
  }
}

TEST_P(WorkerPoolTest, APhaseBeginsWhenAllMorselsOfTheOneBeforeHaveEnded) {
  WorkerPool pool({.threads = GetParam()});
  for (int repeat = 0; repeat < 200; ++repeat) {
    Doorbell bell;
    std::atomic<int64_t> done = 0;
    int64_t phase = 0; // of whoever makes the next one
    auto body = [&](int, int64_t) {
      ++done;
      return Status();
    };
    Job job = pool.submit({.name = "phases", .morsels = 3, .doorbell = &bell}, body,
                          [&]() -> Expected<JobPhase> {
                            EXPECT_EQ(done, (phase + 1) * (phase + 6) / 2); // 3 + 4 + 5 …
                            ++phase;
                            return JobPhase{phase < 6 ? 3 + phase : 0, body};
                          });
    EXPECT_EQ(finish(job, bell), PollState::kDone);
    EXPECT_EQ(phase, 6);
    EXPECT_EQ(job.morselsDone(), 3 + 4 + 5 + 6 + 7 + 8);
  }
}

TEST_P(WorkerPoolTest, APhaseThatCannotBeMadeFailsTheJob) {
  WorkerPool pool({.threads = GetParam()});
  Doorbell bell;
  Job job = pool.submit(
      {.name = "phases", .morsels = 2, .doorbell = &bell}, [](int, int64_t) { return Status(); },
      []() -> Expected<JobPhase> { return makeError(ErrorKind::kMemory, "no room for a phase"); });
  EXPECT_EQ(finish(job, bell), PollState::kFailed);
  EXPECT_EQ(job.status().message(), "no room for a phase");
}

TEST_P(WorkerPoolTest, JobsDroppedBetweenPhasesEnd) {
  WorkerPool pool({.threads = GetParam()});
  for (int repeat = 0; repeat < 200; ++repeat) {
    std::atomic<int> phases = 0;
    Job job = pool.submit(
        {.name = "endless", .morsels = 2}, [](int, int64_t) { return Status(); },
        [&]() -> Expected<JobPhase> {
          ++phases;
          return JobPhase{1 + phases % 3, [](int, int64_t) { return Status(); }};
        });
    while (phases < repeat % 5) {
      std::this_thread::yield();
    }
    if (repeat % 2 == 0) {
      job.cancel();
      while (job.poll() == PollState::kPending) {
        std::this_thread::yield();
      }
      EXPECT_EQ(job.status().kind(), ErrorKind::kCancelled);
    }
  }
}

TEST_P(WorkerPoolTest, JobsShareTheWorkers) {
  WorkerPool pool({.threads = GetParam()});
  Doorbell bell;
  std::atomic<bool> secondRan{false};
  // Each morsel of the first job is long; the second must not wait for all of them.
  Job first =
      pool.submit({.name = "long", .morsels = 10'000, .doorbell = &bell}, [&](int, int64_t) {
        if (!secondRan) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return Status();
      });
  Doorbell secondBell;
  Job second = pool.submit({.name = "short", .morsels = 3, .doorbell = &secondBell},
                           [&](int, int64_t morsel) {
                             secondRan = morsel == 2;
                             return Status();
                           });
  EXPECT_EQ(finish(second, secondBell), PollState::kDone);
  EXPECT_EQ(finish(first, bell), PollState::kDone);
}

TEST_P(WorkerPoolTest, WorkersMaxHolds) {
  WorkerPool pool({.threads = GetParam()});
  Doorbell bell;
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  Job job = pool.submit({.name = "serial", .morsels = 300, .workersMax = 1, .doorbell = &bell},
                        [&](int, int64_t) {
                          most = std::max(most.load(), ++inside);
                          --inside;
                          return Status();
                        });
  EXPECT_EQ(finish(job, bell), PollState::kDone);
  EXPECT_EQ(most, 1);
}

TEST_P(WorkerPoolTest, CancelledAndDroppedJobsEnd) {
  WorkerPool pool({.threads = GetParam()});
  Doorbell bell;
  auto forever = [](int, int64_t) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    return Status();
  };
  Job job = pool.submit({.name = "forever", .morsels = 1 << 30, .doorbell = &bell}, forever);
  job.cancel();
  EXPECT_EQ(finish(job, bell), PollState::kFailed);
  EXPECT_EQ(job.status().kind(), ErrorKind::kCancelled);
  {
    // The body refers to what ends with this scope.
    std::vector<int64_t> seen(1);
    Job dropped = pool.submit({.name = "dropped", .morsels = 1 << 30}, [&](int, int64_t morsel) {
      __atomic_store_n(&seen[0], morsel, __ATOMIC_RELAXED);
      return Status();
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, WorkerPoolTest, testing::Values(1, 2, 4));

TEST(WorkerPool, NoMorselsAreDoneAtOnce) {
  WorkerPool pool({.threads = 1});
  Doorbell bell;
  Job job = pool.submit({.name = "empty", .morsels = 0, .doorbell = &bell},
                        [](int, int64_t) { return makeError(ErrorKind::kInternal, "ran"); });
  EXPECT_EQ(job.poll(), PollState::kDone);
  EXPECT_TRUE(bell.consume());
}

TEST(WorkerPool, CancelsBetweenMorsels) {
  Doorbell bell;
  auto pool = std::make_unique<WorkerPool>(WorkerPool::Options{.threads = 0});
  Job job = pool->submit({.name = "left", .morsels = 5, .doorbell = &bell},
                         [](int, int64_t) { return Status(); });
  EXPECT_TRUE(pool->runOne());
  EXPECT_EQ(job.poll(), PollState::kPending);
  job.cancel();
  EXPECT_EQ(job.poll(), PollState::kFailed);
  EXPECT_FALSE(pool->runOne());
}

TEST(WorkerPool, CancellingStopsAMorselThatAsks) {
  WorkerPool pool({.threads = 1});
  Doorbell bell;
  std::atomic<bool> begun = false;
  Job job = pool.submit({.name = "long", .doorbell = &bell}, [&](int, int64_t) {
    begun = true;
    while (!stopRequested()) {
      std::this_thread::yield();
    }
    return Status();
  });
  while (!begun) {
    std::this_thread::yield();
  }
  job.cancel();
  EXPECT_EQ(finish(job, bell), PollState::kFailed);
  EXPECT_EQ(job.status().kind(), ErrorKind::kCancelled);
}

TEST(WorkerPool, AFailureStopsNoMorselBeforeIt) {
  WorkerPool pool({.threads = 2});
  Doorbell bell;
  std::atomic<bool> failed = false, asked = false;
  Job job = pool.submit({.name = "two", .morsels = 2, .doorbell = &bell}, [&](int, int64_t morsel) {
    if (morsel == 1) {
      failed = true;
      return makeError(ErrorKind::kData, "the second");
    }
    while (!failed) {
      std::this_thread::yield();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    asked = stopRequested();
    return makeError(ErrorKind::kData, "the first");
  });
  EXPECT_EQ(finish(job, bell), PollState::kFailed);
  EXPECT_FALSE(asked);
  EXPECT_EQ(job.status().message(), "the first");
}

TEST(WorkerPool, WithoutThreadsTheOrderIsFixed) {
  WorkerPool pool({.threads = 0});
  std::string order;
  auto append = [&](char letter) {
    return [&order, letter](int worker, int64_t morsel) {
      EXPECT_EQ(worker, 0);
      order += letter + std::to_string(morsel);
      return Status();
    };
  };
  Job a = pool.submit({.name = "a", .morsels = 3}, append('a'));
  Job b = pool.submit({.name = "b", .morsels = 2}, append('b'));
  while (pool.runOne()) {
  }
  EXPECT_EQ(order, "a0b0a1b1a2");
  EXPECT_EQ(a.poll(), PollState::kDone);
  EXPECT_EQ(b.poll(), PollState::kDone);
}

TEST(WorkerPool, LowerPrecedenceGoesFirst) {
  WorkerPool pool({.threads = 0});
  std::string order;
  Job later = pool.submit({.name = "later", .morsels = 3, .precedence = 2}, appends(order, 'c'));
  Job equal = pool.submit({.name = "equal", .morsels = 2, .precedence = 2}, appends(order, 'd'));
  EXPECT_TRUE(pool.runOne());
  EXPECT_FALSE(pool.wanted(2));
  EXPECT_TRUE(pool.wanted(3));
  Job first = pool.submit({.name = "first", .morsels = 2, .precedence = 1}, appends(order, 'a'));
  EXPECT_TRUE(pool.wanted(2));
  while (pool.runOne()) {
  }
  EXPECT_EQ(order, "caadcdc");
  EXPECT_FALSE(pool.wanted(2));
}

TEST(WorkerPool, OwnersShareWhateverThePrecedence) {
  WorkerPool pool({.threads = 0});
  std::string order;
  int one = 0, other = 0;
  Job a =
      pool.submit({.name = "a", .morsels = 2, .owner = &one, .precedence = 1}, appends(order, 'a'));
  Job b =
      pool.submit({.name = "b", .morsels = 2, .owner = &one, .precedence = 2}, appends(order, 'b'));
  Job x = pool.submit({.name = "x", .morsels = 3, .owner = &other, .precedence = 9},
                      appends(order, 'x'));
  while (pool.runOne()) {
  }
  EXPECT_EQ(order, "axaxbxb");
}
