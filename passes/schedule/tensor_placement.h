// The global extents of tensors in the local view, and which axes of the mesh divide each
// dimension.
#pragma once

#include "dialects/dist/DistDialect.h"
#include "dialects/pipe/PipeDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace headrace::schedule {

struct TensorPlacement {
  llvm::SmallVector<int64_t> shape; ///< global; dynamic where only the run knows
  /// Of each dimension; ragged ones have the rows that a to_tensor found on each rank.
  llvm::SmallVector<dist::DimSplitAttr> splits;
  int64_t rows = -1; ///< the to_tensor, by its number, whose rows the dynamic extents are

  /// Of this type, whole on every rank.
  explicit TensorPlacement(mlir::Type type);
  TensorPlacement() = default;
  bool isDivided(int64_t dimension) const { return !splits[dimension].getAxes().empty(); }
  bool isDivided() const;
  void divide(int64_t dimension, mlir::ArrayAttr axes,
              dist::SplitKind kind = dist::SplitKind::Even);
  void makeWhole(int64_t dimension);
};

/// Derives placements in program order: arguments from what dist-localize has left of them, results
/// from operands.
class TensorPlacements {
public:
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
  mlir::LogicalResult addSlice(mlir::tensor::ExtractSliceOp op);
  mlir::LogicalResult addConcat(mlir::tensor::ConcatOp op);
  mlir::LogicalResult addGather(mlir::tensor::GatherOp op);
  void addRows(pipe::ToTensorOp op);

  int64_t toTensors_ = 0; ///< so far
  llvm::DenseMap<mlir::Value, TensorPlacement> placements_;
};

} // namespace headrace::schedule
