// Tensor fusion and library-call choice: which linalg ops become kernels, and which calls of a
// library.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace headrace::form {

/// What the pass `form-tensors` does (Passes.td).
mlir::LogicalResult formTensors(mlir::func::FuncOp function);

} // namespace headrace::form
