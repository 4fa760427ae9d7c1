// Comparisons of casts with constants, as comparisons of what is cast.
#ifndef HEADRACE_PASSES_OPTIMIZE_CASTCOMPARISONS_H
#define HEADRACE_PASSES_OPTIMIZE_CASTCOMPARISONS_H

#include "dialects/frame/FrameOps.h"
#include "mlir/IR/Builders.h"

namespace headrace::optimize {

/// A value equal to the comparison, of its type, in which `cast(x)` and a constant became `x` and a
/// constant of x's type; null if that cannot be said exactly. The filter of a scan then reads the
/// column as it is stored.
mlir::Value compareUncast(mlir::OpBuilder &builder, frame::CompareOp compare);
/// The same of `cast(x) in [literals]`.
mlir::Value compareUncast(mlir::OpBuilder &builder, frame::InOp in);

} // namespace headrace::optimize

#endif // HEADRACE_PASSES_OPTIMIZE_CASTCOMPARISONS_H
