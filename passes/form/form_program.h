// The phase form for whole programs: tables, tensors, or tables that become tensors.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace headrace::form {

/// A function that returns a table becomes pipelines and disappears. One that returns tensors stays
/// as the frame of its kernels and library calls; each of its frame.to_tensor becomes a
/// pipe.to_tensor of a stream that pipelines write. Diagnostics on failure.
mlir::LogicalResult formProgram(mlir::func::FuncOp function);

} // namespace headrace::form
