// The global extents of tensors in the local view, and which dimension is split over the ranks.
#pragma once

#include "dialects/pipe/PipeDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace headrace::schedule {

/// How the parts of a split dimension are sized.
enum class Parts : uint8_t {
  kEven,
  kRagged, ///< by the rows that a to_tensor found on each rank
};

struct TensorPlacement {
  llvm::SmallVector<int64_t> shape; ///< global; dynamic where only the run knows
  int64_t splitDimension = -1;      ///< split over all ranks; -1: whole on every rank
  Parts parts = Parts::kEven;
  int64_t rows = -1; ///< the to_tensor, by its number, whose rows the dynamic extents are
};

/// Derives placements in program order: arguments from their recorded global types, results from
/// operands.
class TensorPlacements {
public:
  /// `ranks`: whether rows of tables are spread.
  TensorPlacements(int64_t ranks) : ranks_(ranks) {}
  mlir::LogicalResult addArguments(mlir::func::FuncOp function);
  /// Placements of the op's tensor results. Diagnostics if a size or a split does not follow.
  mlir::LogicalResult addResults(mlir::Operation *op);
  const TensorPlacement &of(mlir::Value tensor) const { return placements_.find(tensor)->second; }

private:
  /// Diagnostics if a dynamic extent is not the rows of a to_tensor.
  mlir::LogicalResult checkSizes(mlir::Operation *op, const TensorPlacement &placement) const;
  mlir::LogicalResult addLinalg(mlir::Operation *op);
  /// Placement of a tensor that an op writes to; extents are dynamic where they do not follow.
  TensorPlacement startPlacement(mlir::Value start) const;
  void addSize(TensorPlacement &placement, int64_t dimension, mlir::Value size) const;
  mlir::LogicalResult addCollective(mlir::Operation *op);
  mlir::LogicalResult addReshape(mlir::Operation *op);
  void addRows(pipe::ToTensorOp op);

  int64_t ranks_;
  int64_t toTensors_ = 0; ///< so far
  llvm::DenseMap<mlir::Value, TensorPlacement> placements_;
};

/// Name of the function attribute that recordGlobalTypes sets: argument types, then result types.
inline constexpr llvm::StringLiteral kGlobalTypesAttr = "headrace.global_types";

} // namespace headrace::schedule
