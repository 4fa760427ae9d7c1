// Placements follow from the ops: results are shaped as they start, collectives change what is split.
#include "passes/schedule/tensor_placement.h"

#include "dialects/dist/DistDialect.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace headrace::schedule {

/// The one dimension of the local type that is `?` is the split one.
LogicalResult TensorPlacements::add(Value tensor, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(tensor.getType());
  TensorPlacement placement{llvm::to_vector(shape), -1};
  for (auto [dimension, extent] : llvm::enumerate(type.getShape())) {
    if (!ShapedType::isDynamic(extent)) {
      continue;
    }
    if (placement.splitDimension >= 0) {
      return emitError(tensor.getLoc(), "a tensor split along two dimensions cannot be scheduled, got: ") << type;
    }
    placement.splitDimension = dimension;
  }
  if (llvm::any_of(shape, ShapedType::isDynamic)) {
    return emitError(tensor.getLoc(), "the global extents do not follow from the program, got: ") << type;
  }
  placements_[tensor] = std::move(placement);
  return success();
}

LogicalResult TensorPlacements::addArguments(func::FuncOp function) {
  auto recorded = function->getAttrOfType<ArrayAttr>(kGlobalTypesAttr);
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type) {
      return emitError(argument.getLoc(), "arguments of a tensor program are tensors, got: ") << argument.getType();
    }
    auto global = type;
    if (recorded) {
      global = cast<RankedTensorType>(cast<TypeAttr>(recorded[argument.getArgNumber()]).getValue());
    }
    if (failed(add(argument, global.getShape()))) {
      return failure();
    }
  }
  return success();
}

LogicalResult TensorPlacements::addResults(Operation *op) {
  if (isa<linalg::LinalgOp>(op)) {
    return addLinalg(op);
  }
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp>(op)) {
    return addReshape(op);
  }
  return addCollective(op);
}

/// Results are shaped like what they are written to.
LogicalResult TensorPlacements::addLinalg(Operation *op) {
  for (auto [index, init] : llvm::enumerate(cast<linalg::LinalgOp>(op).getDpsInits())) {
    if (failed(add(op->getResult(index), startShape(init)))) {
      return failure();
    }
  }
  return success();
}

SmallVector<int64_t> TensorPlacements::startShape(Value start) const {
  if (auto found = placements_.find(start); found != placements_.end()) {
    return found->second.shape;
  }
  if (auto fill = start.getDefiningOp<linalg::FillOp>()) {
    return startShape(fill.getOutputs().front());
  }
  auto type = cast<RankedTensorType>(start.getType());
  SmallVector<int64_t> shape = llvm::to_vector(type.getShape());
  if (auto empty = start.getDefiningOp<tensor::EmptyOp>()) {
    unsigned next = 0;
    for (int64_t &extent : shape) {
      if (ShapedType::isDynamic(extent)) {
        extent = globalExtent(empty.getDynamicSizes()[next++]);
      }
    }
  }
  return shape;
}

int64_t TensorPlacements::globalExtent(Value size) const {
  if (auto local = size.getDefiningOp<dist::LocalExtentOp>()) {
    return getConstantIntValue(local.getExtent()).value_or(ShapedType::kDynamic);
  }
  if (auto dim = size.getDefiningOp<tensor::DimOp>()) {
    auto found = placements_.find(dim.getSource());
    std::optional<int64_t> index = dim.getConstantIndex();
    return found != placements_.end() && index ? found->second.shape[*index] : ShapedType::kDynamic;
  }
  return getConstantIntValue(size).value_or(ShapedType::kDynamic);
}

LogicalResult TensorPlacements::addCollective(Operation *op) {
  if (!isa<dist::AllReduceOp, dist::AllGatherOp, dist::ReduceScatterOp, dist::AllToAllOp, dist::SliceOp>(op)) {
    return op->emitError("has no task in a tensor program: ") << op->getName();
  }
  return add(op->getResult(0), of(op->getOperand(0)).shape);
}

LogicalResult TensorPlacements::addReshape(Operation *op) {
  const TensorPlacement &source = of(op->getOperand(0));
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<int64_t> shape = llvm::to_vector(type.getShape());
  if (isa<tensor::CastOp>(op)) {
    return add(op->getResult(0), source.shape);
  }
  if (source.splitDimension < 0) {
    return add(op->getResult(0), shape);
  }
  // A split dimension may be renumbered, but not cut or joined: the parts would not be even.
  for (auto [dimension, extent] : llvm::enumerate(shape)) {
    if (ShapedType::isDynamic(extent)) {
      shape[dimension] = source.shape[source.splitDimension];
    }
  }
  int64_t before = 1, after = 1;
  for (int64_t extent : source.shape) {
    before *= extent;
  }
  for (int64_t extent : shape) {
    after *= extent;
  }
  if (before != after) {
    return op->emitError("reshapes the dimension that is split over the ranks, got: ") << type;
  }
  return add(op->getResult(0), shape);
}

} // namespace headrace::schedule
