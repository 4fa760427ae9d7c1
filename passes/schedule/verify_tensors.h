// Whether the tasks of tensors are those of the function that stays beside them.
#pragma once

#include "dialects/sched/SchedDialect.h"

namespace headrace::schedule {

/// Checks the tensor tasks of a program, in whatever order they are: for each op of the module's
/// functions there is one task, on the same inputs, and there are no others. What has no function
/// has none to compare with.
mlir::LogicalResult verifyTensors(mlir::ModuleOp module, sched::ProgramOp program);

} // namespace headrace::schedule
