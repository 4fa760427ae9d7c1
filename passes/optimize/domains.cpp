// optimize-domains: semi joins with the distinct outer values of a correlated subquery, where they
// are needless.
#include "passes/analysis/expression_ranges.h"
#include "passes/analysis/ranges.h"
#include "passes/optimize/Passes.h"
#include "passes/optimize/expressions.h"
#include "passes/optimize/provenance.h"

namespace headrace::optimize {
#define GEN_PASS_DEF_OPTIMIZEDOMAINS
#include "passes/optimize/Passes.h.inc"
} // namespace headrace::optimize

using namespace mlir;
using namespace headrace;
using namespace headrace::optimize;
using namespace headrace::frame;

namespace {

/// Whether an op of an expression cannot fail on the values that its operands can have.
bool isProvenTotal(Operation *op, analysis::RangeAnalysis &ranges) {
  if (isPure(op) || isFloat(op->getResult(0).getType())) {
    return true;
  }
  if (auto cast = dyn_cast<CastOp>(op)) {
    return cast.getOrNull() || isWidening(cast.getOperand().getType(), cast.getResult().getType());
  }
  if (!isa<AddOp, SubtractOp, MultiplyOp, NegateOp>(op)) {
    return false;
  }
  // The analysis cuts a result off at its type's ends, so one that reaches them may go beyond.
  std::optional<analysis::Range> result = ranges.rangeOf(op->getResult(0)),
                                 all = analysis::rangeOfType(op->getResult(0).getType());
  return result && all && result->low > all->low && result->high < all->high;
}

bool isProvenTotal(Operation *relation) {
  analysis::RangeAnalysis ranges;
  bool total = true;
  for (Region &region : relation->getRegions()) {
    region.walk<WalkOrder::PreOrder>([&](Operation *op) {
      // Nothing is known of the elements of a list.
      total &= op->hasTrait<OpTrait::IsTerminator>() ||
               (op->getParentOp() == relation ? isProvenTotal(op, ranges) : isPure(op));
      return isa<TryOp>(op) ? WalkResult::skip() : WalkResult::advance();
    });
  }
  return total;
}

/// A semi join with distinct values of columns of a table: `keys` of its left side are `outer`'s
/// columns.
struct Domain {
  JoinOp semi;
  ColumnsOf outer;
  SmallVector<StringAttr> keys;
};

std::optional<Domain> domainOf(JoinOp semi) {
  if (semi.getKind() != JoinKind::Semi || semi.hasResidual() || semi.getLeftKeys().empty()) {
    return std::nullopt;
  }
  Domain domain{semi, {semi.getRight(), {}}, {}};
  for (auto [left, right] : llvm::zip_equal(semi.getLeftKeys(), semi.getRightKeys())) {
    domain.keys.push_back(cast<StringAttr>(left));
    domain.outer.columns.push_back(cast<StringAttr>(right));
  }
  // Down to the table that the distinct values are of: all of its rows count.
  for (bool distinct = false;;) {
    Operation *op = domain.outer.table.getDefiningOp();
    if (distinct && (!op || !isa<RenameOp, ProjectOp>(op))) {
      return domain;
    }
    if (!op || !(makesDistinct(op) || isa<RenameOp, ProjectOp>(op))) {
      return std::nullopt;
    }
    distinct |= makesDistinct(op);
    std::optional<ColumnsOf> below = stepDown(domain.outer);
    if (!below) {
      return std::nullopt;
    }
    domain.outer = *below;
  }
}

/// Whether these columns' values all come from the outer table's.
bool comeFrom(ColumnsOf columns, const ColumnsOf &outer) {
  std::optional<ColumnsOf> found = stepDownTo(outer.table, std::move(columns));
  return found && found->columns == outer.columns;
}

/// The names of `columns` of an operand behind `user`, if each of its rows depends on rows of the
/// same values of them only, and it fails for none of them.
std::optional<SmallVector<StringAttr>> behind(OpOperand &use, ArrayRef<StringAttr> columns) {
  auto user = dyn_cast<RelationalOpInterface>(use.getOwner());
  if (!user || !isProvenTotal(user)) {
    return std::nullopt;
  }
  if (auto join = dyn_cast<JoinOp>(use.getOwner());
      join && (join.getNullAware() || join.getKind() == JoinKind::Single)) {
    return std::nullopt;
  }
  SmallVector<PassedColumn> passed = user.getPassedColumns();
  SmallVector<StringAttr> names;
  for (StringAttr column : columns) {
    const auto *behind = llvm::find_if(passed, [&](const PassedColumn &one) {
      return one.operand == use.getOperandNumber() && one.from == column &&
             one.passing == Passing::kAlways;
    });
    if (behind == passed.end()) {
      return std::nullopt;
    }
    names.push_back(behind->to);
  }
  return user.letsConditionsThrough(names) ? std::optional(names) : std::nullopt;
}

/// Whether `join` finds partners for its other side's rows on the domain's values, so that rows of
/// other values have none. `operand` is the domain's side.
bool restricts(JoinOp join, unsigned operand, ArrayRef<StringAttr> columns,
               const ColumnsOf &outer) {
  bool isRight = operand == 1;
  if (!ignoresUnmatched(join, operand)) {
    return false;
  }
  auto own = llvm::to_vector(
      (isRight ? join.getRightKeys() : join.getLeftKeys()).getAsRange<StringAttr>());
  auto other = llvm::to_vector(
      (isRight ? join.getLeftKeys() : join.getRightKeys()).getAsRange<StringAttr>());
  ColumnsOf partners{isRight ? join.getLeft() : join.getRight(), {}};
  for (StringAttr column : columns) {
    auto found = llvm::find(own, column);
    // The membership of a null_aware join is no plain key.
    bool plain =
        found != own.end() &&
        !(join.getNullAware() && static_cast<size_t>(found - own.begin()) + 1 == own.size());
    if (!plain) {
      return false;
    }
    partners.columns.push_back(other[found - own.begin()]);
  }
  return comeFrom(partners, outer);
}

/// Whether the join above that makes the domain needless is there.
bool isNeedless(Domain domain) {
  Value value = domain.semi.getResult();
  SmallVector<StringAttr> columns = domain.keys;
  while (value.hasOneUse()) {
    OpOperand &use = *value.getUses().begin();
    Operation *user = use.getOwner();
    if (auto join = dyn_cast<JoinOp>(user);
        join && restricts(join, use.getOperandNumber(), columns, domain.outer)) {
      return true;
    }
    std::optional<SmallVector<StringAttr>> names = behind(use, columns);
    if (!names) {
      return false;
    }
    columns = *names;
    value = user->getResult(0);
  }
  return false;
}

/// The semi join's left side, without the rows that NULL in a key leaves out.
Value withoutDomain(OpBuilder &builder, JoinOp semi) {
  builder.setInsertionPoint(semi);
  Value left = semi.getLeft();
  SmallVector<StringAttr> nullable;
  for (auto [index, key] : llvm::enumerate(semi.getLeftKeys().getAsRange<StringAttr>())) {
    if (!semi.isNullSafe(index) && canBeNull(left, key)) {
      nullable.push_back(key);
    }
  }
  if (nullable.empty()) {
    return left;
  }
  Location location = semi.getLoc();
  auto filter = FilterOp::create(builder, location, left.getType(), left, builder.getArrayAttr({}));
  RegionBuilder inside(builder, filter.getPredicate(), cast<TableType>(left.getType()));
  OpBuilder &b = inside.builder();
  SmallVector<Value> present;
  for (StringAttr key : nullable) {
    Value null = IsNullOp::create(b, location, b.getI1Type(), inside.column(key));
    present.push_back(NotOp::create(b, location, b.getI1Type(), null));
  }
  inside.yield(location, inside.allOf(location, present));
  filter.setColumnsAttr(inside.columns());
  return filter;
}

struct DomainsPass : optimize::impl::OptimizeDomainsBase<DomainsPass> {
  void runOnOperation() override {
    OpBuilder builder(&getContext());
    SmallVector<JoinOp> joins;
    getOperation().walk([&](JoinOp join) { joins.push_back(join); });
    for (JoinOp join : joins) {
      std::optional<Domain> domain = domainOf(join);
      if (domain && isNeedless(*domain)) {
        join.getResult().replaceAllUsesWith(withoutDomain(builder, join));
        join.erase();
      }
    }
    for (Block &block : getOperation().getBody()) {
      tidyBlock(block); // the distinct values, which nobody needs
    }
  }
};

} // namespace
