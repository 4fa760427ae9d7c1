// Where the values of columns come from, op by op, and whether they can be NULL there.
#include "passes/optimize/provenance.h"
#include "passes/optimize/expressions.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::optimize;
using namespace headrace::frame;

namespace {

using Step = std::optional<ColumnsOf>;

/// Whether `value` is NULL whenever the column is.
bool isStrictIn(const Expression &expression, StringAttr column) {
  if (asColumn(expression) == column) {
    return true;
  }
  Operation *op = expression.value.getDefiningOp();
  return isa_and_nonnull<CastOp, NegateOp, AddOp, SubtractOp, MultiplyOp, ShiftDateOp, SubstringOp,
                         ExtractOp>(op) &&
         llvm::any_of(op->getOperands(),
                      [&](Value operand) { return isStrictIn(expression.with(operand), column); });
}

/// Whether a row in which the column is NULL does not pass the conjunct.
bool dropsNull(const Expression &conjunct, StringAttr column) {
  if (auto compare = conjunct.value.getDefiningOp<CompareOp>()) {
    return compare.getKind() != CompareKind::IsNotDistinctFrom &&
           (isStrictIn(conjunct.with(compare.getLhs()), column) ||
            isStrictIn(conjunct.with(compare.getRhs()), column));
  }
  if (auto negation = conjunct.value.getDefiningOp<NotOp>()) {
    auto isNull = negation.getOperand().getDefiningOp<IsNullOp>();
    return isNull && isStrictIn(conjunct.with(isNull.getOperand()), column);
  }
  Operation *op = conjunct.value.getDefiningOp();
  return isa_and_nonnull<InOp, LikeOp>(op) && isStrictIn(conjunct.with(op->getOperand(0)), column);
}

/// Whether a column of the join's result is a key that NULL does not match.
bool isPlainKey(JoinOp join, StringAttr column) {
  bool hasRight = join.getKind() == JoinKind::Inner; // else a right column may have the same name
  for (auto [index, keys] :
       llvm::enumerate(llvm::zip_equal(join.getLeftKeys(), join.getRightKeys()))) {
    auto [left, right] = keys;
    if (!join.isNullSafe(index) && (left == column || (hasRight && right == column))) {
      return true;
    }
  }
  return false;
}

/// Whether the op lets through only rows in which the column has a value.
bool dropsNull(Operation *op, StringAttr column) {
  if (auto filter = dyn_cast<FilterOp>(op)) {
    return llvm::any_of(conjunctsOf(predicateOf(filter)),
                        [&](const Expression &conjunct) { return dropsNull(conjunct, column); });
  }
  auto join = dyn_cast<JoinOp>(op);
  return join && (join.getKind() == JoinKind::Inner || join.getKind() == JoinKind::Semi) &&
         isPlainKey(join, column);
}

} // namespace

Step headrace::optimize::stepDown(const ColumnsOf &from) {
  auto op = from.table.getDefiningOp<RelationalOpInterface>();
  if (!op) {
    return std::nullopt;
  }
  SmallVector<PassedColumn> passed = op.getPassedColumns();
  for (OpOperand &operand : op->getOpOperands()) {
    ColumnsOf below{operand.get(), {}};
    for (StringAttr column : from.columns) {
      const auto *source = llvm::find_if(passed, [&](const PassedColumn &one) {
        return one.to == column && one.operand == operand.getOperandNumber() &&
               one.passing == Passing::kAlways;
      });
      if (source != passed.end()) {
        below.columns.push_back(source->from);
      }
    }
    if (below.columns.size() == from.columns.size()) {
      return below;
    }
  }
  return std::nullopt;
}

Step headrace::optimize::stepDownTo(Value table, ColumnsOf from) {
  while (from.table != table) {
    Step below = stepDown(from);
    if (!below) {
      return std::nullopt;
    }
    from = std::move(*below);
  }
  return from;
}

bool headrace::optimize::makesDistinct(Operation *op) {
  auto aggregate = dyn_cast_or_null<AggregateOp>(op);
  return isa_and_nonnull<DistinctOp>(op) || (aggregate && aggregate.getMeasures().empty());
}

bool headrace::optimize::ignoresUnmatched(JoinOp join, unsigned side) {
  JoinKind kind = join.getKind();
  return side == 0 ? kind == JoinKind::Inner : kind != JoinKind::Right && kind != JoinKind::Full;
}

SmallVector<Operation *> headrace::optimize::cheapChain(Value table) {
  SmallVector<Operation *> chain;
  while (auto op = table.getDefiningOp<RelationalOpInterface>()) {
    chain.push_back(op);
    if (op.getRowFlow() == RowFlow::kSource) {
      std::reverse(chain.begin(), chain.end());
      return chain;
    }
    if (op.getRowFlow() != RowFlow::kRowByRow) {
      break;
    }
    table = op->getOperand(0);
  }
  return {};
}

bool headrace::optimize::canBeNull(Value table, StringAttr column) {
  Step at = ColumnsOf{table, {column}};
  while (at) {
    StringAttr name = at->columns.front();
    Operation *op = at->table.getDefiningOp();
    if (!isNullable(cast<TableType>(at->table.getType()).getColumnType(name)) ||
        (op && dropsNull(op, name))) {
      return false;
    }
    at = stepDown(*at);
  }
  return true;
}
