// The clocks.
#include "runtime/base/clock.h"

#include <gtest/gtest.h>

using namespace headrace;

TEST(Clock, RealTimeDoesNotGoBack) {
  int64_t first = RealClock::instance().nowNanoseconds();
  EXPECT_GE(RealClock::instance().nowNanoseconds(), first);
}

TEST(Clock, VirtualTimeStandsStillUntilMoved) {
  VirtualClock clock;
  EXPECT_EQ(clock.nowNanoseconds(), 0);
  clock.advanceTo(50);
  EXPECT_EQ(clock.nowNanoseconds(), 50);
  EXPECT_DEATH(clock.advanceTo(49), "broken invariant");
}
