// The local program as operators of an explanation, with what the solver decided about each.
#ifndef HEADRACE_PASSES_SHARD_RECORD_OPERATORS_H
#define HEADRACE_PASSES_SHARD_RECORD_OPERATORS_H

#include "model/plan/plan.h"
#include "passes/shard/passes.h"

namespace headrace::shard {

/// Of an op that the solver placed: its number among the report's choices. Gone after
/// recordOperators().
inline constexpr llvm::StringLiteral kChoiceAttr = "shard.choice";

/// Numbers the ops of the local program (analysis/operator_location.h) and describes them. What
/// only names or picks columns is no operator; neighbouring filters are one.
plan::Explanation recordOperators(mlir::ModuleOp module, const ShardReport &report);

} // namespace headrace::shard

#endif // HEADRACE_PASSES_SHARD_RECORD_OPERATORS_H
