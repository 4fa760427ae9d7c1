// Verifiers of the `dist` ops.
#include "dialects/dist/DistDialect.h"
#include "dialects/frame/FrameTypes.h"
#include "dialects/frame/FrameVerify.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::dist;

#define GET_OP_CLASSES
#include "dialects/dist/DistOps.cpp.inc"

namespace {

/// Same rank, element type, and sizes of all dimensions but `changed`, which must exist.
LogicalResult verifyShapes(Operation *op, Type input, Type result, ArrayRef<int64_t> changed) {
  auto from = cast<RankedTensorType>(input);
  auto to = cast<RankedTensorType>(result);
  if (from.getRank() != to.getRank() || from.getElementType() != to.getElementType()) {
    return op->emitOpError("needs input and result of the same rank and element type, got ")
           << from << " and " << to;
  }
  for (int64_t dim : changed) {
    if (dim < 0 || dim >= from.getRank()) {
      return op->emitOpError("has no dimension ") << dim;
    }
  }
  for (int64_t dim = 0; dim < from.getRank(); ++dim) {
    if (!llvm::is_contained(changed, dim) && from.getDimSize(dim) != to.getDimSize(dim)) {
      return op->emitOpError("changes the size of another dimension: ") << dim;
    }
  }
  return success();
}

LogicalResult verifyTensorCombine(Operation *op, Combine combine) {
  if (combine > Combine::Product) {
    return op->emitOpError("combines tensors by sum, max, min or product, got ")
           << stringifyCombine(combine);
  }
  return success();
}

} // namespace

LogicalResult headrace::dist::verifyLayout(Operation *op, LayoutAttr layout, Type type) {
  auto emitError = [&] { return op->emitOpError(); };
  if (failed(verifyLayoutFits(layout, type, emitError))) {
    return failure();
  }
  topo::MeshAttr mesh = topo::meshOf(op);
  if (!mesh) {
    return success();
  }
  if (layout.getMesh() != mesh.getName()) {
    return op->emitOpError("has a layout on another mesh than the module's: ") << layout.getMesh();
  }
  SmallVector<StringAttr> axes(layout.getUnreducedAxes());
  for (DimSplitAttr dim : layout.getDims()) {
    axes.append(dim.getAxes().begin(), dim.getAxes().end());
  }
  if (layout.getRows()) {
    axes.append(layout.getRows().getAxes().begin(), layout.getRows().getAxes().end());
  }
  for (StringAttr axis : axes) {
    if (mesh.findAxis(axis) < 0) {
      return op->emitOpError("names an axis that the mesh does not have: ") << axis;
    }
  }
  return success();
}

Type headrace::dist::localType(Type type, LayoutAttr layout) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor) {
    return type;
  }
  SmallVector<int64_t> shape(tensor.getShape());
  for (size_t dim = 0; dim < layout.getDims().size(); ++dim) {
    if (!layout.getDims()[dim].getAxes().empty()) {
      shape[dim] = ShapedType::kDynamic;
    }
  }
  return RankedTensorType::get(shape, tensor.getElementType());
}

LogicalResult ConstrainOp::verify() { return verifyLayout(*this, getLayout(), getType()); }

LogicalResult ReshardOp::verify() {
  if (failed(verifyLayout(*this, getSource(), getType())) ||
      failed(verifyLayout(*this, getTarget(), getType()))) {
    return failure();
  }
  if (getTarget().isUnreduced()) {
    return emitOpError("cannot make a value unreduced"); // C3
  }
  return success();
}

void ExchangeOp::build(OpBuilder &builder, OperationState &state, ExchangeKind kind, Value input,
                       ArrayAttr keys, ArrayAttr order, ArrayAttr axes) {
  build(builder, state, input.getType(), kind, input, keys, order, /*cycle=*/IntegerAttr(), axes,
        /*toward=*/ArrayAttr(), SkewAttr());
}

/// A cycle is of one key that i64 holds.
static LogicalResult verifyCycle(Operation *op, frame::TableType type, ArrayAttr keys,
                                 std::optional<uint64_t> cycle) {
  if (!cycle) {
    return success();
  }
  auto key = keys && keys.size() == 1 ? cast<StringAttr>(keys[0]) : StringAttr();
  if (!key || !hasNeighbours(type.getColumnType(key.getValue()))) {
    return op->emitOpError(
        "has a cycle, and no single key that is an integer, a date or a timestamp");
  }
  if (static_cast<int64_t>(*cycle) < 1) {
    return op->emitOpError("needs a cycle of one key or more, got ")
           << static_cast<int64_t>(*cycle);
  }
  return success();
}

LogicalResult ExchangeOp::verify() {
  bool keyed = getKind() == ExchangeKind::Hash;
  if (keyed != (getKeys() && !getKeys()->empty())) {
    return emitOpError(keyed ? "needs keys for " : "takes no keys for ")
           << stringifyExchangeKind(getKind()); // C1
  }
  if (ArrayAttr keys = getKeysAttr()) {
    for (Attribute key : keys) {
      if (!getInput().getType().hasColumn(cast<StringAttr>(key).getValue())) {
        return emitOpError("has a key that is not a column of the table: ") << key; // C1
      }
    }
  }
  bool ordered = getOrder().has_value();
  if (ordered ? keyed : getKind() == ExchangeKind::Range) {
    return emitOpError(ordered ? "takes no order for " : "needs an order for ")
           << stringifyExchangeKind(getKind()); // C1
  }
  if (ordered && failed(frame::verifySortKeys(*this, getInput().getType(), *getOrder()))) { // C1
    return failure();
  }
  if (getSkew() && !keyed) {
    return emitOpError("takes no skew for ") << stringifyExchangeKind(getKind()); // C3
  }
  if (failed(verifyCycle(*this, getInput().getType(), getKeysAttr(), getCycle()))) { // C5
    return failure();
  }
  if (getCycle() && getSkew()) {
    return emitOpError("has a cycle and skew"); // C5
  }
  if (failed(topo::verifyAxes(*this, getAxes()))) {
    return failure();
  }
  if (getToward() && (!keyed || getSkew())) {
    return emitOpError("goes toward ranks only by hash, without skew"); // C4
  }
  return getToward() ? topo::verifyToward(*this, getAxes(), *getToward()) : success(); // C4
}

