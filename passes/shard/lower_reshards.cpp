// The pass shard-lower-reshards: every dist.reshard becomes the steps of its plan.
#include "dialects/frame/FrameOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/shard/passes.h"
#include "passes/shard/reshard_plan.h"
#include "passes/shard/row_order.h"

using namespace mlir;
using namespace headrace::dist;
using namespace headrace::frame;

namespace headrace::shard {

#define GEN_PASS_DEF_SHARDLOWERRESHARDSPASS
#include "passes/shard/Passes.h.inc"

namespace {

/// The columns by which the parts of an unreduced table come together, as its producer has them.
SmallVector<StringAttr, 2> groupKeysOf(Operation *producer) {
  auto op = dyn_cast_or_null<RelationalOpInterface>(producer);
  bool groups = op && op.getState().kind == RowState::Kind::kGroups;
  RowSharding rule = groups ? op.getSharding() : RowSharding();
  return rule.together.empty() ? SmallVector<StringAttr, 2>() : rule.together.front();
}

class Lowering {
public:
  Lowering(ReshardOp op, topo::MeshAttr mesh) : op_(op), mesh_(mesh), builder_(op) {}

  LogicalResult run() {
    Layout source = fromAttr(op_.getSource(), mesh_);
    Layout target = fromAttr(op_.getTarget(), mesh_);
    if (isa<RankedTensorType>(op_.getInput().getType())) {
      // The attribute of a tensor without dimensions reads like a table's.
      source.form = target.form = Form::kTensor;
    }
    producer_ = op_.getInput().getDefiningOp();
    if (source.unreduced && source.form == Form::kTable) {
      source.groupKeys = groupKeysOf(producer_);
      // Keys are named by class; any target key that is a column of the table is as good.
      if (!source.groupKeys.empty() && target.rowAxes && target.rowKind == RowKind::Hash) {
        source.groupKeys.append(target.keys.begin(), target.keys.end());
      }
    }
    // Layout attributes do not say whose ragged sizes they mean; in a reshard it is one value's.
    std::optional<ReshardPlan> plan =
        op_.getInLevels()
            ? planReshardInLevels(source, target, op_.getInput().getType(), toMesh(mesh_))
            : planReshard(source, target);
    if (!plan) {
      // no test: the solver never chooses such a pair
      return op_.emitOpError("has no sequence of steps");
    }
    Value value = op_.getInput();
    for (const ReshardStep &step : *plan) {
      value = lowerStep(step, value);
      value.getDefiningOp()->setAttr(DistDialect::getLayoutsAttrName(),
                                     builder_.getArrayAttr({toAttr(step.after, mesh_)}));
    }
    op_.replaceAllUsesWith(value);
    op_.erase();
    return success();
  }

private:
  /// The order of which each rank has a range, sorted; null: they have none.
  ArrayAttr sortedRanges() {
    RowsAttr rows = op_.getSource().getRows();
    return rows && isOrdered(op_.getInput()) ? rows.getOrder() : ArrayAttr();
  }

