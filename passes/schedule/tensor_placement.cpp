// Placements follow from the ops: results are placed as they start, collectives change what is
// split.
#include "passes/schedule/tensor_placement.h"

#include "dialects/dist/DistDialect.h"
#include "dialects/interfaces/DiagnosticKind.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace headrace::schedule {

LogicalResult TensorPlacements::addArguments(func::FuncOp function) {
  auto recorded = function->getAttrOfType<ArrayAttr>(kGlobalTypesAttr);
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type) {
      return unsupported(
                 emitError(argument.getLoc(), "arguments of a tensor program are tensors, got: "))
             << argument.getType();
    }
    auto global = type;
    if (recorded) {
      global = cast<RankedTensorType>(cast<TypeAttr>(recorded[argument.getArgNumber()]).getValue());
    }
    if (!global.hasStaticShape()) {
      return unsupported(
                 emitError(argument.getLoc(), "the extents of an argument must be known, got: "))
             << global;
    }
    TensorPlacement placement{llvm::to_vector(global.getShape())};
    for (auto [dimension, extent] : llvm::enumerate(type.getShape())) {
      if (ShapedType::isDynamic(extent)) {
        placement.splitDimension = dimension;
      }
    }
    placements_[argument] = std::move(placement);
  }
  return success();
}

LogicalResult TensorPlacements::addResults(Operation *op) {
  if (auto rows = dyn_cast<pipe::ToTensorOp>(op)) {
    addRows(rows);
    return success();
  }
  if (isa<linalg::LinalgOp>(op)) {
    return addLinalg(op);
  }
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp>(op)) {
    return addReshape(op);
  }
  return addCollective(op);
}

void TensorPlacements::addRows(pipe::ToTensorOp op) {
  for (Value tensor : op.getTensors()) {
    TensorPlacement placement{llvm::to_vector(cast<RankedTensorType>(tensor.getType()).getShape())};
    if (ranks_ > 1) {
      placement.splitDimension = 0;
      placement.parts = Parts::kRagged;
    }
    placement.rows = toTensors_;
    placements_[tensor] = std::move(placement);
  }
  ++toTensors_;
}

LogicalResult TensorPlacements::checkSizes(Operation *op, const TensorPlacement &placement) const {
  if (placement.rows < 0 && llvm::is_contained(placement.shape, ShapedType::kDynamic)) {
    return unsupported(
               op->emitError("an extent that is no query's number of rows must be known, got: "))
           << op->getResult(0).getType();
  }
  return success();
}

/// Results are placed like what they are written to.
LogicalResult TensorPlacements::addLinalg(Operation *op) {
  for (auto [index, init] : llvm::enumerate(cast<linalg::LinalgOp>(op).getDpsInits())) {
    TensorPlacement placement = startPlacement(init);
    if (failed(checkSizes(op, placement))) {
      return failure();
    }
    placements_[op->getResult(index)] = std::move(placement);
  }
  return success();
}

TensorPlacement TensorPlacements::startPlacement(Value start) const {
  if (auto found = placements_.find(start); found != placements_.end()) {
    return found->second;
  }
  if (auto fill = start.getDefiningOp<linalg::FillOp>()) {
    return startPlacement(fill.getOutputs().front());
  }
  TensorPlacement placement{llvm::to_vector(cast<RankedTensorType>(start.getType()).getShape())};
  if (auto empty = start.getDefiningOp<tensor::EmptyOp>()) {
    unsigned next = 0;
    for (int64_t dimension = 0; dimension < static_cast<int64_t>(placement.shape.size());
         ++dimension) {
      if (ShapedType::isDynamic(placement.shape[dimension])) {
        addSize(placement, dimension, empty.getDynamicSizes()[next++]);
      }
    }
  }
  return placement;
}

