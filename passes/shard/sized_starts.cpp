// From an empty tensor through the fills to the op that begins with it.
#include "passes/shard/sized_starts.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;

namespace headrace::shard {

namespace {

/// The empty tensor behind the fills, if it is sized at run time.
tensor::EmptyOp sizedStart(Value value) {
  while (auto fill = value.getDefiningOp<linalg::FillOp>()) {
    value = fill.getOutputs().front();
  }
  auto empty = value.getDefiningOp<tensor::EmptyOp>();
  return empty && !empty.getDynamicSizes().empty() ? empty : tensor::EmptyOp();
}

Value cloneStart(OpBuilder &builder, Value value) {
  Operation *op = value.getDefiningOp();
  Operation *clone = nullptr;
  if (auto fill = dyn_cast<linalg::FillOp>(op)) {
    Value inner = cloneStart(builder, fill.getOutputs().front());
    clone = builder.clone(*op);
    cast<linalg::FillOp>(clone).getOutputsMutable().assign(inner);
  } else {
    clone = builder.clone(*op);
  }
  return clone->getResult(0);
}

} // namespace

void sinkSizedStarts(func::FuncOp function) {
  SmallVector<linalg::LinalgOp> users;
  function.walk([&](linalg::LinalgOp op) {
    if (!isa<linalg::FillOp>(op)) {
      users.push_back(op);
    }
  });
  for (linalg::LinalgOp user : users) {
    for (OpOperand &init : user.getDpsInitsMutable()) {
      if (sizedStart(init.get())) {
        OpBuilder builder(user);
        init.set(cloneStart(builder, init.get()));
      }
    }
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front()))) {
    if (isa<tensor::EmptyOp, linalg::FillOp>(op) && op.use_empty()) {
      op.erase();
    }
  }
}

std::optional<SmallVector<TensorDimension>> carriedSizes(tensor::EmptyOp empty) {
  Value start = empty.getResult();
  while (start.hasOneUse() && isa<linalg::FillOp>(*start.user_begin())) {
    start = start.user_begin()->getResult(0);
  }
  auto user =
      start.hasOneUse() ? dyn_cast<linalg::LinalgOp>(*start.user_begin()) : linalg::LinalgOp();
  if (!user || !user.isDpsInit(&*start.use_begin())) {
    return std::nullopt;
  }
  AffineMap map = user.getMatchingIndexingMap(&*start.use_begin());
  SmallVector<TensorDimension> sizes;
  for (auto [dimension, extent] : llvm::enumerate(empty.getType().getShape())) {
    if (!ShapedType::isDynamic(extent)) {
      continue;
    }
    TensorDimension found;
    for (OpOperand *input : user.getDpsInputOperands()) {
      std::optional<unsigned> position =
          isa<RankedTensorType>(input->get().getType())
              ? user.getMatchingIndexingMap(input).getResultPosition(map.getResult(dimension))
              : std::nullopt;
      if (position && !found.tensor) {
        found = {input->get(), *position};
      }
    }
    if (!found.tensor) {
      return std::nullopt;
    }
    sizes.push_back(found);
  }
  return sizes;
}

} // namespace headrace::shard
