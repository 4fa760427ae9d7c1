// Placements follow from the ops: results are placed as they start, collectives change what is
// split.
#include "passes/schedule/tensor_placement.h"

#include "dialects/interfaces/DiagnosticKind.h"
#include "dialects/interfaces/TensorSlice.h"
#include "dialects/topo/TopoDialect.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace headrace::schedule {

TensorPlacement::TensorPlacement(Type type)
    : shape(cast<RankedTensorType>(type).getShape()),
      splits(shape.size(), dist::DimSplitAttr::get(type.getContext(), {}, dist::SplitKind::Even)) {}

bool TensorPlacement::isDivided() const {
  return llvm::any_of(splits, [](dist::DimSplitAttr split) { return !split.getAxes().empty(); });
}

void TensorPlacement::divide(int64_t dimension, ArrayAttr axes, dist::SplitKind kind) {
  splits[dimension] = dist::DimSplitAttr::get(axes.getContext(),
                                              llvm::to_vector(axes.getAsRange<StringAttr>()), kind);
}

void TensorPlacement::makeWhole(int64_t dimension) {
  splits[dimension] =
      dist::DimSplitAttr::get(splits[dimension].getContext(), {}, dist::SplitKind::Even);
}

LogicalResult TensorPlacements::addArguments(func::FuncOp function) {
  using dist::DistDialect;
  auto global = function->getAttrOfType<ArrayAttr>(DistDialect::getArgumentsAttrName());
  auto layouts = function->getAttrOfType<ArrayAttr>(DistDialect::getLayoutsAttrName());
  for (BlockArgument argument : function.getArguments()) {
    if (!isa<RankedTensorType>(argument.getType())) {
      return unsupported(
                 emitError(argument.getLoc(), "arguments of a tensor program are tensors, got: "))
             << argument.getType();
    }
    unsigned number = argument.getArgNumber();
    Type type = global ? cast<TypeAttr>(global[number]).getValue() : argument.getType();
    if (!cast<RankedTensorType>(type).hasStaticShape()) {
      return unsupported(
                 emitError(argument.getLoc(), "the extents of an argument must be known, got: "))
             << type;
    }
    TensorPlacement placement(type);
    if (global) {
      auto layout = cast<dist::LayoutAttr>(layouts[number]); // all arguments are tensors
      if (layout.getDims().size() != placement.shape.size()) {
        return emitError(argument.getLoc(), "a layout of other dimensions than its argument: ")
               << layout;
      }
      placement.splits.assign(layout.getDims().begin(), layout.getDims().end());
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
  for (Value operand : op->getOperands()) {
    if (isa<RankedTensorType>(operand.getType()) && !placements_.contains(operand)) {
      return unsupported(op->emitError("takes elements of a tensor that nothing fills"));
    }
  }
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp>(op)) {
    return addReshape(op);
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    return addSlice(slice);
  }
  if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    return addConcat(concat);
  }
  if (auto gather = dyn_cast<tensor::GatherOp>(op)) {
    return addGather(gather);
  }
  return addCollective(op);
}

