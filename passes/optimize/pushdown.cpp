// optimize-pushdown: filters toward the scans, conjunct by conjunct, until nothing moves.
#include "passes/optimize/Passes.h"
#include "passes/optimize/expressions.h"
#include "passes/optimize/null_safe.h"
#include "llvm/ADT/TypeSwitch.h"

namespace headrace::optimize {
#define GEN_PASS_DEF_OPTIMIZEPUSHDOWN
#include "passes/optimize/Passes.h.inc"
} // namespace headrace::optimize

using namespace mlir;
using namespace headrace;
using namespace headrace::optimize;
using namespace headrace::frame;

namespace {

/// A program of n joins with a condition each on one key would have n² of them.
constexpr size_t kCopiesAnOp = 8;

/// One step of the pass: the conjuncts of a filter split into those that moved and those that stay.
class Pushdown {
public:
  explicit Pushdown(MLIRContext *context) : builder_(context) {}

  void run(func::FuncOp function) {
    function.walk([&](Operation *op) {
      copiesLeft_ += kCopiesAnOp;
      if (isa<FilterOp, JoinOp>(op)) {
        pending_.insert(op);
      }
    });
    while (!pending_.empty()) {
      Operation *op = pending_.pop_back_val();
      if (auto filter = dyn_cast<FilterOp>(op)) {
        pushFilter(filter);
      } else {
        pushResidual(cast<JoinOp>(op));
      }
    }
    for (Operation *op : spliced_) {
      tidy(cast<FilterOp>(op));
    }
  }

private:
  void pushFilter(FilterOp filter);
  /// Moves all of a filter at once, in time that hardly depends on its conjuncts, so that a chain
  /// of filters comes down in proportion to its length; false, and nothing is done, if it does not
  /// move as a whole.
  bool moveWhole(FilterOp filter, Operation *input);
  /// A filter of `input` that takes the ops of `filters` over, in which `valueOf` gives the
  /// columns.
  FilterOp splice(Location location, Value input, ArrayRef<FilterOp> filters,
                  llvm::function_ref<Value(RegionBuilder &, StringAttr)> valueOf);
  bool cannotFail(FilterOp filter) const {
    return spliced_.contains(filter) || !canFail(predicateOf(filter));
  }
  /// The conjuncts of a filter, each once.
  SmallVector<Expression> conjunctsIn(FilterOp filter) const;
  /// A spliced filter as if it had been made of its conjuncts.
  void tidy(FilterOp filter);
  void pushResidual(JoinOp join);

  // Each takes conjuncts of a filter on the op's result, moves what it can, and returns the rest.
  SmallVector<Expression> through(FilterOp op, ArrayRef<Expression> conjuncts);
  SmallVector<Expression> through(ProjectOp op, ArrayRef<Expression> conjuncts);
  SmallVector<Expression> through(JoinOp op, ArrayRef<Expression> conjuncts);
  /// Those of one side's conjuncts that are about its keys only also filter the other side.
  void copyToPartners(JoinOp join, unsigned side, ArrayRef<Expression> conjuncts);
  /// The rows of a mark join with this mark, as a semi or anti join.
  void keepMarked(JoinOp op, bool wanted);
  SmallVector<Expression> through(RelationalOpInterface op, ArrayRef<Expression> conjuncts);

  /// A filter between `op` and its operand `index`.
  void insertBelow(Operation *op, unsigned index, ArrayRef<Expression> conjuncts);
  /// The same, but over renamed columns.
  void insertRenamedBelow(Operation *op, unsigned index, ArrayRef<Expression> conjuncts,
                          llvm::function_ref<StringAttr(StringAttr)> rename);
  void replace(Operation *op, Value value);

