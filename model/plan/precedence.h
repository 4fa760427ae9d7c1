// Which tasks go before others where both could use a worker: those that are listed first.
#pragma once

#include "model/plan/plan.h"

#include <cstdint>
#include <vector>

namespace headrace::plan {

/// By task: when workers take its morsels, beside other tasks that have some; 0 first. Tasks that
/// streams connect run together and share one number; their order among the others is that of the
/// first of them in Plan.tasks. The numbers are 0, 1, 2, … without gaps.
std::vector<int32_t> precedences(const Plan &plan);

} // namespace headrace::plan
