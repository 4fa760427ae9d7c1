// optimize-reduce-groups: an aggregate that is joined to few of its groups makes only those.
#include "passes/analysis/cardinality.h"
#include "passes/optimize/Passes.h"
#include "passes/optimize/expressions.h"
#include "passes/optimize/join_prices.h"
#include "passes/optimize/provenance.h"

namespace headrace::optimize {
#define GEN_PASS_DEF_OPTIMIZEREDUCEGROUPS
#include "passes/optimize/Passes.h.inc"
} // namespace headrace::optimize

using namespace mlir;
using namespace headrace;
using namespace headrace::optimize;
using namespace headrace::frame;

namespace {

/// Key columns of both sides of a join, pair by pair: of the side with the groups, as they are
/// called where rows are still to be grouped, and of the side that asks for groups.
struct Keys {
  OpOperand *rows = nullptr;
  SmallVector<StringAttr> columns;
  ColumnsOf asking;
};

/// The input of the aggregate that one side of a join comes from, if the join is by some of its
/// keys.
std::optional<Keys> groupsOf(JoinOp join, unsigned side) {
  if (!ignoresUnmatched(join, side) || join.getNullAware()) {
    return std::nullopt;
  }
  auto own = side == 0 ? join.getLeftKeys() : join.getRightKeys();
  auto other = side == 0 ? join.getRightKeys() : join.getLeftKeys();
  Keys keys;
  keys.asking.table = side == 0 ? join.getRight() : join.getLeft();
  for (unsigned index = 0; index < own.size(); ++index) {
    if (join.isNullSafe(index)) {
      continue;
    }
    // Each by itself: of those that are measures nothing is known below.
    ColumnsOf at{join->getOperand(side), {cast<StringAttr>(own[index])}};
    AggregateOp aggregate;
    while (at.table.hasOneUse() && !(aggregate = at.table.getDefiningOp<AggregateOp>()) &&
           isa_and_nonnull<FilterOp, ProjectOp, RenameOp>(at.table.getDefiningOp())) {
      std::optional<ColumnsOf> below = stepDown(at);
      if (!below) {
        break;
      }
      at = *below;
    }
    if (aggregate && llvm::is_contained(aggregate.getKeys(), Attribute(at.columns.front()))) {
      keys.rows = &aggregate.getInputMutable();
      keys.columns.push_back(at.columns.front());
      keys.asking.columns.push_back(cast<StringAttr>(other[index]));
    }
  }
  return keys.rows ? std::optional(keys) : std::nullopt;
}

/// Moves `keys.rows` down to the relation that the columns come from.
void sinkToRelation(Keys &keys) {
  while (true) {
    Operation *op = keys.rows->get().getDefiningOp();
    if (!isa_and_nonnull<JoinOp, ProjectOp, RenameOp>(op) || !op->hasOneUse()) {
      return;
    }
    std::optional<ColumnsOf> below = stepDown({keys.rows->get(), keys.columns});
    if (!below) {
      return;
    }
    keys.rows = &op->getOpOperand(below->table == op->getOperand(0) ? 0 : 1);
    keys.columns = below->columns;
  }
}

class Reduction {
public:
  explicit Reduction(JoinPrices &prices) : prices_(prices) {}

  /// The table that the groups' rows are best restricted to, or nothing if that does not pay.
  std::optional<ColumnsOf> bestFor(const Keys &keys) {
    std::optional<ColumnsOf> best;
    double least = grouping(keys, rowsOf(keys.rows->get()));
    // The asking side, and the tables below it that its values come from: less to make, but more
    // values.
    for (std::optional<ColumnsOf> at = keys.asking; at; at = stepDown(*at)) {
      double seconds = reduced(keys, *at);
      if (seconds < least) {
        least = seconds;
        best = at;
      }
    }
    return best;
  }

private:
  double rowsOf(Value table) { return cardinality_.rowsOf(table).expected; }

  /// Of making groups of so many rows.
  double grouping(const Keys &keys, double rows) {
    Value table = keys.rows->get();
    double groups = 1;
    for (StringAttr column : keys.columns) {
      groups *= std::max(1.0, cardinality_.columnOf(table, column).distinct);
    }
    double share = rows / std::max(1.0, rowsOf(table));
    groups = std::max(1.0, std::min(groups * share, rows));
    constexpr double kMeasureBytes = 16; // of a group, beside the keys
    return rows * prices_.of(groups, 8 * keys.columns.size() + kMeasureBytes).group;
  }

  double reduced(const Keys &keys, const ColumnsOf &asking) {
    Value table = keys.rows->get();
    analysis::JoinDescription semi;
    semi.kind = JoinKind::Semi;
    semi.leftKeys.assign(keys.columns.begin(), keys.columns.end());
    semi.rightKeys.assign(asking.columns.begin(), asking.columns.end());
    double kept = analysis::estimateJoin(
                      semi, cardinality_.of(table), cast<TableType>(table.getType()),
                      cardinality_.of(asking.table), cast<TableType>(asking.table.getType()), 1)
                      .rows.expected;
    double built = rowsOf(asking.table);
    const JoinPrices::Rows &prices = prices_.of(built, 8 * keys.columns.size());
    double seconds = built * prices.build + rowsOf(table) * prices.probe + grouping(keys, kept);
    // The table is made twice, or kept.
    SmallVector<Operation *> chain = cheapChain(asking.table);
    return seconds +
           (!chain.empty()
                ? rowsOf(chain.front()->getResult(0)) * prices_.of(1, 8).probe
                : built * prices_.of(built, cardinality_.bytesPerRow(asking.table)).build);
  }

  JoinPrices &prices_;
  analysis::CardinalityAnalysis cardinality_;
};

struct ReduceGroupsPass : optimize::impl::OptimizeReduceGroupsBase<ReduceGroupsPass> {
  void runOnOperation() override {
    JoinPrices prices;
    std::optional<Reduction> reduction; // until the program changes
    SmallVector<JoinOp> joins;
    getOperation().walk([&](JoinOp join) { joins.push_back(join); });
    OpBuilder builder(&getContext());
    for (JoinOp join : joins) {
      for (unsigned side : {0u, 1u}) {
        std::optional<Keys> keys = groupsOf(join, side);
        if (!keys) {
          continue;
        }
        sinkToRelation(*keys);
        if (!reduction) {
          reduction.emplace(prices);
        }
        if (std::optional<ColumnsOf> asking = reduction->bestFor(*keys)) {
          restrict(builder, *keys, *asking);
          reduction.reset();
        }
      }
    }
    for (Block &block : getOperation().getBody()) {
      tidyBlock(block); // what asks may stand behind what is asked
    }
  }

  static void restrict(OpBuilder &builder, const Keys &keys, const ColumnsOf &asking) {
    Value table = keys.rows->get();
    builder.setInsertionPoint(keys.rows->getOwner());
    auto semi = JoinOp::create(builder, table.getLoc(), cast<TableType>(table.getType()),
                               JoinKind::Semi, table, asking.table,
                               builder.getArrayAttr(llvm::to_vector_of<Attribute>(keys.columns)),
                               builder.getArrayAttr(llvm::to_vector_of<Attribute>(asking.columns)));
    keys.rows->set(semi.getResult());
  }
};

} // namespace
