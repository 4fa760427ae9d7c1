// optimize-not-in: `x NOT IN (query)` in three-valued logic as a filter and an ordinary anti join.
#include "passes/optimize/Passes.h"
#include "passes/optimize/expressions.h"

namespace headrace::optimize {
#define GEN_PASS_DEF_OPTIMIZENOTIN
#include "passes/optimize/Passes.h.inc"
} // namespace headrace::optimize

using namespace mlir;
using namespace headrace;
using namespace headrace::optimize;
using namespace headrace::frame;

namespace {

/// What the right side is like as a whole.
enum RightSide : int64_t { kEmpty = 0, kValues = 1, kHasNull = 2 };

Value number(OpBuilder &builder, Location location, int64_t value) {
  return ConstantOp::create(builder, location, builder.getI64Type(),
                            builder.getI64IntegerAttr(value));
}

/// A RightSide as a scalar, from the numbers of rows and of values.
Value kindOf(OpBuilder &builder, Location location, Value right, StringAttr key) {
  MLIRContext *context = builder.getContext();
  auto named = [&](StringRef suffix) { return builder.getStringAttr(key.getValue() + suffix); };
  StringAttr rows = named(".rows"), values = named(".values"), kind = named(".kind");
  Type i64 = builder.getI64Type();
  auto counts = AggregateOp::create(
      builder, location, TableType::get(context, {{rows, i64}, {values, i64}}), right,
      builder.getArrayAttr({}),
      builder.getArrayAttr({MeasureAttr::get(context, AggregateFunction::CountStar, {}, rows),
                            MeasureAttr::get(context, AggregateFunction::Count, key, values)}));
  auto project = ProjectOp::create(builder, location, TableType::get(context, {{kind, i64}}),
                                   counts.getResult(), builder.getArrayAttr({}),
                                   builder.getArrayAttr({kind}), builder.getArrayAttr({}));
  RegionBuilder inside(builder, project.getExpressions(), counts.getType());
  OpBuilder &b = inside.builder();
  auto compare = [&](CompareKind how, Value a, Value c) -> Value {
    return CompareOp::create(b, location, b.getI1Type(), how, a, c);
  };
  Value empty = compare(CompareKind::Eq, inside.column(rows), number(b, location, 0));
  Value hasNull = compare(CompareKind::Lt, inside.column(values), inside.column(rows));
  inside.yield(location, Value(CaseOp::create(
                             b, location, i64, ValueRange{empty, hasNull},
                             ValueRange{number(b, location, kEmpty), number(b, location, kHasNull)},
                             number(b, location, kValues))));
  project.setColumnsAttr(inside.columns());
  return ScalarSubqueryOp::create(builder, location, addNullable(i64), project.getResult());
}

void rewrite(OpBuilder &builder, JoinOp join) {
  builder.setInsertionPoint(join);
  Location location = join.getLoc();
  auto leftKey = cast<StringAttr>(join.getLeftKeys()[0]),
       rightKey = cast<StringAttr>(join.getRightKeys()[0]);
  join.setNullAware(false);
  if (!isNullable(join.getLeft().getType().getColumnType(leftKey)) &&
      !isNullable(join.getRight().getType().getColumnType(rightKey))) {
    return;
  }
  Value kind = kindOf(builder, location, join.getRight(), rightKey);
  // Nothing to be in: every row. A NULL among it: no row. Else: rows that have a value.
  auto filter = FilterOp::create(builder, location, join.getLeft().getType(), join.getLeft(),
                                 builder.getArrayAttr({}));
  RegionBuilder inside(builder, filter.getPredicate(), join.getLeft().getType());
  OpBuilder &b = inside.builder();
  Type maybe = addNullable(b.getI1Type());
  auto isKind = [&](RightSide wanted) -> Value {
    return CompareOp::create(b, location, maybe, CompareKind::Eq, kind,
                             number(b, location, wanted));
  };
  Value null = IsNullOp::create(b, location, b.getI1Type(), inside.column(leftKey));
  Value present = NotOp::create(b, location, b.getI1Type(), null);
  Value other = AndOp::create(b, location, maybe, ValueRange{isKind(kValues), present});
  inside.yield(location,
               Value(OrOp::create(b, location, maybe, ValueRange{isKind(kEmpty), other})));
  filter.setColumnsAttr(inside.columns());
  join.getLeftMutable().assign(filter.getResult());
}

struct NotInPass : optimize::impl::OptimizeNotInBase<NotInPass> {
  void runOnOperation() override {
    OpBuilder builder(&getContext());
    SmallVector<JoinOp> joins;
    getOperation().walk([&](JoinOp join) {
      if (join.getNullAware()) {
        joins.push_back(join);
      }
    });
    for (JoinOp join : joins) {
      rewrite(builder, join);
    }
  }
};

} // namespace
