// optimize-marks: `x IN (query)` in three-valued logic, as joins that know only matches and values
// that are counted.
#include "passes/optimize/Passes.h"
#include "passes/optimize/expressions.h"
#include "passes/optimize/provenance.h"

namespace headrace::optimize {
#define GEN_PASS_DEF_OPTIMIZEMARKS
#include "passes/optimize/Passes.h.inc"
} // namespace headrace::optimize

using namespace mlir;
using namespace headrace;
using namespace headrace::optimize;
using namespace headrace::frame;

namespace {

/// Rewrites one null_aware join.
class Membership {
public:
  Membership(OpBuilder &builder, JoinOp join)
      : b_(builder), join_(join), location_(join.getLoc()),
        leftKeys_(llvm::to_vector(join.getLeftKeys().getAsRange<StringAttr>())),
        rightKeys_(llvm::to_vector(join.getRightKeys().getAsRange<StringAttr>())) {
    b_.setInsertionPoint(join);
  }

  void rewrite() {
    if (isCertain()) {
      replace(join_.getKind() == JoinKind::Anti
                  ? matching(JoinKind::Anti).getResult()
                  : withMark(matching(JoinKind::Mark), [&](RegionBuilder &inside) {
                      return known(inside.column(matchName()), inside.builder());
                    }));
    } else if (join_.hasResidual()) {
      rewriteByTwoJoins();
    } else if (leftKeys_.size() == 1) {
      rewriteByWholeRightSide();
    } else {
      rewriteByCounts();
    }
  }

private:
  StringAttr named(StringAttr stem, StringRef suffix) {
    return b_.getStringAttr(stem.getValue() + suffix);
  }
  /// Unique names: no column comes from two joins.
  StringAttr stem() {
    return join_.getKind() == JoinKind::Mark ? join_.getMark().name
                                             : join_.getRight().getType().getNames().front();
  }
  StringAttr matchName() { return named(stem(), ".match"); }
  StringAttr leftMember() { return leftKeys_.back(); }
  StringAttr rightMember() { return rightKeys_.back(); }
  ArrayRef<StringAttr> leftGroup() { return ArrayRef(leftKeys_).drop_back(); }
  ArrayRef<StringAttr> rightGroup() { return ArrayRef(rightKeys_).drop_back(); }
  Type truth() { return b_.getI1Type(); }

  /// Whether no pair's predicate can be NULL.
  bool isCertain() {
    bool residual = join_.hasResidual() && isNullable(residualOf(join_).value.getType());
    return !residual && (leftKeys_.empty() || (!canBeNull(join_.getLeft(), leftMember()) &&
                                               !canBeNull(join_.getRight(), rightMember())));
  }

  /// The join without three-valued logic, as `kind`; a mark is named matchName().
  JoinOp matching(JoinKind kind) {
    Column mark{matchName(), truth()};
    TableType type =
        JoinOp::inferResultType(kind, join_.getLeft().getType(), join_.getRight().getType(), mark);
    auto result = JoinOp::create(b_, location_, type, kind, join_.getLeft(), join_.getRight(),
                                 join_.getLeftKeys(), join_.getRightKeys(), join_.getNullSafeAttr(),
                                 join_.getResidualColumnsAttr(), /*null_aware=*/false);
    if (join_.hasResidual()) {
      IRMapping mapping;
      join_.getResidual().cloneInto(&result.getResidual(), mapping);
    }
    return result;
  }

