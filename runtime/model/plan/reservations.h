// What a plan must be able to hold at the same time, by its reserve and release tasks.
#pragma once

#include "runtime/model/plan/dependencies.h"

#include <string>

namespace headrace::plan {

/// The largest sum of minimum reservations of a tier on one rank, and the reserve task that
/// completes it.
struct PeakReservation {
  uint64_t bytes = 0;
  int32_t task = kNone; ///< kNone: the plan reserves nothing there
};

/// At the moment a reservation is granted, those live with it: all but the ones surely released
/// before, the ones surely granted later, and those of the other branch of a choose. The largest
/// such sum bounds what is ever live. `order` is the plan's, without back-pressure.
PeakReservation peakReservation(const Plan &plan, const Dependencies &order,
                                const std::string &tier);
PeakReservation peakReservation(const Plan &plan, const std::string &tier);

/// The release of a reserve task, or kNone: held until the program ends.
int32_t releaseOf(const Plan &plan, int32_t reserve);

} // namespace headrace::plan
