// Keys of joins that are equal also where both are NULL.
#ifndef HEADRACE_PASSES_OPTIMIZE_NULLSAFE_H
#define HEADRACE_PASSES_OPTIMIZE_NULLSAFE_H

#include "dialects/frame/FrameOps.h"

namespace headrace::optimize {

/// `null_safe` of a join with these flags; none if no flag is set.
mlir::DenseBoolArrayAttr nullSafeAttr(mlir::MLIRContext *context, llvm::ArrayRef<bool> flags);

} // namespace headrace::optimize

#endif // HEADRACE_PASSES_OPTIMIZE_NULLSAFE_H
