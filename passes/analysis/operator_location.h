// Which operator of the explanation an op belongs to: its number travels in the op's location, so
// that whatever later phases make of the op still knows it.
#pragma once

#include "mlir/IR/Location.h"

#include "llvm/ADT/SmallVector.h"

namespace headrace::analysis {

mlir::Location withOperator(mlir::Location location, int32_t number);

/// Those of an op, several if ops were fused; without duplicates, in the order of the location.
llvm::SmallVector<int32_t, 1> operatorsOf(mlir::Location location);

/// The first of them, or -1.
int32_t operatorOf(mlir::Location location);

/// The location as it was before it got a number: the user's.
mlir::Location withoutOperator(mlir::Location location);

} // namespace headrace::analysis
