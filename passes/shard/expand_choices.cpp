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
      : join_(join), builder_(join),
        description_(join->getAttrOfType<DictionaryAttr>(DistDialect::getChooseAttrName())) {
    SmallVector<Attribute> axes;
    for (auto [name, size] : llvm::zip_equal(mesh.getAxisNames(), mesh.getAxisSizes())) {
      if (size > 1) {
        axes.push_back(name);
      }
    }
    axes_ = builder_.getArrayAttr(axes);
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
    builder_.setInsertionPointToEnd(&choose.getFew().emplaceBlock());
    yieldJoin(join_.getLeft(), exchanged(ExchangeKind::Broadcast, join_.getRight(), ArrayAttr()));
    builder_.setInsertionPointToEnd(&choose.getMany().emplaceBlock());
    Value left = shuffled(join_.getLeft(), "left_keys");
    yieldJoin(left, shuffled(join_.getRight(), "right_keys"));
    join_.replaceAllUsesWith(choose.getResult());
    join_.erase();
  }

private:
  Value exchanged(ExchangeKind kind, Value table, ArrayAttr keys) {
    return ExchangeOp::create(builder_, join_.getLoc(), table.getType(), kind, table, keys,
                              /*order=*/ArrayAttr(), axes_, SkewAttr());
  }
  /// Without keys the rows already lie where they must.
  Value shuffled(Value table, StringRef side) {
    auto keys = cast<ArrayAttr>(description_.get(side));
    return keys.empty() ? table : exchanged(ExchangeKind::Hash, table, keys);
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
  OpBuilder builder_;
  DictionaryAttr description_;
  ArrayAttr axes_;
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
