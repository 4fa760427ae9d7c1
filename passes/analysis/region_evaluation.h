// The regions of ops that evaluate them for each element of a list, on known values, by demand.
#ifndef HEADRACE_PASSES_ANALYSIS_REGIONEVALUATION_H
#define HEADRACE_PASSES_ANALYSIS_REGIONEVALUATION_H

#include "passes/analysis/scalar_evaluation.h"

namespace headrace::analysis {

/// The value of `frame.flat_map` or `frame.reduce` on its operands' values.
Evaluated evaluateLambda(mlir::Operation *op, llvm::ArrayRef<Scalar> operands);

/// Whether the operands after this one of AND, OR and COALESCE are not asked for.
bool decides(mlir::Operation *op, const Scalar &operand);

} // namespace headrace::analysis

#endif // HEADRACE_PASSES_ANALYSIS_REGIONEVALUATION_H