  Value lowerStep(const ReshardStep &step, Value value) {
    Location location = op_.getLoc();
    ArrayAttr axes = axesAttr(step.axes, mesh_);
    IntegerAttr dim = builder_.getI64IntegerAttr(step.dim);
    Type type = value.getType();
    auto combine = [&] { return cast<CombineAttr>(op_.getSource().getCombines().front()); };
    auto exchange = [&](ExchangeKind kind) -> Value {
      ArrayAttr keys;
      if (kind == ExchangeKind::Hash) {
        keys = builder_.getArrayAttr(SmallVector<Attribute>(step.keys.begin(), step.keys.end()));
      }
      ArrayAttr order = kind == ExchangeKind::Range  ? step.after.order
                        : kind == ExchangeKind::Hash ? ArrayAttr()
                                                     : sortedRanges();
      auto op = ExchangeOp::create(builder_, location, kind, value, keys, order, axes);
      op.setCycleAttr(kind == ExchangeKind::Hash ? cycleOf(step) : IntegerAttr());
      if (step.toward && kind == ExchangeKind::Hash) { // who gathers is the first along any axes
        op.setTowardAttr(axesAttr(step.toward, mesh_));
      }
      return op;
    };
    switch (step.kind) {
    case StepKind::kSlice:
      return SliceOp::create(builder_, location, type, value, dim, axes);
    case StepKind::kAllGather:
      return AllGatherOp::create(builder_, location, type, value, dim, axes,
                                 step.split == SplitKind::Ragged ? builder_.getUnitAttr()
                                                                 : UnitAttr());
    case StepKind::kAllReduce:
      return AllReduceOp::create(builder_, location, type, combine(), value, axes);
    case StepKind::kReduceScatter:
      return ReduceScatterOp::create(builder_, location, type, combine(), value, dim, axes);
    case StepKind::kAllToAll:
      return AllToAllOp::create(builder_, location, type, value, dim,
                                builder_.getI64IntegerAttr(step.otherDim), axes);
    case StepKind::kHash:
      return exchange(ExchangeKind::Hash);
    case StepKind::kRange:
      return exchange(ExchangeKind::Range);
    case StepKind::kBroadcast:
      return exchange(ExchangeKind::Broadcast);
    case StepKind::kGather:
      return exchange(ExchangeKind::Gather);
    case StepKind::kFinish:
      return step.toward ? combineOnTheWay(value) : finish(value);
    case StepKind::kKeep:
      return keep(step, value, axes);
    }
    llvm_unreachable("unknown reshard step");
  }

  /// Where it does not matter which rank keeps a row, all columns that are alike on all ranks
  /// decide.
  Value keep(const ReshardStep &step, Value table, ArrayAttr axes) {
    SmallVector<Attribute> keys(step.keys.begin(), step.keys.end());
    if (keys.empty() && !step.after.isRoot()) {
      for (const Column &column : cast<TableType>(table.getType()).getColumns()) {
        if (!isFloat(column.type)) {
          keys.push_back(column.name);
        }
      }
    }
    return KeepOp::create(builder_, op_.getLoc(), table.getType(), table,
                          keys.empty() ? ArrayAttr() : builder_.getArrayAttr(keys), cycleOf(step),
                          axes);
  }

  IntegerAttr cycleOf(const ReshardStep &step) {
    return step.cycle ? builder_.getI64IntegerAttr(step.cycle) : IntegerAttr();
  }

  /// Some of the parts, into a part.
  Value combineOnTheWay(Value parts) {
    auto op = cast<RelationalOpInterface>(
        cast<RelationalOpInterface>(producer_).createFinal(builder_, parts));
    if (op.getState().choosesRows()) {
      op.makePartial();
    }
    return op->getResult(0);
  }

  /// The producer once more, on parts that are now together.
  Value finish(Value parts) {
    auto op = cast<RelationalOpInterface>(producer_);
    Operation *last = op.createFinal(builder_, parts);
    op.makePartial();
    return last->getResult(0);
  }

  ReshardOp op_;
  topo::MeshAttr mesh_;
  OpBuilder builder_;
  Operation *producer_ = nullptr;
};

struct ShardLowerReshards : impl::ShardLowerReshardsPassBase<ShardLowerReshards> {
  void runOnOperation() override {
    topo::MeshAttr mesh = topo::meshOf(getOperation());
    SmallVector<ReshardOp> reshards;
    getOperation().walk([&](ReshardOp op) { reshards.push_back(op); });
    for (ReshardOp op : reshards) {
      if (!mesh) {
        op.emitOpError("needs topo.mesh on the module");
        return signalPassFailure();
      }
      if (failed(Lowering(op, mesh).run())) {
        return signalPassFailure();
      }
    }
  }
};

} // namespace
} // namespace headrace::shard
