// Floats to integers as tensors mean it, in arith ops, which leave it open where the integer does
// not fit.
#pragma once

#include "passes/lower/code/code_builder.h"

namespace headrace::lower {

/// Toward zero; NaN gives 0, and what is beyond the integers the nearest of them. Scalars or
/// vectors.
mlir::Value emitSaturated(CodeBuilder &builder, mlir::Value x, mlir::Type integers);

} // namespace headrace::lower
