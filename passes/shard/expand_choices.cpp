// The pass shard-expand-choices: a join that is decided at run time becomes both joins in a
// dist.choose.
#include "dialects/dist/DistDialect.h"
#include "dialects/frame/FrameOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "passes/shard/layout.h"
#include "passes/shard/passes.h"
#include "passes/shard/record_operators.h"

using namespace mlir;
using namespace headrace::dist;

namespace headrace::shard {

#define GEN_PASS_DEF_SHARDEXPANDCHOICESPASS
#include "passes/shard/Passes.h.inc"

namespace {

class Expansion {
public:
  Expansion(frame::JoinOp join, topo::MeshAttr mesh)
      : join_(join), mesh_(mesh), builder_(join),
        description_(join->getAttrOfType<DictionaryAttr>(DistDialect::getChooseAttrName())) {
    for (auto [axis, size] : llvm::enumerate(mesh.getAxisSizes())) {
      axes_ |= size > 1 ? AxisSet{1} << axis : 0;
    }
  }

  void run() {
    auto choose = ChooseOp::create(builder_, join_.getLoc(), join_.getType(), join_.getRight(),
                                   cast<IntegerAttr>(description_.get("at_most")));
    choose->setAttr(DistDialect::getLayoutsAttrName(),
                    join_->getAttr(DistDialect::getLayoutsAttrName()));
    if (Attribute number = join_->getAttr(kChoiceAttr)) { // what was decided is the choice's
      choose->setAttr(kChoiceAttr, number);
      join_->removeAttr(kChoiceAttr);
    }
    auto levels = cast<DenseBoolArrayAttr>(description_.get("levels"));
    builder_.setInsertionPointToEnd(&choose.getFew().emplaceBlock());
    yieldJoin(join_.getLeft(), resharded(join_.getRight(), replicatedTable(), levels[0]));
    builder_.setInsertionPointToEnd(&choose.getMany().emplaceBlock());
    Value left = shuffled(join_.getLeft(), "left_keys", levels[1]);
    yieldJoin(left, shuffled(join_.getRight(), "right_keys", levels[2]));
    join_.replaceAllUsesWith(choose.getResult());
    join_.erase();
  }

private:
  Value resharded(Value table, const Layout &target, bool inLevels) {
    auto result = cast<OpResult>(table);
    auto has = cast<ArrayAttr>(result.getOwner()->getAttr(DistDialect::getLayoutsAttrName()));
    return ReshardOp::create(builder_, join_.getLoc(), table.getType(), table,
                             cast<LayoutAttr>(has[result.getResultNumber()]), toAttr(target, mesh_),
                             inLevels);
  }
  /// Without keys the rows already lie where they must.
  Value shuffled(Value table, StringRef side, bool inLevels) {
    auto keys = llvm::to_vector(cast<ArrayAttr>(description_.get(side)).getAsRange<StringAttr>());
    if (keys.empty()) {
      return table;
    }
    Layout target = splitRows(RowKind::Hash, axes_, keys);
    target.cycle = description_.getAs<IntegerAttr>("cycle").getInt();
    return resharded(table, target, inLevels);
  }
  void yieldJoin(Value left, Value right) {
    IRMapping mapping;
    mapping.map(join_.getLeft(), left);
    mapping.map(join_.getRight(), right);
    Operation *made = builder_.clone(*join_, mapping);
    made->removeAttr(DistDialect::getChooseAttrName());
    made->removeAttr(DistDialect::getLayoutsAttrName());
    YieldOp::create(builder_, join_.getLoc(), made->getResults());
  }

  frame::JoinOp join_;
  topo::MeshAttr mesh_;
  OpBuilder builder_;
  DictionaryAttr description_;
  AxisSet axes_ = 0;
};

struct ShardExpandChoices : impl::ShardExpandChoicesPassBase<ShardExpandChoices> {
  void runOnOperation() override {
    topo::MeshAttr mesh = topo::meshOf(getOperation());
    SmallVector<frame::JoinOp> joins;
    getOperation().walk([&](frame::JoinOp join) {
      if (join->hasAttr(DistDialect::getChooseAttrName())) {
        joins.push_back(join);
      }
    });
    for (frame::JoinOp join : joins) {
      Expansion(join, mesh).run();
    }
  }
};

} // namespace
} // namespace headrace::shard
