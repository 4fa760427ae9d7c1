// Tensor programs to plans: a buffer per tensor, a task per kernel, library call and collective.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/model/plan/plan.h"

namespace headrace::schedule {

/// Keeps the types of arguments and results in the global view on the function, for scheduleTensors: call it
/// before `shard`, which makes split dimensions `?`.
void recordGlobalTypes(mlir::func::FuncOp function);

/// Builds the plan of a function that `form-tensors` has been through, in the local view. `kernels` (from `lower`)
/// hold one entry per kernel symbol. The arguments become tensor slots in their order, named as their locations
/// are; the results become result tasks in their order, whole on every rank. Diagnostics on failure.
mlir::FailureOr<plan::Plan> scheduleTensors(mlir::func::FuncOp function, std::vector<plan::Kernel> kernels);

} // namespace headrace::schedule