  /// A two-valued truth as a mark's type.
  Value known(Value value, OpBuilder &b) {
    return CastOp::create(b, location_, addNullable(truth()), value);
  }
  Value constant(OpBuilder &b, Attribute value) {
    return ConstantOp::create(b, location_, addNullable(truth()), value);
  }
  Value number(OpBuilder &b, int64_t value) {
    return ConstantOp::create(b, location_, b.getI64Type(), b.getI64IntegerAttr(value));
  }
  Value isNull(OpBuilder &b, Value value) { return IsNullOp::create(b, location_, truth(), value); }
  /// True, false and NULL, in this order of the conditions.
  Value choose(OpBuilder &b, Value matches, Value none, Value unknown) {
    Type mark = addNullable(truth());
    return CaseOp::create(b, location_, mark, ValueRange{matches, none, unknown},
                          ValueRange{constant(b, b.getBoolAttr(true)),
                                     constant(b, b.getBoolAttr(false)),
                                     constant(b, b.getUnitAttr())},
                          constant(b, b.getBoolAttr(false)));
  }

  /// The mark join's result: the left columns of `table`, and the mark that `fill` computes.
  Value withMark(Value table, llvm::function_ref<Value(RegionBuilder &)> fill) {
    StringAttr mark = join_.getMark().name;
    return createProject(b_, location_, table, join_.getType(), mark,
                         [&](RegionBuilder &inside, StringAttr) { return fill(inside); });
  }

  /// The rows of `table` for which what `fill` computes is true.
  Value filtered(Value table, llvm::function_ref<Value(RegionBuilder &)> fill) {
    auto filter = FilterOp::create(b_, location_, table.getType(), table, b_.getArrayAttr({}));
    RegionBuilder inside(b_, filter.getPredicate(), cast<TableType>(table.getType()));
    inside.yield(location_, fill(inside));
    filter.setColumnsAttr(inside.columns());
    return filter;
  }

  void replace(Value value) {
    join_.getResult().replaceAllUsesWith(value);
    join_.erase();
  }

  //===--------------------------------------------------------------------===//
  // x IN (query), not correlated: what the query is like as a whole is one value
  //===--------------------------------------------------------------------===//

  enum RightSide : int64_t { kEmpty = 0, kValues = 1, kHasNull = 2 };

  /// A RightSide as a scalar, from the numbers of rows and of values.
  Value kindOfRightSide() {
    StringAttr rows = named(stem(), ".rows"), values = named(stem(), ".values"),
               kind = named(stem(), ".kind");
    Type i64 = b_.getI64Type();
    Value counts = countsOfRight({}, rows, values);
    auto project =
        ProjectOp::create(b_, location_, TableType::get(b_.getContext(), {{kind, i64}}), counts,
                          b_.getArrayAttr({}), b_.getArrayAttr({kind}), b_.getArrayAttr({}));
    RegionBuilder inside(b_, project.getExpressions(), cast<TableType>(counts.getType()));
    OpBuilder &b = inside.builder();
    auto compare = [&](CompareKind how, Value a, Value c) -> Value {
      return CompareOp::create(b, location_, truth(), how, a, c);
    };
    Value empty = compare(CompareKind::Eq, inside.column(rows), number(b, 0));
    Value hasNull = compare(CompareKind::Lt, inside.column(values), inside.column(rows));
    inside.yield(location_, Value(CaseOp::create(b, location_, i64, ValueRange{empty, hasNull},
                                                 ValueRange{number(b, kEmpty), number(b, kHasNull)},
                                                 number(b, kValues))));
    project.setColumnsAttr(inside.columns());
    return ScalarSubqueryOp::create(b_, location_, addNullable(i64), project.getResult());
  }

