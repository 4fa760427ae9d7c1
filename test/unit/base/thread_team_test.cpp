// Each task runs once, whatever the threads.
#include "runtime/base/thread_team.h"

#include <atomic>
#include <gtest/gtest.h>

namespace headrace {
namespace {

TEST(ThreadTeam, TasksRunOnceAndHaveEnded) {
  for (int threads : {1, 2, 5}) {
    ThreadTeam team(threads);
    for (size_t count : {0, 1, 2, 3, 100, 1}) {
      std::vector<std::atomic<int>> ran(count);
      team.run(count, [&](size_t number) { ran[number].fetch_add(1, std::memory_order_relaxed); });
      for (const std::atomic<int> &each : ran) {
        EXPECT_EQ(each.load(std::memory_order_relaxed), 1);
      }
    }
  }
}

} // namespace
} // namespace headrace