/// Divided over all ranks.
void TensorPlacements::addRows(pipe::ToTensorOp op) {
  topo::MeshAttr mesh = topo::meshOf(op);
  SmallVector<Attribute> axes;
  for (size_t axis = 0; mesh && axis < mesh.getAxisNames().size(); ++axis) {
    if (mesh.getAxisSizes()[axis] > 1) {
      axes.push_back(mesh.getAxisNames()[axis]);
    }
  }
  for (Value tensor : op.getTensors()) {
    TensorPlacement placement(tensor.getType());
    if (!axes.empty()) {
      placement.divide(0, ArrayAttr::get(op.getContext(), axes), dist::SplitKind::Ragged);
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
  TensorPlacement placement(start.getType());
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
    placement.divide(dimension, local.getAxes());
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
      placement.splits[dimension] = found->second.splits[*index];
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
  if (auto gather = dyn_cast<dist::AllGatherOp>(op)) {
    placement.makeWhole(gather.getDim());
  } else if (auto scatter = dyn_cast<dist::ReduceScatterOp>(op)) {
    placement.divide(scatter.getDim(), scatter.getAxes());
  } else if (auto slice = dyn_cast<dist::SliceOp>(op)) {
    placement.divide(slice.getDim(), slice.getAxes());
  } else if (auto all = dyn_cast<dist::AllToAllOp>(op)) {
    if (placement.splits[all.getConcat()].getKind() == dist::SplitKind::Ragged) {
      return unsupported(
          op->emitError("parts of run-time size are not moved to another dimension"));
    }
    placement.makeWhole(all.getConcat());
    placement.divide(all.getSplit(), all.getAxes());
  }
  placements_[op->getResult(0)] = std::move(placement);
  return success();
}

/// What is taken whole is divided as the source is; the others are whole: shard asks for that.
LogicalResult TensorPlacements::addSlice(tensor::ExtractSliceOp op) {
  const TensorPlacement &source = of(op.getSource());
  TensorPlacement result(op.getType());
  std::optional<SmallVector<SlicedDimension>> dimensions = slicedDimensions(op);
  if (!dimensions) {
    return verifyTensorSlice(op);
  }
  for (auto [d, dimension] : llvm::enumerate(*dimensions)) {
    auto from = static_cast<int64_t>(d);
    if (source.isDivided(from) && !(dimension.whole && dimension.result)) {
      return unsupported(op.emitError("takes a part of a dimension that is divided over ranks: "))
             << d;
    }
    if (dimension.result) {
      result.shape[*dimension.result] = dimension.whole ? source.shape[d] : dimension.elements.size;
      result.splits[*dimension.result] = source.splits[d];
    }
  }
  result.rows = llvm::is_contained(result.shape, ShapedType::kDynamic) ? source.rows : -1;
  placements_[op.getResult()] = std::move(result);
  return success();
}

LogicalResult TensorPlacements::addConcat(tensor::ConcatOp op) {
  auto along = static_cast<int64_t>(op.getDim());
  TensorPlacement result = of(op.getInputs().front());
  result.shape[along] = 0;
  for (Value input : op.getInputs()) {
    TensorPlacement part = of(input);
    int64_t extent = part.shape[along];
    part.shape[along] = result.shape[along];
    if (ShapedType::isDynamic(extent) || part.isDivided(along) || part.shape != result.shape ||
        part.splits != result.splits || part.rows != result.rows) {
      return unsupported(op.emitError("needs operands that are divided alike, and whole along the "
                                      "dimension: "))
             << along;
    }
    result.shape[along] += extent;
  }
  placements_[op.getResult()] = std::move(result);
  return success();
}

/// A row of the source for each place.
LogicalResult TensorPlacements::addGather(tensor::GatherOp op) {
  const TensorPlacement &source = of(op.getSource()), &places = of(op.getIndices());
  if (source.isDivided(0)) {
    return unsupported(op.emitError("takes rows of a dimension that is divided over ranks: ")) << 0;
  }
  TensorPlacement result(op.getResultType());
  auto take = [&](const TensorPlacement &from, size_t first, size_t end, size_t at) {
    for (size_t d = first; d < end; ++d, ++at) {
      result.shape[at] = from.shape[d];
      result.splits[at] = from.splits[d];
      if (!ShapedType::isDynamic(from.shape[d])) {
        continue;
      }
      if (result.rows >= 0 && result.rows != from.rows) {
        return failure();
      }
      result.rows = from.rows;
    }
    return success();
  };
  size_t last = places.shape.size() - 1;
  if (failed(take(places, 0, last, 0)) || failed(take(source, 1, source.shape.size(), last))) {
    return unsupported(op.emitError("rows of two queries cannot be dimensions of one tensor"));
  }
  placements_[op.getResult()] = std::move(result);
  return success();
}

/// A divided dimension stays the outermost of its group, so that a rank's part of one shape is its
/// part of the other: shard asks for extents that the axes divide without a rest.
LogicalResult TensorPlacements::addReshape(Operation *op) {
  const TensorPlacement &source = of(op->getOperand(0));
  if (isa<tensor::CastOp>(op)) {
    placements_[op->getResult(0)] = TensorPlacement(source);
    return success();
  }
  TensorPlacement result(op->getResult(0).getType());
  result.rows = source.rows;
  auto collapse = dyn_cast<tensor::CollapseShapeOp>(op);
  auto expand = dyn_cast<tensor::ExpandShapeOp>(op);
  if (expand) {
    for (auto [dimension, size] : llvm::enumerate(expand.getMixedOutputShape())) {
      if (auto value = dyn_cast<Value>(size)) {
        addSize(result, static_cast<int64_t>(dimension), value);
      }
    }
  }
  auto groups = collapse ? collapse.getReassociationIndices() : expand.getReassociationIndices();
  for (auto [index, group] : llvm::enumerate(groups)) {
    ReassociationIndices single{static_cast<int64_t>(index)};
    ArrayRef<int64_t> from = collapse ? group : single;
    ArrayRef<int64_t> to = collapse ? single : group;
    auto outermost = [](ArrayRef<int64_t> dimensions, const TensorPlacement &placement) {
      auto found = llvm::find_if(dimensions, [&](int64_t d) { return placement.shape[d] != 1; });
      return found == dimensions.end() ? dimensions.front() : *found;
    };
    int64_t first = outermost(from, source);
    if (collapse) {
      int64_t extent = 1;
      for (int64_t d : from) {
        bool unknown = ShapedType::isDynamic(source.shape[d]) || ShapedType::isDynamic(extent);
        extent = unknown ? ShapedType::kDynamic : extent * source.shape[d];
      }
      result.shape[to.front()] = extent;
    }
    int64_t target = outermost(to, result);
    result.splits[target] = source.splits[first];
    bool alone = llvm::all_of(from, [&](int64_t d) { return d == first || source.shape[d] == 1; });
    bool open = ShapedType::isDynamic(source.shape[first]);
    bool divided = llvm::any_of(from, [&](int64_t d) { return d != first && source.isDivided(d); });
    if (divided || (open && !(alone && ShapedType::isDynamic(result.shape[target])))) {
      return unsupported(op->emitError("reshapes a dimension that is divided over ranks, got: "))
             << op->getResult(0).getType();
    }
  }
  if (failed(checkSizes(op, result))) {
    return failure();
  }
  placements_[op->getResult(0)] = std::move(result);
  return success();
}

} // namespace headrace::schedule
