// optimize-single-joins: a join that allows one match is a left join, which counts where it must.
#include "dialects/interfaces/DiagnosticKind.h"
#include "passes/analysis/cardinality.h"
#include "passes/optimize/Passes.h"
#include "passes/optimize/expressions.h"

namespace headrace::optimize {
#define GEN_PASS_DEF_OPTIMIZESINGLEJOINS
#include "passes/optimize/Passes.h.inc"
} // namespace headrace::optimize

using namespace mlir;
using namespace headrace;
using namespace headrace::optimize;
using namespace headrace::frame;

namespace {

constexpr llvm::StringLiteral kMessage = "more than one row returned by a subquery";

/// Whether no two right rows have the same keys.
bool hasOneMatchAtMost(JoinOp join) {
  analysis::CardinalityAnalysis analysis;
  const analysis::TableEstimate &right = analysis.of(join.getRight());
  return right.rows.max <= 1 || llvm::any_of(right.uniqueKeys, [&](const auto &unique) {
           return llvm::all_of(unique, [&](StringAttr name) {
             return llvm::is_contained(join.getRightKeys(), Attribute(name));
           });
         });
}

/// The right side with one row for each of its keys: some value of the other columns, and the
/// number of rows.
AggregateOp grouped(OpBuilder &builder, JoinOp join, StringAttr count) {
  TableType right = join.getRight().getType();
  SmallVector<Attribute> keys, measures;
  SmallVector<Column> columns;
  for (Attribute key : join.getRightKeys()) {
    if (!llvm::is_contained(keys, key)) {
      keys.push_back(key);
      columns.push_back({cast<StringAttr>(key), right.getColumnType(cast<StringAttr>(key))});
    }
  }
  MLIRContext *context = builder.getContext();
  Grouping grouping = keys.empty() ? Grouping::kGlobal : Grouping::kByKeys;
  for (const Column &column : right.getColumns()) {
    if (llvm::is_contained(keys, Attribute(column.name))) {
      continue;
    }
    // Of one row its only value.
    measures.push_back(MeasureAttr::get(context, AggregateFunction::Min, column.name, column.name));
    columns.push_back(
        {column.name, measureType(AggregateFunction::Min, column.type, grouping, context)});
  }
  measures.push_back(MeasureAttr::get(context, AggregateFunction::CountStar, {}, count));
  columns.push_back({count, builder.getI64Type()});
  return AggregateOp::create(builder, join.getLoc(), TableType::get(context, columns),
                             join.getRight(), builder.getArrayAttr(keys),
                             builder.getArrayAttr(measures));
}

/// Rows of `table`, of which one whose count is above 1 fails the query.
FilterOp checked(OpBuilder &builder, Location location, Value table, StringAttr count) {
  auto filter =
      FilterOp::create(builder, location, table.getType(), table, builder.getArrayAttr({}));
  RegionBuilder inside(builder, filter.getPredicate(), cast<TableType>(table.getType()));
  OpBuilder &b = inside.builder();
  Type truth = b.getI1Type(), maybe = addNullable(truth);
  Value one = ConstantOp::create(b, location, b.getI64Type(), b.getI64IntegerAttr(1));
  Value more = CompareOp::create(b, location, maybe, CompareKind::Gt, inside.column(count), one);
  Value fail = RaiseOp::create(b, location, truth, RaiseKind::MoreThanOneRow, kMessage);
  Value pass = ConstantOp::create(b, location, truth, b.getBoolAttr(true));
  inside.yield(location,
               Value(CaseOp::create(b, location, truth, ValueRange{more}, ValueRange{fail}, pass)));
  filter.setColumnsAttr(inside.columns());
  return filter;
}

/// Whether of the right side the residual reads keys alone, so that it is true for all rows of one
/// key or for none.
bool isOfKeys(JoinOp join) {
  if (!join.hasResidual()) {
    return true;
  }
  return llvm::all_of(join.getResidualColumns()->getAsRange<StringAttr>(), [&](StringAttr name) {
    return !join.getRight().getType().getColumnType(name) ||
           llvm::is_contained(join.getRightKeys(), Attribute(name));
  });
}

LogicalResult rewrite(OpBuilder &builder, JoinOp join) {
  if (hasOneMatchAtMost(join)) {
    join.setKind(JoinKind::Left);
    return success();
  }
  if (!isOfKeys(join)) {
    return unsupported(
        join.emitError("a scalar subquery that may have several rows and is correlated by "
                       "another condition than = is not supported; aggregate in it"));
  }
  builder.setInsertionPoint(join);
  Location location = join.getLoc();
  StringAttr stem = join.getRight().getType().getNames().front();
  auto count = builder.getStringAttr(stem.getValue() + ".matches");
  AggregateOp right = grouped(builder, join, count);
  TableType type =
      JoinOp::inferResultType(JoinKind::Left, join.getLeft().getType(), right.getType());
  auto left = JoinOp::create(builder, location, type, JoinKind::Left, join.getLeft(), right,
                             join.getLeftKeys(), join.getRightKeys(), join.getNullSafeAttr(),
                             join.getResidualColumnsAttr(), /*null_aware=*/false);
  if (join.hasResidual()) {
    left.getResidual().takeBody(join.getResidual());
  }
  FilterOp rows = checked(builder, location, left, count);
  Value kept = createKeep(builder, location, rows, join.getType().getNames());
  join.getResult().replaceAllUsesWith(kept);
  join.erase();
  return success();
}

struct SingleJoinsPass : optimize::impl::OptimizeSingleJoinsBase<SingleJoinsPass> {
  void runOnOperation() override {
    OpBuilder builder(&getContext());
    SmallVector<JoinOp> joins;
    getOperation().walk([&](JoinOp join) {
      if (join.getKind() == JoinKind::Single) {
        joins.push_back(join);
      }
    });
    for (JoinOp join : joins) {
      if (failed(rewrite(builder, join))) {
        return signalPassFailure();
      }
    }
  }
};

} // namespace
