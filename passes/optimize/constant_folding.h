// Folding of constant expressions inside an expression region.
#ifndef HEADRACE_PASSES_OPTIMIZE_CONSTANTFOLDING_H
#define HEADRACE_PASSES_OPTIMIZE_CONSTANTFOLDING_H

#include "mlir/IR/Region.h"

namespace headrace::optimize {

/// Evaluates scalar ops on constants, drops neutral operands of logic, inverts negated comparisons,
/// and erases what is not used. What would fail stays, to fail when a row reaches it.
void foldConstants(mlir::Region &region);

} // namespace headrace::optimize

#endif // HEADRACE_PASSES_OPTIMIZE_CONSTANTFOLDING_H