  OpBuilder builder_;
  llvm::SetVector<Operation *> pending_;
  llvm::SetVector<Operation *> spliced_; ///< of filters that cannot fail
  size_t copiesLeft_ = 0;                ///< of conjuncts, for the other sides of joins
};

/// Splits off the conjuncts for which `moves` holds; the others stay in `rest`.
SmallVector<Expression> take(ArrayRef<Expression> conjuncts, SmallVectorImpl<Expression> &rest,
                             llvm::function_ref<bool(const Expression &)> moves) {
  SmallVector<Expression> taken;
  for (const Expression &conjunct : conjuncts) {
    (moves(conjunct) ? taken : rest).push_back(conjunct);
  }
  return taken;
}

void Pushdown::replace(Operation *op, Value value) {
  op->getResult(0).replaceAllUsesWith(value);
  pending_.remove(op);
  spliced_.remove(op);
  op->erase();
}

SmallVector<Expression> Pushdown::conjunctsIn(FilterOp filter) const {
  SmallVector<Expression> conjuncts = conjunctsOf(predicateOf(filter));
  if (spliced_.contains(filter)) {
    ExpressionSet known;
    llvm::erase_if(conjuncts, [&](const Expression &one) { return !known.insert(one); });
  }
  return conjuncts;
}

void Pushdown::tidy(FilterOp filter) {
  Value result = withConjuncts(builder_, filter, conjunctsIn(filter));
  filter.getResult().replaceAllUsesWith(result);
  filter.erase();
}

FilterOp Pushdown::splice(Location location, Value input, ArrayRef<FilterOp> filters,
                          llvm::function_ref<Value(RegionBuilder &, StringAttr)> valueOf) {
  auto result =
      FilterOp::create(builder_, location, input.getType(), input, builder_.getArrayAttr({}));
  RegionBuilder inside(builder_, result.getPredicate(), cast<TableType>(input.getType()));
  Block &to = result.getPredicate().front();
  SmallVector<Value> conditions;
  for (FilterOp filter : filters) {
    Block &from = filter.getPredicate().front();
    for (auto [argument, name] : llvm::zip_equal(from.getArguments(), filter.getColumns())) {
      argument.replaceAllUsesWith(valueOf(inside, cast<StringAttr>(name)));
    }
    conditions.push_back(predicateOf(filter).value);
    to.getOperations().splice(to.end(), from.getOperations(), from.begin(),
                              from.getTerminator()->getIterator());
    from.getTerminator()->dropAllReferences();
  }
  inside.yield(location, inside.allOf(location, conditions));
  result.setColumnsAttr(inside.columns());
  spliced_.insert(result);
  pending_.insert(result);
  return result;
}

void Pushdown::insertBelow(Operation *op, unsigned index, ArrayRef<Expression> conjuncts) {
  if (conjuncts.empty()) {
    return;
  }
  builder_.setInsertionPoint(op);
  FilterOp filter =
      createFilter(builder_, conjuncts.front().value.getLoc(), op->getOperand(index), conjuncts);
  op->setOperand(index, filter);
  pending_.insert(filter);
}

void Pushdown::insertRenamedBelow(Operation *op, unsigned index, ArrayRef<Expression> conjuncts,
                                  llvm::function_ref<StringAttr(StringAttr)> rename) {
  if (conjuncts.empty()) {
    return;
  }
  builder_.setInsertionPoint(op);
  Value input = op->getOperand(index);
  Location location = conjuncts.front().value.getLoc();
  auto filter =
      FilterOp::create(builder_, location, input.getType(), input, builder_.getArrayAttr({}));
  RegionBuilder inside(builder_, filter.getPredicate(), cast<TableType>(input.getType()));
  SmallVector<Value> booleans;
  for (const Expression &conjunct : conjuncts) {
    booleans.push_back(
        inside.copy(conjunct, [&](StringAttr name) { return inside.column(rename(name)); }));
  }
  inside.yield(location, inside.allOf(location, booleans));
  filter.setColumnsAttr(inside.columns());
  op->setOperand(index, filter);
  pending_.insert(filter);
}

void Pushdown::pushFilter(FilterOp filter) {
  Operation *input = filter.getInput().getDefiningOp();
  if (!input || !input->hasOneUse()) {
    return;
  }
  if (moveWhole(filter, input)) {
    return;
  }
  auto join = dyn_cast<JoinOp>(input);
  bool marked = join && join.getKind() == JoinKind::Mark;
  SmallVector<Expression> conjuncts = conjunctsIn(filter);
  SmallVector<Expression> rest = llvm::TypeSwitch<Operation *, SmallVector<Expression>>(input)
                                     .Case<FilterOp, ProjectOp, JoinOp, RelationalOpInterface>(
                                         [&](auto op) { return through(op, conjuncts); })
                                     .Default([&](Operation *) { return conjuncts; });
  if (rest.size() == conjuncts.size()) {
    return;
  }
  Value result = withConjuncts(builder_, filter, rest);
  if (marked && !rest.empty()) {
    pending_.insert(result.getDefiningOp()); // it has another op below it
  }
  replace(filter, result);
}

/// Whether rows of a side come out of a join unchanged, so that a filter on them may come first.
bool filtersBelow(JoinOp join, unsigned side) {
  JoinKind kind = join.getKind();
  return side == 0 ? kind != JoinKind::Right && kind != JoinKind::Full
                   : kind == JoinKind::Inner || kind == JoinKind::Right;
}

/// What columns of an op's result are in one of its operands.
class ColumnsBelow {
public:
  /// Nothing if a filter that reads `columns` of the result cannot move there as it is.
  static std::optional<ColumnsBelow> of(RelationalOpInterface op, ArrayRef<StringAttr> columns) {
    ColumnsBelow below;
    if (auto join = dyn_cast<JoinOp>(op.getOperation())) {
      below.operand = below.covers(join, 0, columns) ? 0 : 1;
      return !columns.empty() && below.covers(join, below.operand, columns) ? std::optional(below)
                                                                            : std::nullopt;
    }
    if (op->getNumOperands() != 1) {
      return std::nullopt;
    }
    auto project = dyn_cast<ProjectOp>(op.getOperation());
    bool passes = project ? below.addComputed(project, columns) : below.addPassed(op, columns);
    return passes ? std::optional(std::move(below)) : std::nullopt;
  }

