// Interval arithmetic over the scalar ops of `frame`, and what a true predicate says about its
// columns.
#ifndef HEADRACE_PASSES_ANALYSIS_EXPRESSIONRANGES_H
#define HEADRACE_PASSES_ANALYSIS_EXPRESSIONRANGES_H

#include "dialects/frame/FrameOps.h"
#include "passes/analysis/value_range.h"

namespace headrace::analysis {

/// The ranges of the arguments of one expression region, by argument number.
using ArgumentRanges = llvm::SmallVector<std::optional<Range>>;
/// The range of a scalar that is defined outside the region (a scalar subquery).
using OuterRange = llvm::function_ref<std::optional<Range>(mlir::Value)>;

/// The range of `scalar`; every result lies within its type. Nothing for floats and strings.
std::optional<Range>
evaluateRange(mlir::Value scalar, llvm::ArrayRef<std::optional<Range>> arguments, OuterRange outer);

/// Narrows `arguments` to the rows for which `predicate` is true. A predicate that cannot be true
/// leaves any ranges (the table is empty).
void refineByPredicate(mlir::Value predicate, ArgumentRanges &arguments, OuterRange outer);

/// The leaves of a tree of ANDs or ORs, from left to right, each once.
template <typename LogicOp> llvm::SmallVector<mlir::Value> flattened(mlir::Value value) {
  llvm::SmallVector<mlir::Value> leaves, open{value};
  llvm::SmallPtrSet<mlir::Value, 8> seen;
  while (!open.empty()) {
    mlir::Value next = open.pop_back_val();
    if (!seen.insert(next).second) {
      continue;
    }
    if (auto logic = next.getDefiningOp<LogicOp>()) {
      llvm::append_range(open, llvm::reverse(logic.getOperands()));
    } else {
      leaves.push_back(next);
    }
  }
  return leaves;
}

/// How many days a date moves, at least and at most, that goes so many months and then days on: a
/// month has 28 to 31 days.
Range daysLater(Int128 months, Int128 days);

/// `a < b` is `b > a`.
frame::CompareKind mirrored(frame::CompareKind kind);

} // namespace headrace::analysis

#endif // HEADRACE_PASSES_ANALYSIS_EXPRESSIONRANGES_H
