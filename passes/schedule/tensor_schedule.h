// Tensor programs to tasks: a buffer per tensor, a task per kernel, library call and collective.
#pragma once

#include "dialects/sched/SchedDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

namespace headrace::schedule {

/// Appends the tasks of a function that `form-tensors` has been through, in the local view. The
/// arguments become inputs in their order, named as their locations are; the results become results
/// in their order, whole on every rank unless they stay there. `streams` are the written streams
/// that its pipe.to_tensor ops name. Diagnostics on failure.
mlir::LogicalResult scheduleTensors(mlir::func::FuncOp function, sched::ProgramOp program,
                                    const llvm::StringMap<mlir::Value> &streams);

} // namespace headrace::schedule
