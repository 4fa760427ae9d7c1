// What `shard` may rely on: relations that have a strategy, measures that combine.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace headrace::optimize {

/// Refuses what the phase replaces: distinct, avg and count_distinct, limits of nothing and over
/// sorts, scalar subqueries.
mlir::LogicalResult verifyOptimize(mlir::ModuleOp module);

} // namespace headrace::optimize
