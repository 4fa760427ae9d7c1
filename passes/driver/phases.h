// The named pipelines of the phases that consist of MLIR passes.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace headrace::driver {

struct CompileOptions;

mlir::LogicalResult runOptimize(mlir::ModuleOp module);
mlir::LogicalResult runShard(mlir::ModuleOp module, const CompileOptions &options);

} // namespace headrace::driver
