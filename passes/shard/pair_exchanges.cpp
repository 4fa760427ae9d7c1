// The pass shard-pair-exchanges: the two exchanges before a join may agree at run time on keys that
// many rows have, where nobody relies on equal keys being together behind the join.
#include "dialects/dist/DistDialect.h"
#include "dialects/frame/FrameOps.h"
#include "dialects/topo/TopoDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/shard/passes.h"

using namespace mlir;
using namespace headrace::dist;
using namespace headrace::frame;

namespace headrace::shard {

#define GEN_PASS_DEF_SHARDPAIREXCHANGESPASS
#include "passes/shard/Passes.h.inc"

namespace {

/// The layout of a value as its op has it, or null.
LayoutAttr layoutOf(Value value) {
  auto result = dyn_cast<OpResult>(value);
  auto layouts =
      result ? result.getOwner()->getAttrOfType<ArrayAttr>(DistDialect::getLayoutsAttrName())
             : ArrayAttr();
  return layouts && result.getResultNumber() < layouts.size()
             ? dyn_cast<LayoutAttr>(layouts[result.getResultNumber()])
             : LayoutAttr();
}

bool userReliesOnPlaces(OpOperand &use);

/// Whether an op needs the rows of the table where the layout says that they are.
bool reliesOnPlaces(Value table) { return llvm::any_of(table.getUses(), userReliesOnPlaces); }

bool userReliesOnPlaces(OpOperand &use) {
  Operation *user = use.getOwner();
  if (isa<ExchangeOp>(user)) {
    return false;
  }
  if (isa<dist::YieldOp>(user)) {
    return reliesOnPlaces(user->getParentOp()->getResult(use.getOperandNumber()));
  }
  auto relation = dyn_cast<RelationalOpInterface>(user);
  if (!relation) {
    return true;
  }
  Value result = user->getResult(0);
  LayoutAttr layout = layoutOf(result);
  switch (relation.getRowFlow()) {
  case RowFlow::kRowByRow:
  case RowFlow::kUnite:
    return reliesOnPlaces(result);
  case RowFlow::kProbe: {
    LayoutAttr other = layoutOf(user->getOperand(1 - use.getOperandNumber()));
    return !other || !other.isReplicated() || reliesOnPlaces(result);
  }
  case RowFlow::kState: // parts of groups and of the first rows come together later
    return !layout || !layout.isUnreduced();
  case RowFlow::kSource:
    break;
  }
  return true;
}

/// What may be done with rows of a heavy key: of the left side, and of the right.
std::pair<HeavyRows, HeavyRows> heavyRows(JoinOp join, size_t exchangeKeys) {
  // Then a key that is on both sides is a match.
  bool equalIsMatch = !join.hasResidual() && exchangeKeys == join.getLeftKeys().size();
  HeavyRows cover = equalIsMatch ? HeavyRows::Cover : HeavyRows::Stay;
  switch (join.getKind()) {
  case JoinKind::Inner:
    return {HeavyRows::Spread, HeavyRows::Spread};
  case JoinKind::Left:
    return {HeavyRows::Spread, cover};
  case JoinKind::Full:
    return {cover, cover};
  case JoinKind::Semi:
  case JoinKind::Anti:
  case JoinKind::Mark:
    return {HeavyRows::Spread, equalIsMatch ? HeavyRows::Once : HeavyRows::Stay};
  case JoinKind::Right:
  case JoinKind::Single:
    break;
  }
  return {HeavyRows::Stay, HeavyRows::Stay};
}

/// The exchange by hash over all ranks that only this join receives from, or null.
ExchangeOp exchangeBefore(Value side, size_t ranks) {
  auto exchange = side.getDefiningOp<ExchangeOp>();
  bool alone = exchange && exchange.getKind() == ExchangeKind::Hash && !exchange.getCycle() &&
               side.hasOneUse() &&
               static_cast<size_t>(topo::ranksAlong(exchange, exchange.getAxes())) == ranks;
  return alone ? exchange : ExchangeOp();
}

struct ShardPairExchanges : impl::ShardPairExchangesPassBase<ShardPairExchanges> {
  void runOnOperation() override {
    topo::MeshAttr mesh = topo::meshOf(getOperation());
    int64_t pair = 0;
    getOperation().walk([&](JoinOp join) {
      size_t ranks = mesh ? static_cast<size_t>(mesh.getRankCount()) : 1;
      ExchangeOp left = exchangeBefore(join.getLeft(), ranks);
      ExchangeOp right = exchangeBefore(join.getRight(), ranks);
      if (!left || !right) {
        return;
      }
      auto [ofLeft, ofRight] = heavyRows(join, left.getKeys()->size());
      bool stay = ofLeft == HeavyRows::Stay && ofRight == HeavyRows::Stay;
      if (stay || reliesOnPlaces(join.getResult())) {
        return;
      }
      left.setSkewAttr(SkewAttr::get(&getContext(), pair, ofLeft));
      right.setSkewAttr(SkewAttr::get(&getContext(), pair, ofRight));
      ++pair;
    });
    pairs = static_cast<unsigned>(pair);
  }
};

} // namespace
} // namespace headrace::shard
