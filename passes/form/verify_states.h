// What kernels may rely on: what pipelines ask of states is there.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace headrace::form {

/// Refuses pipelines that read, look up or fill a state that does not exist, or in columns and
/// fields that it or their rows do not have. Holds from `form` to `lower`.
mlir::LogicalResult verifyStateUses(mlir::ModuleOp module);

} // namespace headrace::form
