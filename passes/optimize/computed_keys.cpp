// optimize-computed-keys: joins on equal expressions become joins on columns that have their
// values.
#include "dialects/frame/FreshNames.h"
#include "passes/optimize/Passes.h"
#include "passes/optimize/expressions.h"
#include "passes/optimize/null_safe.h"

namespace headrace::optimize {
#define GEN_PASS_DEF_OPTIMIZECOMPUTEDKEYS
#include "passes/optimize/Passes.h.inc"
} // namespace headrace::optimize

using namespace mlir;
using namespace headrace;
using namespace headrace::optimize;
using namespace headrace::frame;

namespace {

/// An equality of something of a join's left rows with something of its right rows.
struct EqualSides {
  Expression left, right;
};

/// What may fail is computed for all rows of a side, as DuckDB does it, where no condition beside
/// it chooses among these rows alone.
enum class Failing : uint8_t { kNoKey, kKey };

std::optional<EqualSides> equalSides(const Expression &conjunct, JoinOp join, Failing failing) {
  auto compare = conjunct.value.getDefiningOp<CompareOp>();
  if (!compare || compare.getKind() != CompareKind::Eq) {
    return std::nullopt;
  }
  EqualSides sides{conjunct.with(compare.getLhs()), conjunct.with(compare.getRhs())};
  auto isOf = [&](const Expression &side, TableType table) {
    ColumnSet columns = columnsOf(side);
    return !columns.empty() && coveredBy(columns, table) &&
           (failing == Failing::kKey || !canFail(side));
  };
  TableType left = join.getLeft().getType(), right = join.getRight().getType();
  if (!isOf(sides.left, left)) {
    std::swap(sides.left, sides.right);
  }
  const bool fits = isOf(sides.left, left) && isOf(sides.right, right) &&
                    isSameValueType(sides.left.value.getType(), sides.right.value.getType());
  return fits ? std::optional(sides) : std::nullopt;
}

class ComputedKeys {
public:
  explicit ComputedKeys(func::FuncOp function)
      : b_(function.getContext()), names_(function.getOperation()) {}

  /// Rows of an inner join whose sides are equal.
  void filter(FilterOp filter) {
    auto join = filter.getInput().getDefiningOp<JoinOp>();
    if (!join) { // it has got its keys from its residual
      return;
    }
    SmallVector<Expression> rest;
    SmallVector<EqualSides> keys = split(join, conjunctsOf(predicateOf(filter)), rest);
    if (keys.empty()) {
      return;
    }
    Value kept = withKeys(join, keys);
    b_.setInsertionPoint(filter);
    if (!rest.empty()) {
      kept = createFilter(b_, filter.getLoc(), kept, rest);
    }
    filter.replaceAllUsesWith(kept);
    filter.erase();
    join.erase();
  }

  /// Matches whose sides are equal.
  void residual(JoinOp join) {
    SmallVector<Expression> rest;
    SmallVector<EqualSides> keys = split(join, conjunctsOf(residualOf(join)), rest);
    if (keys.empty()) {
      return;
    }
    b_.setInsertionPoint(join);
    JoinOp others = withResidual(b_, join, rest);
    join.replaceAllUsesWith(withKeys(others, keys));
    join.erase();
    others.erase();
  }

private:
  static SmallVector<EqualSides> split(JoinOp join, ArrayRef<Expression> conjuncts,
                                       SmallVectorImpl<Expression> &rest) {
    // An inner join with keys is one of several that join order may take apart, with the condition.
    const bool wanted = join.getKind() != JoinKind::Inner || join.getLeftKeys().empty();
    auto choosesOfOne = [&](const Expression &conjunct) {
      ColumnSet columns = columnsOf(conjunct);
      return coveredBy(columns, join.getLeft().getType()) ||
             coveredBy(columns, join.getRight().getType());
    };
    const Failing failing = llvm::any_of(conjuncts, choosesOfOne) ? Failing::kNoKey : Failing::kKey;
    SmallVector<EqualSides> keys;
    for (const Expression &conjunct : conjuncts) {
      std::optional<EqualSides> sides;
      if (wanted) {
        sides = equalSides(conjunct, join, failing);
      }
      if (sides) {
        keys.push_back(*sides);
      } else {
        rest.push_back(conjunct);
      }
    }
    return keys;
  }