  void rewriteByWholeRightSide() {
    Value kind = kindOfRightSide();
    Type maybe = addNullable(truth());
    auto isKind = [&](OpBuilder &b, RightSide wanted) -> Value {
      return CompareOp::create(b, location_, maybe, CompareKind::Eq, kind, number(b, wanted));
    };
    if (join_.getKind() == JoinKind::Mark) {
      replace(withMark(matching(JoinKind::Mark), [&](RegionBuilder &inside) {
        OpBuilder &b = inside.builder();
        Value unknown =
            OrOp::create(b, location_, maybe,
                         ValueRange{isNull(b, inside.column(leftMember())), isKind(b, kHasNull)});
        return choose(b, inside.column(matchName()), isKind(b, kEmpty), unknown);
      }));
      return;
    }
    // Nothing to be in: every row. A NULL among it: no row. Else: rows that have a value.
    Value left = filtered(join_.getLeft(), [&](RegionBuilder &inside) -> Value {
      OpBuilder &b = inside.builder();
      Value present = NotOp::create(b, location_, truth(), isNull(b, inside.column(leftMember())));
      Value other = AndOp::create(b, location_, maybe, ValueRange{isKind(b, kValues), present});
      return OrOp::create(b, location_, maybe, ValueRange{isKind(b, kEmpty), other});
    });
    JoinOp anti = matching(JoinKind::Anti);
    anti.getLeftMutable().assign(left);
    replace(anti);
  }

  //===--------------------------------------------------------------------===//
  // Correlated by equal keys: counts per group of the right side
  //===--------------------------------------------------------------------===//

  /// How many rows and how many values there are, by these columns.
  Value countsOfRight(ArrayRef<StringAttr> group, StringAttr rows, StringAttr values) {
    TableType right = join_.getRight().getType();
    SmallVector<Column> columns;
    SmallVector<Attribute> keys;
    for (StringAttr key : group) {
      if (!llvm::is_contained(keys, Attribute(key))) {
        keys.push_back(key);
        columns.push_back({key, right.getColumnType(key)});
      }
    }
    columns.push_back({rows, b_.getI64Type()});
    columns.push_back({values, b_.getI64Type()});
    MLIRContext *context = b_.getContext();
    return AggregateOp::create(
        b_, location_, TableType::get(context, columns), join_.getRight(), b_.getArrayAttr(keys),
        b_.getArrayAttr(
            {MeasureAttr::get(context, AggregateFunction::CountStar, {}, rows),
             MeasureAttr::get(context, AggregateFunction::Count, rightMember(), values)}));
  }

  void rewriteByCounts() {
    StringAttr rows = named(stem(), ".rows"), values = named(stem(), ".values");
    Value counts = countsOfRight(rightGroup(), rows, values);
    auto countsType = cast<TableType>(counts.getType());
    // The groups' keys under names that the left side does not have.
    SmallVector<StringAttr> names;
    for (auto [index, name] : llvm::enumerate(countsType.getNames())) {
      bool isKey = index + 2 < countsType.getNumColumns();
      names.push_back(isKey ? named(stem(), ".group" + std::to_string(index)) : name);
    }
    SmallVector<Attribute> keys;
    for (StringAttr key : rightGroup()) {
      keys.push_back(names[*countsType.findColumn(key)]);
    }
    counts = RenameOp::create(
        b_, location_, TableType::get(b_.getContext(), names, countsType.getColumnTypes()), counts);
    bool marks = join_.getKind() == JoinKind::Mark;
    JoinOp matches = matching(marks ? JoinKind::Mark : JoinKind::Anti);
    DenseBoolArrayAttr safe;
    if (join_.getNullSafe()) {
      safe = b_.getDenseBoolArrayAttr(join_.getNullSafe()->drop_back());
    }
    TableType type = JoinOp::inferResultType(JoinKind::Left, matches.getType(),
                                             cast<TableType>(counts.getType()));
    auto counted = JoinOp::create(b_, location_, type, JoinKind::Left, matches, counts,
                                  b_.getArrayAttr(llvm::to_vector_of<Attribute>(leftGroup())),
                                  b_.getArrayAttr(keys), safe, ArrayAttr(), /*null_aware=*/false);
    auto unknown = [&](RegionBuilder &inside) -> Value {
      OpBuilder &b = inside.builder();
      Type maybe = addNullable(truth());
      Value hasNull = CompareOp::create(b, location_, maybe, CompareKind::Lt, inside.column(values),
                                        inside.column(rows));
      return OrOp::create(b, location_, maybe,
                          ValueRange{isNull(b, inside.column(leftMember())), hasNull});
    };
    if (marks) {
      replace(withMark(counted, [&](RegionBuilder &inside) {
        OpBuilder &b = inside.builder();
        return choose(b, inside.column(matchName()), isNull(b, inside.column(rows)),
                      unknown(inside));
      }));
      return;
    }
    Value kept = filtered(counted, [&](RegionBuilder &inside) -> Value {
      OpBuilder &b = inside.builder();
      Type maybe = addNullable(truth());
      Value certain = NotOp::create(b, location_, maybe, unknown(inside));
      return OrOp::create(b, location_, maybe, ValueRange{isNull(b, inside.column(rows)), certain});
    });
    replace(createKeep(b_, location_, kept, join_.getType().getNames()));
  }

