// exp and tanh on scalars and vectors of f32 and f64, in arith ops: kernels call no library.
#pragma once

#include "passes/lower/code/code_builder.h"

namespace headrace::lower {

/// e^x: at most 2 units in the last place; overflows to infinity, underflows to 0, NaN stays NaN.
mlir::Value emitExp(CodeBuilder &builder, mlir::Value x);
/// tanh x: at most 3 units in the last place; keeps -0, NaN stays NaN.
mlir::Value emitTanh(CodeBuilder &builder, mlir::Value x);

} // namespace headrace::lower
