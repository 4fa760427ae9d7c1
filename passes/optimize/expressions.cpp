// Expressions of filters, projects and joins as values that passes move about.
#include "passes/optimize/expressions.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/Visitors.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::optimize;
using namespace headrace::frame;

Expression headrace::optimize::predicateOf(FilterOp filter) {
  return yieldedBy(filter.getPredicate(), filter.getColumns()).front();
}

Expression headrace::optimize::residualOf(JoinOp join) {
  return yieldedBy(join.getResidual(), *join.getResidualColumns()).front();
}

/// The leaves of a tree of LogicOps, from left to right, each once.
template <typename LogicOp> static SmallVector<Expression> flatten(const Expression &expression) {
  SmallVector<Expression> parts;
  SmallVector<Value> open{expression.value};
  llvm::SmallPtrSet<Value, 8> seen;
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (!seen.insert(value).second) {
      continue;
    }
    if (auto logic = value.getDefiningOp<LogicOp>()) {
      llvm::append_range(open, llvm::reverse(logic.getOperands()));
    } else {
      parts.push_back(expression.with(value));
    }
  }
  return parts;
}

SmallVector<Expression> headrace::optimize::conjunctsOf(const Expression &predicate) {
  return flatten<AndOp>(predicate);
}

SmallVector<Expression> headrace::optimize::disjunctsOf(const Expression &predicate) {
  return flatten<OrOp>(predicate);
}

bool headrace::optimize::isWidening(Type from, Type to) {
  from = dropNullable(from);
  to = dropNullable(to);
  if (from == to) {
    return true; // adds nullability alone
  }
  if (isNested(from)) {
    return isHeldAlike(from, to);
  }
  if (isBoolean(from) || isFloat(from)) {
    return isNumeric(to) && (isBoolean(from) ? !isDecimal(to) : to.isF64());
  }
  if (isInteger(from) && isInteger(to)) {
    return signedBits(from) <= signedBits(to) && (isUnsigned(from) || !isUnsigned(to));
  }
  if (!isInteger(from) && !isDecimal(from)) {
    return false;
  }
  if (isFloat(to)) {
    return true; // perhaps rounded, but there is one
  }
  auto target = dyn_cast<DecimalType>(to);
  if (!target) {
    return false;
  }
  auto decimal = dyn_cast<DecimalType>(from);
  unsigned bits = signedBits(from);
  unsigned scale = decimal ? decimal.getScale() : 0;
  unsigned digits = decimal     ? decimal.getPrecision() - scale
                    : bits > 65 ? 39
                    : bits > 64 ? 20
                    : bits > 33 ? 19
                    : bits > 17 ? 10
                    : bits > 9  ? 5
                                : 3;
  return target.getScale() >= scale && target.getPrecision() - target.getScale() >= digits;
}

/// Whether this op alone can raise an error.
static bool canFailItself(Operation *op) {
  if (isPure(op)) {
    return false;
  }
  if (auto cast = dyn_cast<CastOp>(op)) {
    return !cast.getOrNull() &&
           !isWidening(cast.getOperand().getType(), cast.getResult().getType());
  }
  // Floats follow IEEE 754 and never fail.
  return !isa<AddOp, SubtractOp, MultiplyOp, DivideOp, ModulusOp, NegateOp, NumberOp>(op) ||
         !isFloat(op->getResult(0).getType());
}

bool headrace::optimize::canFail(const Expression &expression) {
  bool fails = false;
  walkValues(expression, [&](Value value) {
    Operation *op = innerOp(expression.with(value));
    fails = op && canFailItself(op);
    return fails ? WalkResult::interrupt() : WalkResult::advance();
  });
  return fails;
}

static bool isSame(const Expression &a, const Expression &b,
                   llvm::DenseSet<std::pair<Value, Value>> &same) {
  if (!same.insert({a.value, b.value}).second) {
    return true; // compared before
  }
  StringAttr column = asColumn(a);
  if (column || asColumn(b)) {
    return column == asColumn(b);
  }
  Operation *left = innerOp(a);
  Operation *right = innerOp(b);
  if (!left || !right) {
    return a.value == b.value;
  }
  if (left->getName() != right->getName() || left->getResultTypes() != right->getResultTypes() ||
      left->getNumOperands() != right->getNumOperands() ||
      left->getDiscardableAttrDictionary() != right->getDiscardableAttrDictionary() ||
      !left->getName().compareOpProperties(left->getPropertiesStorage(),
                                           right->getPropertiesStorage()) ||
      !llvm::equal(left->getRegions(), right->getRegions(), [](Region &one, Region &other) {
        return OperationEquivalence::isRegionEquivalentTo(&one, &other,
                                                          OperationEquivalence::IgnoreLocations);
      })) {
    return false;
  }
  return llvm::all_of(llvm::zip_equal(left->getOperands(), right->getOperands()), [&](auto pair) {
    return isSame(a.with(std::get<0>(pair)), b.with(std::get<1>(pair)), same);
  });
}

bool headrace::optimize::isSame(const Expression &a, const Expression &b) {
  llvm::DenseSet<std::pair<Value, Value>> same;
  return ::isSame(a, b, same);
}