  //===--------------------------------------------------------------------===//
  // Any predicate: once more for the pairs of which it is NULL
  //===--------------------------------------------------------------------===//

  /// `left` joined with the right side on the groups' keys and where the predicate is NULL.
  JoinOp unknownPairs(JoinKind kind, Value left, StringAttr mark) {
    TableType leftType = cast<TableType>(left.getType()), rightType = join_.getRight().getType();
    TableType type = JoinOp::inferResultType(kind, leftType, rightType, {mark, truth()});
    bool hasMember = !leftKeys_.empty();
    auto list = [&](ArrayRef<StringAttr> names) {
      return b_.getArrayAttr(llvm::to_vector_of<Attribute>(names));
    };
    DenseBoolArrayAttr safe = join_.getNullSafeAttr();
    if (hasMember && safe) {
      safe = b_.getDenseBoolArrayAttr(safe.asArrayRef().drop_back());
    }
    auto result = JoinOp::create(b_, location_, type, kind, left, join_.getRight(),
                                 list(hasMember ? leftGroup() : ArrayRef<StringAttr>()),
                                 list(hasMember ? rightGroup() : ArrayRef<StringAttr>()), safe,
                                 b_.getArrayAttr({}), /*null_aware=*/false);
    RegionBuilder inside(b_, result.getResidual(), {leftType, rightType});
    OpBuilder &b = inside.builder();
    SmallVector<Value> parts{inside.copy(residualOf(join_))};
    if (hasMember) {
      Value x = inside.column(leftMember()), y = inside.column(rightMember());
      Type equal = withNullability(truth(), nullabilityOf({x.getType(), y.getType()}));
      parts.push_back(CompareOp::create(b, location_, equal, CompareKind::Eq, x, y));
    }
    inside.yield(location_, isNull(b, inside.allOf(location_, parts)));
    result.setResidualColumnsAttr(inside.columns());
    return result;
  }

  void rewriteByTwoJoins() {
    if (join_.getKind() == JoinKind::Anti) {
      replace(unknownPairs(JoinKind::Anti, matching(JoinKind::Anti), StringAttr()));
      return;
    }
    StringAttr unknown = named(stem(), ".unknown");
    JoinOp both = unknownPairs(JoinKind::Mark, matching(JoinKind::Mark), unknown);
    replace(withMark(both, [&](RegionBuilder &inside) {
      OpBuilder &b = inside.builder();
      Value never = ConstantOp::create(b, location_, truth(), b.getBoolAttr(false));
      return choose(b, inside.column(matchName()), never, inside.column(unknown));
    }));
  }

  OpBuilder &b_;
  JoinOp join_;
  Location location_;
  SmallVector<StringAttr> leftKeys_;
  SmallVector<StringAttr> rightKeys_;
};

struct MarksPass : optimize::impl::OptimizeMarksBase<MarksPass> {
  void runOnOperation() override {
    OpBuilder builder(&getContext());
    SmallVector<JoinOp> joins;
    getOperation().walk([&](JoinOp join) {
      if (join.getNullAware()) {
        joins.push_back(join);
      }
    });
    for (JoinOp join : joins) {
      Membership(builder, join).rewrite();
    }
  }
};

} // namespace
