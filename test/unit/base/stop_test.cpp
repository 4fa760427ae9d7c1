// Loops that ask whether their thread's work was given up.
#include "runtime/base/stop.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

TEST(Stop, NothingStopsAThreadOfItsOwn) { EXPECT_FALSE(stopRequested()); }

TEST(Stop, TheInnerScopeCounts) {
  const std::atomic<bool> yes = true, no = false;
  const StopScope outer(yes);
  EXPECT_TRUE(stopRequested());
  {
    const StopScope inner(no);
    EXPECT_FALSE(stopRequested());
  }
  EXPECT_TRUE(stopRequested());
}

TEST(Stop, ACheckIsMadeAfterSomeSteps) {
  const std::atomic<bool> stopped = true;
  const StopScope scope(stopped);
  StopCheck check;
  EXPECT_FALSE(check.isStoppedAfter());
  EXPECT_TRUE(check.isStoppedAfter(1 << 20));
  EXPECT_TRUE(check.isStoppedAfter());
}

/// How many rows a loop sees that is stopped after some of them.
uint32_t seenOf(uint32_t begin, uint32_t end, uint32_t stoppedAfter) {
  std::atomic<bool> stopped = stoppedAfter == 0;
  const StopScope scope(stopped);
  uint32_t seen = 0;
  for (uint32_t row : RowsUntilStopped(begin, end)) {
    EXPECT_EQ(row, begin + seen);
    stopped = ++seen >= stoppedAfter;
  }
  return seen;
}

TEST(Stop, RowsEndEarly) {
  EXPECT_EQ(seenOf(5, 100'000, 200'000), 99'995u);
  EXPECT_EQ(seenOf(7, 7, 1), 0u);
  EXPECT_EQ(seenOf(9, 7, 1), 0u);
  EXPECT_EQ(seenOf(5, 100'000, 0), 0u);
  const uint32_t seen = seenOf(5, 100'000, 20'000);
  EXPECT_GE(seen, 20'000u);
  EXPECT_LT(seen, 30'000u);
}

} // namespace
} // namespace headrace
