// ThreadTensorEmitter: one fused linalg.generic shaped for threads.
#pragma once

#include "passes/lower/code/tensor_kernel.h"
#include "passes/lower/gpu/device_kernel.h"

namespace headrace::lower {

/// A thread computes the outputs first, first + stride, … of the morsel, numbered row-major over
/// the parallel loops; reductions run inside the thread. Arguments as for the CPU kernel
/// (TaskKind::kCompute in plan.h).
class ThreadTensorEmitter : TensorKernelEmitter {
public:
  ThreadTensorEmitter(mlir::linalg::GenericOp op, mlir::ModuleOp target);
  mlir::FailureOr<DeviceKernel> emit();
};

} // namespace headrace::lower