LogicalResult PlaceOp::verify() {
  SmallVector<frame::Column> columns = getInput().getType().getColumns();
  columns.push_back({getColumnAttr(), IntegerType::get(getContext(), 64)});
  if (getType() != frame::TableType::get(getContext(), columns)) {
    return emitOpError("must give the columns of its input and an i64 named ")
           << getColumnAttr() << ", got " << getType(); // C1
  }
  return topo::verifyAxes(*this, getAxes()); // C2
}

LogicalResult KeepOp::verify() {
  for (Attribute key : getKeysAttr() ? getKeysAttr() : ArrayAttr::get(getContext(), {})) {
    Type type = getInput().getType().getColumnType(cast<StringAttr>(key).getValue());
    if (!type) {
      return emitOpError("has a key that is not a column of the table: ") << key; // C1
    }
    if (frame::isFloat(type)) {
      return emitOpError("cannot keep rows by a float: ") << key; // C1
    }
  }
  if (failed(verifyCycle(*this, getInput().getType(), getKeysAttr(), getCycle()))) { // C3
    return failure();
  }
  return topo::verifyAxes(*this, getAxes()); // C2
}

LogicalResult ChooseOp::verify() {
  for (Region *region : getRegions()) {
    auto yield =
        dyn_cast_or_null<YieldOp>(region->front().empty() ? nullptr : &region->front().back());
    if (!yield || yield.getValues().size() != 1 || yield.getValues()[0].getType() != getType()) {
      return emitOpError("needs regions that yield a table of type ") << getType(); // C1
    }
  }
  if (static_cast<int64_t>(getAtMost()) < 0) {
    return emitOpError("needs a bound of rows that is not negative, got ")
           << static_cast<int64_t>(getAtMost()); // C2
  }
  return success();
}

LogicalResult AllReduceOp::verify() {
  if (failed(verifyTensorCombine(*this, getCombine()))) {
    return failure();
  }
  return topo::verifyAxes(*this, getAxes());
}

LogicalResult AllGatherOp::verify() {
  if (failed(
          verifyShapes(*this, getInput().getType(), getType(), {static_cast<int64_t>(getDim())}))) {
    return failure();
  }
  return topo::verifyAxes(*this, getAxes());
}

LogicalResult ReduceScatterOp::verify() {
  if (failed(verifyTensorCombine(*this, getCombine())) ||
      failed(
          verifyShapes(*this, getInput().getType(), getType(), {static_cast<int64_t>(getDim())}))) {
    return failure();
  }
  return topo::verifyAxes(*this, getAxes());
}

LogicalResult AllToAllOp::verify() {
  int64_t split = static_cast<int64_t>(getSplit());
  int64_t concat = static_cast<int64_t>(getConcat());
  if (split == concat) {
    return emitOpError("splits and concatenates the same dimension: ") << split; // C3
  }
  if (failed(verifyShapes(*this, getInput().getType(), getType(), {split, concat}))) {
    return failure();
  }
  return topo::verifyAxes(*this, getAxes());
}

LogicalResult SliceOp::verify() {
  if (failed(
          verifyShapes(*this, getInput().getType(), getType(), {static_cast<int64_t>(getDim())}))) {
    return failure();
  }
  return topo::verifyAxes(*this, getAxes());
}

LogicalResult LocalExtentOp::verify() { return topo::verifyAxes(*this, getAxes()); }

LogicalResult ManualOp::verify() {
  if (getIn().size() != getInputs().size() || getOut().size() != getOutputs().size()) {
    return emitOpError("needs one layout per operand and result"); // C1
  }
  for (auto [layout, value] : llvm::zip_equal(getIn(), getInputs())) {
    if (failed(verifyLayout(*this, cast<LayoutAttr>(layout), value.getType()))) {
      return failure();
    }
  }
  for (auto [layout, value] : llvm::zip_equal(getOut(), getOutputs())) {
    if (failed(verifyLayout(*this, cast<LayoutAttr>(layout), value.getType()))) {
      return failure();
    }
  }
  return success();
}

LogicalResult ManualOp::verifyRegions() {
  auto check = [&](ValueRange locals, ValueRange globals, ArrayAttr layouts,
                   StringRef what) -> LogicalResult {
    if (locals.size() != globals.size()) {
      return emitOpError("needs as many ") << what << " as layouts, got " << locals.size();
    }
    for (auto [local, global, layout] : llvm::zip_equal(locals, globals, layouts)) {
      Type expected = localType(global.getType(), cast<LayoutAttr>(layout));
      if (local.getType() != expected) {
        return emitOpError("needs local type ")
               << expected << " among its " << what << ", got " << local.getType(); // C2
      }
    }
    return success();
  };
  Block &block = getBody().front();
  if (failed(check(block.getArguments(), getInputs(), getIn(), "block arguments"))) {
    return failure();
  }
  return check(block.getTerminator()->getOperands(), getOutputs(), getOut(), "yielded values");
}
