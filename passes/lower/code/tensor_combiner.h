// The combining op of a reduction, found in the body of a linalg.generic, and its use across vector
// lanes.
#pragma once

#include "passes/lower/code/code_builder.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <optional>

namespace headrace::lower {

struct Combiner {
  mlir::vector::CombiningKind kind;
  mlir::TypedAttr identity;

  /// accumulator combined with all lanes, in an order of its own (sums are rounded accordingly).
  mlir::Value reduceLanes(CodeBuilder &builder, mlir::Value lanes, mlir::Value accumulator) const;
};

/// None if the body does not yield `combine(output's argument, something else)` with a combine
/// known to be associative and commutative (but for rounding).
std::optional<Combiner> findCombiner(mlir::linalg::GenericOp op, unsigned output);

} // namespace headrace::lower