  /// The join with these keys beside its own, in front of it.
  Value withKeys(JoinOp join, ArrayRef<EqualSides> keys) {
    b_.setInsertionPoint(join);
    SmallVector<Expression> ofLeft, ofRight;
    for (const EqualSides &key : keys) {
      ofLeft.push_back(key.left);
      ofRight.push_back(key.right);
    }
    SmallVector<Attribute> leftKeys(join.getLeftKeys().getValue());
    SmallVector<Attribute> rightKeys(join.getRightKeys().getValue());
    Value left = withColumns(join.getLeft(), ofLeft, leftKeys);
    Value right = withColumns(join.getRight(), ofRight, rightKeys);
    Column mark;
    if (join.getKind() == JoinKind::Mark) {
      mark = join.getMark();
    }
    TableType type = JoinOp::inferResultType(join.getKind(), cast<TableType>(left.getType()),
                                             cast<TableType>(right.getType()), mark);
    auto made = JoinOp::create(b_, join.getLoc(), type, join.getKind(), left, right,
                               b_.getArrayAttr(leftKeys), b_.getArrayAttr(rightKeys));
    if (join.getNullSafe()) {
      SmallVector<bool> flags(*join.getNullSafe());
      flags.resize(leftKeys.size());
      made.setNullSafeAttr(nullSafeAttr(b_.getContext(), flags));
    }
    if (join.hasResidual()) {
      made.setResidualColumnsAttr(join.getResidualColumnsAttr());
      made.getResidual().takeBody(join.getResidual());
    }
    return createKeep(b_, join.getLoc(), made, join.getType().getNames());
  }

  /// The table with a column for each value, but for those that are columns; their names are added.
  Value withColumns(Value table, ArrayRef<Expression> values, SmallVectorImpl<Attribute> &names) {
    auto type = cast<TableType>(table.getType());
    SmallVector<Column> columns(type.getColumns());
    SmallVector<StringAttr> made;
    SmallVector<Expression> computed;
    for (const Expression &value : values) {
      if (StringAttr column = asColumn(value)) {
        names.push_back(column);
        continue;
      }
      made.push_back(names_.make("key"));
      computed.push_back(value);
      columns.push_back({made.back(), value.value.getType()});
      names.push_back(made.back());
    }
    if (made.empty()) {
      return table;
    }
    return createProject(b_, table.getLoc(), table, TableType::get(b_.getContext(), columns), made,
                         computed);
  }

  OpBuilder b_;
  FreshNames names_;
};

struct ComputedKeysPass : optimize::impl::OptimizeComputedKeysBase<ComputedKeysPass> {
  void runOnOperation() override {
    SmallVector<FilterOp> filters;
    SmallVector<JoinOp> joins;
    getOperation().walk([&](Operation *op) {
      auto filter = dyn_cast<FilterOp>(op);
      auto joined = filter ? filter.getInput().getDefiningOp<JoinOp>() : JoinOp();
      if (joined && joined.getKind() == JoinKind::Inner && joined->hasOneUse()) {
        filters.push_back(filter);
      }
      if (auto join = dyn_cast<JoinOp>(op); join && join.hasResidual() && !join.getNullAware()) {
        joins.push_back(join);
      }
    });
    if (filters.empty() && joins.empty()) {
      return;
    }
    ComputedKeys keys(getOperation());
    for (JoinOp join : joins) {
      keys.residual(join);
    }
    for (FilterOp filter : filters) {
      keys.filter(filter);
    }
  }
};

} // namespace
