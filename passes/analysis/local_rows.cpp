// Shares follow from the scans and exchanges below a table; partial aggregates have what their
// rank's rows give.
#include "passes/analysis/local_rows.h"

#include "dialects/dist/DistDialect.h"
#include "dialects/frame/FrameOps.h"
#include "passes/analysis/fullest_share.h"
#include "passes/analysis/scan_statistics.h"

#include "mlir/IR/Builders.h"

#include <algorithm>

using namespace mlir;

namespace headrace::analysis {

/// Of what is divided over these axes.
static double shareAlong(Operation *op, ArrayAttr axes) {
  return 1 / static_cast<double>(topo::ranksAlong(op, axes));
}

double LocalRows::shareOf(Value table) {
  auto known = shares_.find(table);
  if (known != shares_.end()) {
    return known->second;
  }
  Operation *op = table.getDefiningOp();
  double share = 1;
  if (auto scan = dyn_cast_or_null<frame::ScanOp>(op)) {
    share = shareAlong(op, scan->getAttrOfType<ArrayAttr>(dist::DistDialect::getSplitAttrName()));
    auto keep = scan->hasOneUse() ? dyn_cast<dist::KeepOp>(*scan->user_begin()) : dist::KeepOp();
    if (keep && keep.getCycle()) {
      share = readOfStretches(scan, cast<StringAttr>((*keep.getKeys())[0]),
                              static_cast<double>(*keep.getCycle()),
                              1 / shareAlong(op, keep.getAxes()));
    }
  } else if (auto exchange = dyn_cast_or_null<dist::ExchangeOp>(op)) {
    bool spread = exchange.getKind() == dist::ExchangeKind::Hash ||
                  exchange.getKind() == dist::ExchangeKind::Range;
    // The others bring together what the ranks along the axes have.
    share = spread
                ? shareAlong(op, exchange.getToward().value_or(exchange.getAxes()))
                : std::min(1.0, shareOf(exchange.getInput()) / shareAlong(op, exchange.getAxes()));
  } else if (auto keep = dyn_cast_or_null<dist::KeepOp>(op)) {
    share = keep.getKeys() ? shareAlong(op, keep.getAxes()) : 1;
  } else if (auto choose = dyn_cast_or_null<dist::ChooseOp>(op)) {
    share = 1 / ranks_;
  } else if (auto relation = dyn_cast_or_null<frame::RelationalOpInterface>(op);
             relation && relation.getRowFlow() == frame::RowFlow::kProbe) {
    share = std::min(shareOf(op->getOperand(0)), shareOf(op->getOperand(1)));
  } else if (op && op->getNumOperands() > 0 && isa<frame::TableType>(op->getOperand(0).getType())) {
    share = shareOf(op->getOperand(0));
  }
  shares_[table] = share;
  return share;
}

Cardinality LocalRows::of(Value table) {
  Cardinality rows = analysis_.rowsOf(table);
  auto relation = table.getDefiningOp<frame::RelationalOpInterface>();
  frame::RowState state = relation ? relation.getState() : frame::RowState();
  if (state.partial || state.choosesRows()) {
    // A rank may see every group, and chooses as many rows as all ranks together: but no more than
    // its rows.
    Cardinality input = of(relation->getOperand(0));
    rows.expected = std::min(rows.expected, input.expected);
    rows.p95 = std::min(rows.p95, input.p95);
    return rows;
  }
  double share = shareOf(table);
  rows.expected *= share;
  rows.p95 *= share;
  rows.min = share < 1 ? 0 : rows.min;
  return rows;
}

double LocalRows::fullest(Value table, ArrayAttr keys, ArrayAttr axes) {
  auto names = llvm::to_vector(keys.getAsRange<StringAttr>());
  double ranks = 1 / shareAlong(table.getDefiningOp(), axes);
  return ranks * analysis::fullestShare(analysis_, table, names, ranks);
}

pipe::CardinalityAttr LocalRows::attributeOf(Value table) {
  Cardinality rows = of(table);
  static constexpr double kMost = 4e18;
  // Less than a row on average is one on some rank.
  auto whole = [](double value) {
    return static_cast<uint64_t>(value > 0 ? std::clamp(value, 1.0, kMost) : 0);
  };
  uint64_t least = whole(rows.min), most = rows.max < kMost ? whole(rows.max) : UINT64_MAX;
  auto within = [&](double value) {
    return std::clamp(whole(value), least, std::max(least, most));
  };
  return pipe::CardinalityAttr::get(table.getContext(), least, within(rows.expected),
                                    within(std::max(rows.p95, rows.expected)),
                                    std::max(least, most));
}

} // namespace headrace::analysis
