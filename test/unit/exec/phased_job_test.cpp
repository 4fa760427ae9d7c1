// Phases one after another: each is made when the one before has ended, the first error ends them.
#include "runtime/exec/work/phased_job.h"

#include <atomic>
#include <gtest/gtest.h>
#include <string>

namespace headrace::exec {
namespace {

PollState finish(PhasedJob &job, WorkerPool &pool) {
  PollState state = PollState::kPending;
  while ((state = job.poll()) == PollState::kPending && pool.runOne()) {
  }
  return state;
}

TEST(PhasedJob, LaterPhasesSeeWhatEarlierOnesDid) {
  WorkerPool pool({.threads = 0});
  PhasedJob job(pool, {.name = "phases"});
  int64_t counted = 0;
  std::string order;
  job.add([&]() -> Expected<JobPhase> {
    return JobPhase{3, [&](int, int64_t morsel) {
                      order += 'a' + static_cast<char>(morsel);
                      ++counted;
                      return Status();
                    }};
  });
  job.add([&]() -> Expected<JobPhase> { return JobPhase{}; }); // nothing to do
  job.add([&]() -> Expected<JobPhase> {
    return JobPhase{counted - 1, [&](int, int64_t morsel) {
                      order += '0' + static_cast<char>(morsel);
                      return Status();
                    }};
  });
  EXPECT_EQ(finish(job, pool), PollState::kDone);
  EXPECT_EQ(order, "abc01");
  EXPECT_EQ(job.poll(), PollState::kDone);
  EXPECT_TRUE(job.status().ok());
}

TEST(PhasedJob, WithoutPhasesIsDone) {
  WorkerPool pool({.threads = 0});
  PhasedJob job(pool, {.name = "none"});
  EXPECT_EQ(job.poll(), PollState::kDone);
}

TEST(PhasedJob, TheFirstErrorIsKept) {
  WorkerPool pool({.threads = 0});
  for (bool whenMade : {false, true}) {
    PhasedJob job(pool, {.name = "fails"});
    bool went = false;
    job.add([&]() -> Expected<JobPhase> {
      if (whenMade) {
        return makeError(ErrorKind::kMemory, "no room for a phase");
      }
      return JobPhase{4, [](int, int64_t morsel) {
                        return morsel == 1 ? makeError(ErrorKind::kData, "division by zero")
                                           : Status();
                      }};
    });
    job.add([&]() -> Expected<JobPhase> {
      went = true;
      return JobPhase{};
    });
    EXPECT_EQ(finish(job, pool), PollState::kFailed);
    EXPECT_EQ(job.poll(), PollState::kFailed);
    EXPECT_EQ(job.status().message(), whenMade ? "no room for a phase" : "division by zero");
    EXPECT_FALSE(went);
  }
}

TEST(PhasedJob, LittleWorkIsOneMorsel) {
  for (bool isLittle : {false, true}) {
    std::string order;
    const JobPhase phase = phaseOf(3, isLittle, [&](int64_t part) {
      order += 'a' + static_cast<char>(part);
      return part == 1 ? makeError(ErrorKind::kData, "the second") : Status();
    });
    EXPECT_EQ(phase.morsels, isLittle ? 1 : 3);
    EXPECT_EQ(phase.body(0, 0).ok(), !isLittle);
    EXPECT_EQ(order, isLittle ? "ab" : "a");
  }
  EXPECT_EQ(phaseOf(0, true, {}).morsels, 0);
}

TEST(PhasedJob, DroppingItEndsWhatIsUnderWay) {
  WorkerPool pool({.threads = 0});
  int ran = 0;
  {
    PhasedJob job(pool, {.name = "dropped"});
    job.add([&]() -> Expected<JobPhase> {
      return JobPhase{100, [&](int, int64_t) {
                        ++ran;
                        return Status();
                      }};
    });
    EXPECT_EQ(job.poll(), PollState::kPending);
    EXPECT_TRUE(pool.runOne());
  }
  EXPECT_FALSE(pool.runOne());
  EXPECT_EQ(ran, 1);
}

TEST(PhasedJob, CountsWhatWorkersSpend) {
  WorkerPool pool({.threads = 0});
  VirtualClock clock;
  std::atomic<int64_t> busy{5};
  PhasedJob job(pool, {.name = "busy"});
  job.countBusy(busy, clock);
  job.add([&]() -> Expected<JobPhase> {
    return JobPhase{3, [&](int, int64_t morsel) {
                      clock.advanceTo(clock.nowNanoseconds() + 10 * (morsel + 1));
                      return Status();
                    }};
  });
  EXPECT_EQ(finish(job, pool), PollState::kDone);
  EXPECT_EQ(busy, 5 + 10 + 20 + 30);
}

} // namespace
} // namespace headrace::exec
