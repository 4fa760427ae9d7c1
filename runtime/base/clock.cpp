// The real and the virtual clock.
#include "runtime/base/clock.h"

#include <ctime>

#include "runtime/base/check.h"

namespace headrace {

RealClock &RealClock::instance() {
  static RealClock clock;
  return clock;
}

int64_t RealClock::nowNanoseconds() const {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

void VirtualClock::advanceTo(int64_t nanoseconds) {
  HR_CHECK(nanoseconds >= nowNanoseconds());
  now_.store(nanoseconds, std::memory_order_release);
}

} // namespace headrace
