// The phases between import and schedule, each one function on a module.
#pragma once

#include "passes/driver/compile_options.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace headrace::driver {

/// @main, or the only function there is; null if there is neither.
mlir::func::FuncOp programFunction(mlir::ModuleOp module);

/// Rewrites that are good whatever the ranks.
mlir::LogicalResult runOptimize(mlir::ModuleOp module);
/// Layouts by cost, then one rank's view. Leaves what was chosen and why in the module's
/// analysis::kExplanationAttr.
mlir::LogicalResult runShard(mlir::ModuleOp module, const CompileOptions &options);
/// What a program behind `optimize` is predicted to take, in seconds, in the layouts that `shard`
/// would choose.
mlir::FailureOr<double> predictedSeconds(mlir::ModuleOp module, const CompileOptions &options);
/// One rank's program to pipelines and tensor kernels.
mlir::LogicalResult runForm(mlir::ModuleOp module, const CompileOptions &options);
/// Pipelines and tensor kernels to tasks.
mlir::LogicalResult runSchedule(mlir::ModuleOp module, const CompileOptions &options);

/// What the phases behind `phase` rely on, in a module that it did not make itself but that was
/// read from a text.
mlir::LogicalResult verifyAfter(Phase phase, mlir::ModuleOp module, const CompileOptions &options);

} // namespace headrace::driver
