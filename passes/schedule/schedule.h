// The phase `schedule`: pipelines to the tasks, streams and states of a plan.
#pragma once

#include "dialects/pipe/PipeDialect.h"
#include "runtime/model/plan/plan.h"

namespace headrace::schedule {

/// Builds the plan of a module of pipelines. `kernels` (from `lower`) hold one entry per pipeline and per
/// comparison, by symbol. Diagnostics on failure.
mlir::FailureOr<plan::Plan> schedulePlan(mlir::ModuleOp module, std::vector<plan::Kernel> kernels);

} // namespace headrace::schedule
