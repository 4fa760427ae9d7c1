// The estimated rows of streams, on their way from `form` through the ops to the plan.
#pragma once

#include "runtime/model/plan/plan.h"

#include "mlir/IR/Operation.h"

namespace headrace {

/// Of `pipe.stream` and `sched.load`: the rows that one rank puts in, {min, expected, p95, max}.
inline constexpr llvm::StringLiteral kEstimatedRowsAttr = "estimated_rows";

/// Of a `pipe.stream` before an exchange by hash: what the fullest rank gets, against an even share.
inline constexpr llvm::StringLiteral kFullestAttr = "fullest";

/// All zero, without a bound, if the op does not say.
plan::Cardinality estimatedRows(mlir::Operation *op);

} // namespace headrace