void TensorPlacements::addSize(TensorPlacement &placement, int64_t dimension, Value size) const {
  if (auto local = size.getDefiningOp<dist::LocalExtentOp>()) {
    placement.shape[dimension] =
        getConstantIntValue(local.getExtent()).value_or(ShapedType::kDynamic);
    placement.splitDimension = dimension;
    return;
  }
  if (auto dim = size.getDefiningOp<tensor::DimOp>()) {
    auto found = placements_.find(dim.getSource());
    std::optional<int64_t> index = dim.getConstantIndex();
    if (found != placements_.end() && index) {
      placement.shape[dimension] = found->second.shape[*index];
      if (ShapedType::isDynamic(placement.shape[dimension])) {
        placement.rows = found->second.rows;
      }
      if (found->second.splitDimension == *index) {
        placement.splitDimension = dimension;
        placement.parts = found->second.parts;
      }
    }
    return;
  }
  placement.shape[dimension] = getConstantIntValue(size).value_or(ShapedType::kDynamic);
}

LogicalResult TensorPlacements::addCollective(Operation *op) {
  if (!isa<dist::AllReduceOp, dist::AllGatherOp, dist::ReduceScatterOp, dist::AllToAllOp,
           dist::SliceOp>(op)) {
    return unsupported(op->emitError("has no task in a tensor program: ")) << op->getName();
  }
  TensorPlacement placement = of(op->getOperand(0));
  if (isa<dist::AllGatherOp>(op)) {
    placement.splitDimension = -1;
    placement.parts = Parts::kEven;
  } else if (auto scatter = dyn_cast<dist::ReduceScatterOp>(op)) {
    placement.splitDimension = scatter.getDim();
  } else if (auto slice = dyn_cast<dist::SliceOp>(op)) {
    placement.splitDimension = slice.getDim();
  } else if (auto all = dyn_cast<dist::AllToAllOp>(op)) {
    if (placement.parts == Parts::kRagged) {
      return unsupported(
          op->emitError("parts of run-time size are not moved to another dimension"));
    }
    placement.splitDimension = all.getSplit();
  }
  placements_[op->getResult(0)] = std::move(placement);
  return success();
}

LogicalResult TensorPlacements::addReshape(Operation *op) {
  TensorPlacement placement = of(op->getOperand(0));
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (isa<tensor::CastOp>(op)) {
    placements_[op->getResult(0)] = std::move(placement);
    return success();
  }
  // A split dimension, or one of unknown extent, may be renumbered, but not cut or joined: the
  // parts would not be even.
  TensorPlacement result = placement;
  result.shape = llvm::to_vector(type.getShape());
  result.splitDimension = -1;
  auto isMarked = [&](int64_t dimension) {
    return dimension == placement.splitDimension ||
           ShapedType::isDynamic(placement.shape[dimension]);
  };
  auto collapse = dyn_cast<tensor::CollapseShapeOp>(op);
  SmallVector<ReassociationIndices, 4> groups =
      collapse ? collapse.getReassociationIndices()
               : cast<tensor::ExpandShapeOp>(op).getReassociationIndices();
  for (auto [index, group] : llvm::enumerate(groups)) {
    ReassociationIndices single{static_cast<int64_t>(index)};
    ArrayRef<int64_t> from = collapse ? group : single;
    ArrayRef<int64_t> to = collapse ? single : group;
    auto marked = llvm::find_if(from, isMarked);
    if (marked == from.end()) {
      continue;
    }
    auto target = llvm::find_if(to, [&](int64_t d) { return type.isDynamicDim(d); });
    bool alone =
        target != to.end() &&
        llvm::all_of(from, [&](int64_t d) { return d == *marked || placement.shape[d] == 1; }) &&
        llvm::all_of(to, [&](int64_t d) { return d == *target || type.getDimSize(d) == 1; });
    if (!alone) {
      return unsupported(
                 op->emitError("reshapes the dimension that is split over the ranks, got: "))
             << type;
    }
    result.shape[*target] = placement.shape[*marked];
    result.splitDimension = *marked == placement.splitDimension ? *target : result.splitDimension;
  }
  placements_[op->getResult(0)] = std::move(result);
  return success();
}

} // namespace headrace::schedule
