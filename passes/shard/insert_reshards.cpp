// The pass shard-insert-reshards: needs and layouts that differ become dist.reshard ops.
#include "dialects/dist/DistDialect.h"
#include "dialects/interfaces/TensorSlice.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/shard/passes.h"
#include "passes/shard/rematerialize.h"

using namespace mlir;
using namespace headrace::dist;

namespace headrace::shard {

#define GEN_PASS_DEF_SHARDINSERTRESHARDSPASS
#include "passes/shard/Passes.h.inc"

namespace {

class Inserter {
public:
  explicit Inserter(func::FuncOp function) : function_(function) {}

  void run() {
    auto arguments = function_->getAttrOfType<ArrayAttr>(DistDialect::getLayoutsAttrName());
    unsigned laidOut = 0;
    for (BlockArgument argument : function_.getArguments()) {
      if (arguments && hasLayout(argument)) { // none on one rank
        layouts_[argument] = cast<LayoutAttr>(arguments[laidOut++]);
      }
    }
    for (Operation &op : llvm::make_early_inc_range(function_.getBody().front())) {
      meetNeeds(&op);
      recordResults(&op);
      if (auto constrain = dyn_cast<ConstrainOp>(op)) {
        constrain.replaceAllUsesWith(constrain.getInput());
        constrain.erase();
      }
    }
  }

private:
  static bool hasLayout(Value value) {
    return isa<frame::TableType, RankedTensorType>(value.getType());
  }

  void meetNeeds(Operation *op) {
    auto needs = op->getAttrOfType<ArrayAttr>(DistDialect::getNeedsAttrName());
    if (!needs) {
      return;
    }
    auto levels = op->getAttrOfType<DenseBoolArrayAttr>(DistDialect::getLevelsAttrName());
    unsigned next = 0;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!hasLayout(operand.get())) {
        continue;
      }
      bool inLevels = levels && levels[next];
      auto need = cast<LayoutAttr>(needs[next++]);
      LayoutAttr has = layouts_.lookup(operand.get());
      if (has != need) {
        operand.set(resharded(op, operand.get(), has, need, inLevels));
      }
    }
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      sizeBySource(slice);
    }
    op->removeAttr(DistDialect::getNeedsAttrName());
    op->removeAttr(DistDialect::getLevelsAttrName());
  }

  Value resharded(Operation *user, Value value, LayoutAttr has, LayoutAttr need, bool inLevels) {
    Value &known = reshards_[{value, need}];
    if (!known) {
      // Right behind the value, so that every later user may share it.
      OpBuilder builder(user);
      builder.setInsertionPointAfterValue(value);
      if (isRematerializable(value)) {
        known = rematerialize(builder, value, need);
        layouts_[known] = need;
        return known;
      }
      auto reshard =
          ReshardOp::create(builder, value.getLoc(), value.getType(), value, has, need, inLevels);
      reshard->setAttr(DistDialect::getLayoutsAttrName(), builder.getArrayAttr({need}));
      layouts_[reshard] = need;
      known = reshard;
    }
    return known;
  }

  void recordResults(Operation *op) {
    auto gives = op->getAttrOfType<ArrayAttr>(DistDialect::getLayoutsAttrName());
    unsigned next = 0;
    for (Value result : op->getResults()) {
      if (gives && hasLayout(result)) {
        layouts_[result] = cast<LayoutAttr>(gives[next++]);
      }
    }
  }

  func::FuncOp function_;
  llvm::DenseMap<Value, LayoutAttr> layouts_;
  llvm::DenseMap<std::pair<Value, LayoutAttr>, Value> reshards_;
};

struct ShardInsertReshards : impl::ShardInsertReshardsPassBase<ShardInsertReshards> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!function.isExternal()) {
        Inserter(function).run();
      }
    }
  }
};

} // namespace
} // namespace headrace::shard
