// A small valid plan for the tests: build and probe a join table, aggregate, gather.
#pragma once

#include "model/plan/plan.h"

namespace headrace::plan {
/// load 0 -> build 1 (state 0); load 2 -> probe 3 (after 1) -> gather 4 -> sum 5 (state 1) -> emit
/// 6 -> result 7
Plan samplePlan();
} // namespace headrace::plan
