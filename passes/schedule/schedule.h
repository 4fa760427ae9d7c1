// The phase `schedule`: pipelines and tensor programs to the tasks, streams, states and buffers of
// a plan.
#pragma once

#include "dialects/sched/SchedDialect.h"
#include "model/plan/plan.h"

namespace headrace::schedule {

/// Orders the pipelines of a module into a `sched.program @main` (or @tasks, beside a function
/// @main): a run task each, loads before scans, exchanges between the two pipelines of a stream;
/// then the tasks of the tensor program, if there is one. Diagnostics on failure.
mlir::FailureOr<sched::ProgramOp> buildProgram(mlir::ModuleOp module);

/// Writes a program into a plan. `kernels` (from `lower`) hold one entry per pipeline and per
/// comparison, by symbol; their places are indices into `places`.
mlir::FailureOr<plan::Plan> emitPlan(sched::ProgramOp program, std::vector<plan::Kernel> kernels,
                                     std::vector<std::string> places);

} // namespace headrace::schedule
