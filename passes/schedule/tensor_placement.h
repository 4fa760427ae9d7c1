// The global extents of tensors in the local view, and which dimension is split over the ranks.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

#include <optional>

namespace headrace::schedule {

struct TensorPlacement {
  llvm::SmallVector<int64_t> shape; ///< global
  int32_t splitDimension = -1;      ///< split evenly over all ranks; -1: whole on every rank
};

/// Derives placements in program order: arguments from their recorded global types, results from operands.
class TensorPlacements {
public:
  mlir::LogicalResult addArguments(mlir::func::FuncOp function);
  /// Placements of the op's tensor results. Diagnostics if a size or a split does not follow.
  mlir::LogicalResult addResults(mlir::Operation *op);
  const TensorPlacement &of(mlir::Value tensor) const { return placements_.find(tensor)->second; }

private:
  mlir::LogicalResult addLinalg(mlir::Operation *op);
  /// Global extents of a tensor that an op writes to; dynamic where they do not follow.
  llvm::SmallVector<int64_t> startShape(mlir::Value start) const;
  int64_t globalExtent(mlir::Value size) const;
  mlir::LogicalResult addCollective(mlir::Operation *op);
  mlir::LogicalResult addReshape(mlir::Operation *op);
  mlir::LogicalResult add(mlir::Value tensor, llvm::ArrayRef<int64_t> shape);

  llvm::DenseMap<mlir::Value, TensorPlacement> placements_;
};

/// Name of the function attribute that recordGlobalTypes sets: argument types, then result types.
inline constexpr llvm::StringLiteral kGlobalTypesAttr = "headrace.global_types";

} // namespace headrace::schedule
