// What a run says of the operators of its plan: kernels are fused, so it is put together from
// tasks.
#pragma once

#include "model/plan/plan.h"
#include "model/plan/profile.h"

#include <cstdint>
#include <vector>

namespace headrace::plan {

/// Of one operator; -1: not measured.
struct MeasuredOperator {
  double rows = -1;       ///< of its result: on all ranks, of one if each has all
  double movedBytes = -1; ///< that all ranks sent together
};

std::vector<MeasuredOperator> measuredOperators(const Plan &plan, const Profile &profile);

/// The task in which each operator does its work, or kNone. Several operators may share one.
std::vector<int32_t> tasksOfOperators(const Plan &plan);

/// Seconds that a task takes: of its busiest rank, or of all ranks together where they share too
/// few workers; -1: not measured.
std::vector<double> measuredTaskSeconds(const Plan &plan, const Profile &profile);

} // namespace headrace::plan
