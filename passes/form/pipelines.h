// Pipeline formation: the local relational program to pipelines between states.
#pragma once

#include "passes/form/open_pipeline.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace headrace::form {

/// Builds pipe ops into the module around `main` and erases `main`. Columns that nobody reads never
/// appear. Diagnostics with the place in the user's program on failure.
mlir::LogicalResult formPipelines(mlir::func::FuncOp main, TableSink sink = TableSink::kResult);

} // namespace headrace::form