  Value in(RegionBuilder &inside, StringAttr name) const {
    auto value = computed_.find(name);
    StringAttr source = names_.lookup(name);
    return value != computed_.end() ? inside.copy(value->second)
                                    : inside.column(source ? source : name);
  }

  unsigned operand = 0;

private:
  static bool covers(JoinOp join, unsigned side, ArrayRef<StringAttr> columns) {
    auto table = cast<TableType>(join->getOperand(side).getType());
    return filtersBelow(join, side) &&
           llvm::all_of(columns, [&](StringAttr name) { return table.hasColumn(name); });
  }

  bool addComputed(ProjectOp project, ArrayRef<StringAttr> columns) {
    for (auto [name, value] :
         llvm::zip_equal(project.getComputed().getAsRange<StringAttr>(),
                         yieldedBy(project.getExpressions(), project.getColumns()))) {
      computed_[name] = value;
    }
    return llvm::none_of(columns, [&](StringAttr name) {
      auto value = computed_.find(name);
      return value != computed_.end() && canFail(value->second);
    });
  }

  bool addPassed(RelationalOpInterface op, ArrayRef<StringAttr> columns) {
    auto result = cast<TableType>(op->getResult(0).getType());
    auto below = cast<TableType>(op->getOperand(0).getType());
    for (const PassedColumn &passed : op.getPassedColumns()) {
      names_.insert({passed.to, passed.from});
    }
    return op.letsConditionsThrough(columns) && llvm::all_of(columns, [&](StringAttr name) {
             StringAttr source = names_.lookup(name);
             // The types of the moved ops depend on the column's nullability.
             return source && below.getColumnType(source) == result.getColumnType(name);
           });
  }

