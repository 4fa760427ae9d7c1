// Clones empty and filled tensors instead of moving their elements between ranks.
#include "passes/shard/rematerialize.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace headrace::dist;

namespace headrace::shard {

namespace {

bool isConstantFill(linalg::FillOp fill) {
  return matchPattern(fill.getInputs().front(), m_Constant());
}

/// The empty tensor at the start of a value that holds nothing but a constant.
tensor::EmptyOp startOf(Value value) {
  auto fill = value.getDefiningOp<linalg::FillOp>();
  if (fill && isConstantFill(fill)) {
    return startOf(fill.getOutputs().front());
  }
  return value.getDefiningOp<tensor::EmptyOp>();
}

} // namespace

bool isRematerializable(Value value) {
  if (tensor::EmptyOp empty = startOf(value)) {
    return empty.getDynamicSizes().empty();
  }
  Operation *op = value.getDefiningOp();
  return op && op->hasTrait<OpTrait::ConstantLike>() && isa<RankedTensorType>(value.getType());
}

bool isSizedFill(Value value) {
  tensor::EmptyOp empty = startOf(value);
  return empty && !empty.getDynamicSizes().empty();
}

Value rematerialize(OpBuilder &builder, Value value, LayoutAttr layout) {
  Operation *op = value.getDefiningOp();
  IRMapping mapping;
  if (auto fill = dyn_cast<linalg::FillOp>(op)) {
    mapping.map(fill.getOutputs().front(),
                rematerialize(builder, fill.getOutputs().front(), layout));
  }
  Operation *clone = builder.clone(*op, mapping);
  clone->removeAttr(DistDialect::getNeedsAttrName());
  clone->removeAttr(DistDialect::getLevelsAttrName());
  clone->setAttr(DistDialect::getLayoutsAttrName(), builder.getArrayAttr({layout}));
  return clone->getResult(0);
}

} // namespace headrace::shard
