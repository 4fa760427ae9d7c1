// What waits in streams in parts until a repeat reads it, and in states that several tasks read.
#pragma once

#include "model/plan/plan.h"

namespace headrace::plan {

/// Of one rank, as estimated.
struct WaitingRows {
  double bytes = 0;
  double onDiskBytes = 0; ///< of these, what memory is expected to have no room for
};

/// The rows that wait for a repeat. The memory is that of the plan's explanation; 0: enough.
WaitingRows waitingRows(const Plan &plan, const RepeatTask &repeat);

/// Likewise: the rows of a row buffer, which wait for all who read them.
WaitingRows keptRows(const Plan &plan, int32_t state);

} // namespace headrace::plan