  llvm::DenseMap<StringAttr, Expression> computed_;
  llvm::DenseMap<StringAttr, StringAttr> names_;
};

bool Pushdown::moveWhole(FilterOp filter, Operation *input) {
  auto op = dyn_cast<RelationalOpInterface>(input);
  if (!op || !cannotFail(filter)) {
    return false;
  }
  builder_.setInsertionPoint(input);
  if (auto below = dyn_cast<FilterOp>(input)) {
    if (!cannotFail(below)) {
      return false;
    }
    FilterOp both =
        splice(below.getLoc(), below.getInput(), {below, filter},
               [](RegionBuilder &inside, StringAttr name) { return inside.column(name); });
    replace(filter, both);
    replace(below, both);
    return true;
  }
  auto columns = llvm::to_vector(filter.getColumns().getAsRange<StringAttr>());
  std::optional<ColumnsBelow> below = ColumnsBelow::of(op, columns);
  if (!below) {
    return false;
  }
  if (auto join = dyn_cast<JoinOp>(input)) {
    copyToPartners(join, below->operand, conjunctsIn(filter));
    builder_.setInsertionPoint(input);
  }
  Value first = predicateOf(filter).value;
  while (auto all = first.getDefiningOp<AndOp>()) {
    first = all.getOperand(0);
  }
  FilterOp moved =
      splice(first.getLoc(), input->getOperand(below->operand), filter,
             [&](RegionBuilder &inside, StringAttr name) { return below->in(inside, name); });
  input->setOperand(below->operand, moved);
  replace(filter, input->getResult(0));
  return true;
}

SmallVector<Expression> Pushdown::through(FilterOp op, ArrayRef<Expression> conjuncts) {
  SmallVector<Expression> rest;
  SmallVector<Expression> moved =
      take(conjuncts, rest, [](const Expression &conjunct) { return !canFail(conjunct); });
  if (moved.empty()) {
    return rest;
  }
  SmallVector<Expression> both = conjunctsOf(predicateOf(op));
  ExpressionSet known;
  known.insertAll(both);
  llvm::copy_if(moved, std::back_inserter(both),
                [&](const Expression &conjunct) { return known.insert(conjunct); });
  Value merged = withConjuncts(builder_, op, both);
  pending_.insert(merged.getDefiningOp());
  replace(op, merged);
  return rest;
}

SmallVector<Expression> Pushdown::through(ProjectOp op, ArrayRef<Expression> conjuncts) {
  SmallVector<Expression> rest;
  SmallVector<Expression> moved = take(conjuncts, rest, [&](const Expression &conjunct) {
    return !canFail(conjunct) && llvm::all_of(columnsOf(conjunct), [&](StringAttr name) {
      Expression computed = computedBy(op, name);
      return !computed.value || !canFail(computed);
    });
  });
  if (moved.empty()) {
    return rest;
  }
  builder_.setInsertionPoint(op);
  Location location = moved.front().value.getLoc();
  auto filter = FilterOp::create(builder_, location, op.getInput().getType(), op.getInput(),
                                 builder_.getArrayAttr({}));
  RegionBuilder inside(builder_, filter.getPredicate(), op.getInput().getType());
  SmallVector<Value> booleans;
  for (const Expression &conjunct : moved) {
    booleans.push_back(copyThrough(inside, op, conjunct));
  }
  inside.yield(location, inside.allOf(location, booleans));
  filter.setColumnsAttr(inside.columns());
  op.getInputMutable().assign(filter);
  pending_.insert(filter);
  return rest;
}

/// The other side's key for a key column; null if it is none.
StringAttr partnerOf(StringAttr column, ArrayAttr keys, ArrayAttr partners) {
  for (auto [key, partner] : llvm::zip_equal(keys, partners)) {
    if (key == column) {
      return cast<StringAttr>(partner);
    }
  }
  return {};
}

void Pushdown::copyToPartners(JoinOp join, unsigned side, ArrayRef<Expression> conjuncts) {
  // What is known of a key holds for its partner, where a row must have one.
  JoinKind kind = join.getKind();
  bool holds = side == 0
                   ? filtersBelow(join, 0) && !join.getNullAware()
                   : llvm::is_contained({JoinKind::Inner, JoinKind::Semi, JoinKind::Right}, kind);
  if (!holds) {
    return;
  }
  ArrayAttr keys = side == 0 ? join.getLeftKeys() : join.getRightKeys();
  ArrayAttr partners = side == 0 ? join.getRightKeys() : join.getLeftKeys();
  auto from = cast<TableType>(join->getOperand(side).getType());
  auto to = cast<TableType>(join->getOperand(1 - side).getType());
  SmallVector<Expression> copies;
  for (const Expression &conjunct : conjuncts) {
    if (copiesLeft_ == 0) {
      break;
    }
    ColumnSet columns = columnsOf(conjunct);
    bool fits = !columns.empty() && llvm::all_of(columns, [&](StringAttr name) {
      StringAttr partner = partnerOf(name, keys, partners);
      // The types of the copied ops depend on the column's nullability.
      return partner && from.getColumnType(name) == to.getColumnType(partner);
    });
    if (fits) {
      --copiesLeft_;
      copies.push_back(conjunct);
    }
  }
  insertRenamedBelow(join, 1 - side, copies,
                     [&](StringAttr name) { return partnerOf(name, keys, partners); });
}

/// `a = b` with a column of the left and one of the right side.
std::optional<std::pair<StringAttr, StringAttr>> equalColumns(const Expression &conjunct,
                                                              JoinOp join) {
  auto compare = conjunct.value.getDefiningOp<CompareOp>();
  if (!compare || compare.getKind() != CompareKind::Eq) {
    return std::nullopt;
  }
  StringAttr a = asColumn(conjunct.with(compare.getLhs()));
  StringAttr b = asColumn(conjunct.with(compare.getRhs()));
  if (!a || !b) {
    return std::nullopt;
  }
  TableType left = join.getLeft().getType();
  TableType right = join.getRight().getType();
  if (!left.hasColumn(a)) {
    std::swap(a, b);
  }
  if (!left.hasColumn(a) || !right.hasColumn(b) ||
      !isSameValueType(left.getColumnType(a), right.getColumnType(b))) {
    return std::nullopt;
  }
  return std::pair(a, b);
}

/// What a conjunct says of a mark join's mark, if it is about it alone: NULL is neither.
std::optional<bool> wantedMark(JoinOp join, const Expression &conjunct) {
  StringAttr mark = join.getMark().name;
  if (asColumn(conjunct) == mark) {
    return true;
  }
  auto negation = conjunct.value.getDefiningOp<NotOp>();
  return negation && asColumn(conjunct.with(negation.getOperand())) == mark ? std::optional(false)
                                                                            : std::nullopt;
}

void addKeys(JoinOp join, ArrayRef<Expression> equalities) {
  if (equalities.empty()) {
    return;
  }
  SmallVector<Attribute> left(join.getLeftKeys().getValue());
  SmallVector<Attribute> right(join.getRightKeys().getValue());
  for (const Expression &equality : equalities) {
    auto [a, b] = *equalColumns(equality, join);
    left.push_back(a);
    right.push_back(b);
  }
  join.setLeftKeysAttr(ArrayAttr::get(join.getContext(), left));
  join.setRightKeysAttr(ArrayAttr::get(join.getContext(), right));
  if (join.getNullSafe()) {
    SmallVector<bool> flags(*join.getNullSafe());
    flags.resize(left.size());
    join.setNullSafeAttr(nullSafeAttr(join.getContext(), flags));
  }
}

SmallVector<Expression> Pushdown::through(JoinOp op, ArrayRef<Expression> conjuncts) {
  if (op.getKind() == JoinKind::Mark) {
    for (auto [index, conjunct] : llvm::enumerate(conjuncts)) {
      if (std::optional<bool> wanted = wantedMark(op, conjunct)) {
        keepMarked(op, *wanted);
        SmallVector<Expression> rest(conjuncts);
        rest.erase(rest.begin() + static_cast<ptrdiff_t>(index));
        return rest;
      }
    }
  }
  bool intoLeft = filtersBelow(op, 0);
  bool intoRight = filtersBelow(op, 1);
  TableType left = op.getLeft().getType();
  TableType right = op.getRight().getType();
  SmallVector<Expression> rest;
  auto within = [](TableType table) {
    return [table](const Expression &conjunct) {
      ColumnSet columns = columnsOf(conjunct);
      return !canFail(conjunct) && !columns.empty() && coveredBy(columns, table);
    };
  };
  SmallVector<Expression> toLeft;
  SmallVector<Expression> toRight;
  SmallVector<Expression> remaining(conjuncts);
  if (intoLeft) {
    rest.clear();
    toLeft = take(remaining, rest, within(left));
    remaining = rest;
  }
  if (intoRight) {
    rest.clear();
    toRight = take(remaining, rest, within(right));
    remaining = rest;
  }
  SmallVector<Expression> keys;
  if (op.getKind() == JoinKind::Inner) {
    rest.clear();
    keys = take(remaining, rest,
                [&](const Expression &conjunct) { return equalColumns(conjunct, op).has_value(); });
    remaining = rest;
  }
  addKeys(op, keys);
  copyToPartners(op, 0, toLeft);
  copyToPartners(op, 1, toRight);
  insertBelow(op, 0, toLeft);
  insertBelow(op, 1, toRight);
  return remaining;
}

void Pushdown::keepMarked(JoinOp op, bool wanted) {
  builder_.setInsertionPoint(op);
  auto result = JoinOp::create(
      builder_, op.getLoc(), op.getLeft().getType(), wanted ? JoinKind::Semi : JoinKind::Anti,
      op.getLeft(), op.getRight(), op.getLeftKeys(), op.getRightKeys(), op.getNullSafeAttr(),
      op.getResidualColumnsAttr(), !wanted && op.getNullAware());
  result.getResidual().takeBody(op.getResidual());
  // Who still reads the mark reads what it is known to be.
  Column mark = op.getMark();
  SmallVector<Attribute> kept = llvm::to_vector_of<Attribute>(op.getLeft().getType().getNames());
  auto project =
      ProjectOp::create(builder_, op.getLoc(), op.getType(), result, builder_.getArrayAttr(kept),
                        builder_.getArrayAttr({mark.name}), builder_.getArrayAttr({}));
  RegionBuilder inside(builder_, project.getExpressions(), result.getType());
  inside.yield(op.getLoc(), ConstantOp::create(inside.builder(), op.getLoc(), mark.type,
                                               builder_.getBoolAttr(wanted))
                                .getResult());
  pending_.insert(result);
  replace(op, project);
}

/// The column of an operand that column `name` of the result is, if it has the same type there: the
/// copied ops depend on it.
StringAttr sourceOf(ArrayRef<PassedColumn> passed, TableType result, StringAttr name,
                    OpOperand &operand) {
  auto type = cast<TableType>(operand.get().getType());
  for (const PassedColumn &one : passed) {
    if (one.operand == operand.getOperandNumber() && one.to == name &&
        type.getColumnType(one.from) == result.getColumnType(name)) {
      return one.from;
    }
  }
  return {};
}

SmallVector<Expression> Pushdown::through(RelationalOpInterface op,
                                          ArrayRef<Expression> conjuncts) {
  SmallVector<PassedColumn> passed = op.getPassedColumns();
  auto result = cast<TableType>(op->getResult(0).getType());
  SmallVector<Expression> rest;
  SmallVector<Expression> moved = take(conjuncts, rest, [&](const Expression &conjunct) {
    ColumnSet columns = columnsOf(conjunct);
    return !canFail(conjunct) && op.letsConditionsThrough(columns.getArrayRef()) &&
           llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
             return llvm::all_of(columns, [&](StringAttr name) {
               return sourceOf(passed, result, name, operand) != nullptr;
             });
           });
  });
  for (OpOperand &operand : op->getOpOperands()) {
    if (op.getSpareColumns() != SpareColumns::kExact) { // its columns keep their names
      insertBelow(op, operand.getOperandNumber(), moved);
      continue;
    }
    insertRenamedBelow(op, operand.getOperandNumber(), moved,
                       [&](StringAttr name) { return sourceOf(passed, result, name, operand); });
  }
  return rest;
}

