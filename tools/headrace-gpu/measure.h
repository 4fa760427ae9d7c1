// Times of what is submitted to a device, by its own clock.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "tools/headrace-gpu/session.h"

namespace headrace::gpu {

/// What a device does between two events, `rounds` times after one that does not count: the median
/// of the seconds. `submit` gives the event at its end. `first` is 8 bytes of the device for the
/// event before it, which is in the compute lane.
inline Expected<double> medianSeconds(Device &device, uint64_t first, int rounds,
                                      const std::function<Expected<Event>(const Event &)> &submit) {
  std::vector<double> seconds;
  for (int round = 0; round <= rounds; ++round) {
    HR_ASSIGN_OR_RETURN(Event begin, device.fill({Tier::kDevice, first}, 0, 8));
    HR_ASSIGN_OR_RETURN(Event end, submit(begin));
    HR_RETURN_IF_ERROR(device.wait(end));
    HR_ASSIGN_OR_RETURN(double time, device.secondsBetween(begin, end));
    if (round > 0) {
      seconds.push_back(std::max(time, 1e-9));
    }
  }
  std::ranges::nth_element(seconds, seconds.begin() + seconds.size() / 2);
  return seconds[seconds.size() / 2];
}

} // namespace headrace::gpu
