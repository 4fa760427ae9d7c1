// The ops of `dist` that move data, executed for all ranks at once.
#pragma once

#include "passes/interpreter/placement.h"

namespace headrace::interpreter {

/// The result of an exchange, collective, slice or local_extent on the parts of its operand. Rows
/// arrive in another order than they were sent: nothing may depend on it.
llvm::Expected<Parts> evaluateMovement(mlir::Operation *op, llvm::ArrayRef<Value> input,
                                       const MeshRanks &ranks);

} // namespace headrace::interpreter
