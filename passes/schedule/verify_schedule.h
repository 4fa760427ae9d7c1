// What the plan's writer may rely on: every pipeline runs once, states are filled before they are
// read.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace headrace::schedule {

/// Checks modules with a `sched.program`: there is one, each pipeline but the merges is run by one
/// task, and a state that a task reads was filled by tasks before it, none behind it.
mlir::LogicalResult verifySchedule(mlir::ModuleOp module);

} // namespace headrace::schedule
