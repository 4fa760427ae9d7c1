// The phase `schedule`: pipelines and tensor programs to tasks, and tasks to a plan.
#pragma once

#include "dialects/sched/SchedDialect.h"
#include "model/plan/plan.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace headrace::schedule {

#define GEN_PASS_DECL
#include "passes/schedule/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/schedule/Passes.h.inc"

/// Writes a program into a plan, from its module alone: tasks and the pipelines, states and streams
/// that they name, the kernels in `sched.kernels`, mesh, topology and explanation. Diagnostics on
/// failure. `ops`, if not null: the op that each task was written from.
mlir::FailureOr<plan::Plan> emitPlan(sched::ProgramOp program,
                                     llvm::SmallVectorImpl<mlir::Operation *> *ops = nullptr);

} // namespace headrace::schedule
