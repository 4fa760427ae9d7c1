// What `lower` and `schedule` may rely on: pipelines between states and streams, and named tensor
// kernels.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace headrace::form {

/// Refuses ops of `frame`, states and streams that do not exist or that nobody fills, streams
/// without exactly one sender and one receiver, and tensor ops that are neither a kernel nor a
/// library call.
mlir::LogicalResult verifyForm(mlir::ModuleOp module);

} // namespace headrace::form
