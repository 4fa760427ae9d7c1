// What `optimize` may rely on: programs of tables and tensors in the global view, without layouts.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace headrace::import {

/// Refuses ops of later levels, layouts (but for `dist.constrain`), aggregates in stages, functions
/// of several blocks, and column names with two definitions.
mlir::LogicalResult verifyImport(mlir::ModuleOp module);

} // namespace headrace::import