void Pushdown::pushResidual(JoinOp join) {
  if (!join.hasResidual() || join.getNullAware()) {
    return; // of the latter, also pairs of which the condition is NULL count
  }
  // A condition on the match may be checked before it on a side whose rows only come out when they
  // match, or (the other side) only serve to match.
  JoinKind kind = join.getKind();
  bool intoRight = kind != JoinKind::Right && kind != JoinKind::Full;
  bool intoLeft = kind == JoinKind::Inner || kind == JoinKind::Semi || kind == JoinKind::Right;
  SmallVector<Expression> conjuncts = conjunctsOf(residualOf(join));
  SmallVector<Expression> toLeft;
  SmallVector<Expression> toRight;
  SmallVector<Expression> keys;
  SmallVector<Expression> rest;
  for (const Expression &conjunct : conjuncts) {
    ColumnSet columns = columnsOf(conjunct);
    bool total = !canFail(conjunct) && !columns.empty();
    if (total && intoLeft && coveredBy(columns, join.getLeft().getType())) {
      toLeft.push_back(conjunct);
    } else if (total && intoRight && coveredBy(columns, join.getRight().getType())) {
      toRight.push_back(conjunct);
    } else if (equalColumns(conjunct, join)) {
      keys.push_back(conjunct);
    } else {
      rest.push_back(conjunct);
    }
  }
  if (rest.size() == conjuncts.size()) {
    return;
  }
  insertBelow(join, 0, toLeft);
  insertBelow(join, 1, toRight);
  JoinOp result = withResidual(builder_, join, rest);
  addKeys(result, keys);
  replace(join, result);
}

struct PushdownPass : optimize::impl::OptimizePushdownBase<PushdownPass> {
  void runOnOperation() override {
    Pushdown(&getContext()).run(getOperation());
    for (Block &block : getOperation().getBody()) {
      tidyBlock(block); // a scalar subquery may now be used before the place where it stood
    }
  }
};

} // namespace