llvm::hash_code ExpressionSet::hash(const Expression &expression) const {
  auto known = hashes_.find(expression.value);
  if (known != hashes_.end()) {
    return known->second;
  }
  llvm::hash_code code = 0;
  Operation *op = innerOp(expression);
  if (StringAttr column = asColumn(expression)) {
    code = llvm::hash_value(column);
  } else if (op) {
    code = llvm::hash_combine(op->getName(), op->hashProperties());
    for (Value operand : op->getOperands()) {
      code = llvm::hash_combine(code, hash(expression.with(operand)));
    }
  } else {
    code = hash_value(expression.value);
  }
  hashes_[expression.value] = code;
  return code;
}

bool ExpressionSet::contains(const Expression &expression) const {
  auto found = byHash_.find(hash(expression));
  return found != byHash_.end() && llvm::any_of(found->second, [&](const Expression &other) {
           return isSame(other, expression);
         });
}

bool ExpressionSet::insert(const Expression &expression) {
  if (contains(expression)) {
    return false;
  }
  byHash_[hash(expression)].push_back(expression);
  return true;
}

void ExpressionSet::insertAll(ArrayRef<Expression> expressions) {
  for (const Expression &expression : expressions) {
    insert(expression);
  }
}

bool headrace::optimize::coveredBy(const ColumnSet &columns, TableType table) {
  return llvm::all_of(columns, [&](StringAttr name) { return table.hasColumn(name); });
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Fills a predicate region with the conjunction and returns its columns.
static ArrayAttr fillPredicate(OpBuilder &builder, Location location, Region &region,
                               ArrayRef<TableType> tables, ArrayRef<Expression> conjuncts) {
  RegionBuilder inside(builder, region, tables);
  SmallVector<Value> booleans;
  for (const Expression &conjunct : conjuncts) {
    booleans.push_back(inside.copy(conjunct));
  }
  inside.yield(location, inside.allOf(location, booleans));
  return inside.columns();
}

FilterOp headrace::optimize::createFilter(OpBuilder &builder, Location location, Value input,
                                          ArrayRef<Expression> conjuncts) {
  auto filter =
      FilterOp::create(builder, location, input.getType(), input, builder.getArrayAttr({}));
  filter.setColumnsAttr(fillPredicate(builder, location, filter.getPredicate(),
                                      cast<TableType>(input.getType()), conjuncts));
  return filter;
}

Value headrace::optimize::withConjuncts(OpBuilder &builder, FilterOp filter,
                                        ArrayRef<Expression> conjuncts) {
  if (conjuncts.empty()) {
    return filter.getInput();
  }
  builder.setInsertionPoint(filter);
  return createFilter(builder, filter.getLoc(), filter.getInput(), conjuncts);
}

Value headrace::optimize::copyThrough(RegionBuilder &inside, ProjectOp project,
                                      const Expression &expression) {
  llvm::DenseMap<StringAttr, Value> copied; // each computed column once
  return inside.copy(expression, [&](StringAttr name) -> Value {
    Expression computed = computedBy(project, name);
    if (!computed.value) {
      return {};
    }
    Value &value = copied[name];
    if (!value) {
      value = inside.copy(computed);
    }
    return value;
  });
}

ProjectOp headrace::optimize::composeProjects(OpBuilder &builder, ProjectOp inner,
                                              ProjectOp outer) {
  // What outer keeps of inner's computed columns is computed now.
  SmallVector<StringAttr> computed;
  for (StringAttr name : outer.getResult().getType().getNames()) {
    bool byOuter = llvm::is_contained(outer.getComputed(), Attribute(name));
    if (byOuter || computedBy(inner, name).value) {
      computed.push_back(name);
    }
  }
  return createProject(builder, outer.getLoc(), inner.getInput(), outer.getResult().getType(),
                       computed, [&](RegionBuilder &inside, StringAttr name) {
                         Expression value = computedBy(outer, name);
                         return value.value ? copyThrough(inside, inner, value)
                                            : inside.copy(computedBy(inner, name));
                       });
}

JoinOp headrace::optimize::withResidual(OpBuilder &builder, JoinOp join,
                                        ArrayRef<Expression> conjuncts) {
  builder.setInsertionPoint(join);
  auto result =
      JoinOp::create(builder, join.getLoc(), join.getResult().getType(), join.getKind(),
                     join.getLeft(), join.getRight(), join.getLeftKeys(), join.getRightKeys(),
                     join.getNullSafeAttr(), ArrayAttr(), join.getNullAware());
  if (!conjuncts.empty()) {
    result.setResidualColumnsAttr(
        fillPredicate(builder, join.getLoc(), result.getResidual(),
                      {join.getLeft().getType(), join.getRight().getType()}, conjuncts));
  }
  return result;
}

void headrace::optimize::tidyBlock(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    bool frameOp = isa_and_nonnull<FrameDialect>(op.getDialect());
    if (frameOp && op.use_empty() && op.getNumResults() > 0) {
      op.erase();
    }
  }
  sortTopologically(&block);
}
