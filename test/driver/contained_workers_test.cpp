// Pieces run on several threads, the heaviest first; one that dies ends the work, not the process.
#include "passes/driver/contained_workers.h"

#include "passes/driver/containment.h"

#include "llvm/Support/ErrorHandling.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

namespace headrace::driver {
namespace {

const std::atomic<bool> kGoesOn = false;

TEST(ContainedWorkers, all_pieces_have_run_when_finish_returns) {
  for (int threads : {1, 2, 5}) {
    ContainedWorkers workers(threads, kGoesOn);
    std::atomic<int> sum = 0;
    for (int round = 0; round < 3; ++round) { // and again afterwards
      for (int piece = 1; piece <= 20; ++piece) {
        workers.add(1, [&sum, piece] { sum += piece; });
      }
      EXPECT_TRUE(workers.finish());
      EXPECT_EQ(sum, 210 * (round + 1));
    }
    EXPECT_EQ(workers.death(), "");
  }
}

TEST(ContainedWorkers, one_thread_takes_the_heaviest_first) {
  ContainedWorkers workers(1, kGoesOn);
  std::vector<size_t> order;
  for (size_t weight : {3, 9, 1, 7}) {
    workers.add(weight, [&order, weight] { order.push_back(weight); });
  }
  EXPECT_TRUE(workers.finish());
  EXPECT_EQ(order, (std::vector<size_t>{9, 7, 3, 1}));
}

TEST(ContainedWorkers, pieces_run_at_the_same_time) {
  ContainedWorkers workers(2, kGoesOn);
  std::latch both(2); // neither ends before the other has begun
  workers.add(1, [&] { both.arrive_and_wait(); });
  workers.add(1, [&] { both.arrive_and_wait(); });
  EXPECT_TRUE(workers.finish());
}

TEST(ContainedWorkers, what_has_not_begun_is_left_out_once_stopped) {
  std::atomic<bool> stopped = false;
  ContainedWorkers workers(1, stopped);
  int ran = 0;
  for (size_t weight : {3, 2, 1}) {
    workers.add(weight, [&, weight] {
      ++ran;
      stopped = weight == 2;
    });
  }
  EXPECT_FALSE(workers.finish());
  EXPECT_EQ(ran, 2);
  EXPECT_EQ(workers.death(), "");
}

TEST(ContainedWorkers, a_death_on_another_thread_is_told_to_the_one_that_waits) {
  ContainedWorkers workers(2, kGoesOn);
  std::latch begun(1);
  workers.add(1, [&] { // `finish` is not called before another thread has taken it
    begun.count_down();
    llvm::report_fatal_error("cannot select: this");
  });
  begun.wait();
  EXPECT_FALSE(workers.finish());
  EXPECT_EQ(workers.death(), "cannot select: this (in phase lower)");
}

TEST(ContainedWorkers, the_death_of_the_caller_drops_what_has_not_begun) {
  auto ran = std::make_shared<std::atomic<int>>(0);
  std::string death;
  {
    ContainedWorkers workers(1, kGoesOn);
    bool alive = runContained(
        [&] {
          workers.add(2, [] { llvm::report_fatal_error("no way"); });
          workers.add(1, [ran] { ++*ran; });
          workers.finish();
        },
        death);
    EXPECT_FALSE(alive);
  }
  EXPECT_EQ(death, "no way");
  EXPECT_EQ(*ran, 0);
}

} // namespace
} // namespace headrace::driver
