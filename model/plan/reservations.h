// What a plan must be able to hold at the same time: reservations, and tensors from their first
// write to their last use.
#pragma once

#include "model/plan/dependencies.h"

namespace headrace::plan {

/// The largest sum of minimum bytes of a tier on one rank, and the task that completes it.
struct PeakReservation {
  uint64_t bytes = 0;
  int32_t task = kNone; ///< kNone: the plan holds nothing there
};

/// At the moment that memory is taken, there is live with it: all but what surely is given back
/// before, what surely is taken later, and what belongs to the other branch of a choose. The
/// largest such sum bounds what is ever live. Reservations count with their minimum, tensors with
/// their bound (0 if only the run knows their extent). `order` is the plan's, without
/// back-pressure.
PeakReservation peakReservation(const Plan &plan, const Dependencies &order, Tier tier);
PeakReservation peakReservation(const Plan &plan, Tier tier);
/// The same on a rank of so many, which holds its parts of divided tensors.
PeakReservation peakReservation(const Plan &plan, Tier tier, int64_t ranks);

/// For each buffer, how many tasks end before it is given back. A buffer that is a result is kept:
/// it counts one more.
std::vector<int32_t> usersOfBuffers(const Plan &plan);

/// The release of a reserve task, or kNone: held until the program ends.
int32_t releaseOf(const Plan &plan, int32_t reserve);

} // namespace headrace::plan
