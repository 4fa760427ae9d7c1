// Aggregates of which every measure has partial states that combine.
#ifndef HEADRACE_PASSES_OPTIMIZE_AVG_H
#define HEADRACE_PASSES_OPTIMIZE_AVG_H

#include "mlir/IR/Operation.h"

namespace headrace::optimize {

/// In the aggregates below `op`: avg becomes sum and count, a distinct measure two aggregates, equal
/// measures one.
void makeMeasuresCombine(mlir::Operation *op);

} // namespace headrace::optimize

#endif // HEADRACE_PASSES_OPTIMIZE_AVG_H
