// Expressions of filters, projects and joins as values that passes move about.
#include "passes/optimize/expressions.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::optimize;
using namespace headrace::frame;

SmallVector<Expression> headrace::optimize::yieldedBy(Region &region, ArrayAttr columns) {
  SmallVector<Expression> result;
  for (Value value : cast<YieldOp>(region.front().getTerminator()).getValues()) {
    result.push_back({value, &region, columns});
  }
  return result;
}

Expression headrace::optimize::predicateOf(FilterOp filter) {
  return yieldedBy(filter.getPredicate(), filter.getColumns()).front();
}

Expression headrace::optimize::residualOf(JoinOp join) {
  return yieldedBy(join.getResidual(), *join.getResidualColumns()).front();
}

template <typename LogicOp>
static void flatten(const Expression &expression, SmallVectorImpl<Expression> &parts) {
  auto logic = expression.value.getDefiningOp<LogicOp>();
  if (!logic) {
    parts.push_back(expression);
    return;
  }
  for (Value operand : logic.getOperands()) {
    flatten<LogicOp>(expression.with(operand), parts);
  }
}

SmallVector<Expression> headrace::optimize::conjunctsOf(const Expression &predicate) {
  SmallVector<Expression> parts;
  flatten<AndOp>(predicate, parts);
  return parts;
}

SmallVector<Expression> headrace::optimize::disjunctsOf(const Expression &predicate) {
  SmallVector<Expression> parts;
  flatten<OrOp>(predicate, parts);
  return parts;
}

/// The op of `expression`'s region that defines its value; null for arguments and scalars from
/// outside.
static Operation *innerOp(const Expression &expression) {
  Operation *op = expression.value.getDefiningOp();
  return op && op->getParentRegion() == expression.region ? op : nullptr;
}

void headrace::optimize::addColumnsOf(const Expression &expression, ColumnSet &columns) {
  if (auto argument = dyn_cast<BlockArgument>(expression.value)) {
    if (argument.getParentRegion() == expression.region) {
      columns.insert(expression.columnOf(argument));
    }
    return;
  }
  if (Operation *op = innerOp(expression)) {
    for (Value operand : op->getOperands()) {
      addColumnsOf(expression.with(operand), columns);
    }
  }
}

ColumnSet headrace::optimize::columnsOf(const Expression &expression) {
  ColumnSet columns;
  addColumnsOf(expression, columns);
  return columns;
}

bool headrace::optimize::canFail(const Expression &expression) {
  Operation *op = innerOp(expression);
  if (!op) {
    return false;
  }
  if (!isPure(op)) { // no side effects, but not speculatable
    // Adding nullability alone is a cast that cannot fail.
    auto cast = dyn_cast<CastOp>(op);
    if (!cast || !isSameValueType(cast.getOperand().getType(), cast.getResult().getType())) {
      return true;
    }
  }
  return llvm::any_of(op->getOperands(),
                      [&](Value operand) { return canFail(expression.with(operand)); });
}

StringAttr headrace::optimize::asColumn(const Expression &expression) {
  auto argument = dyn_cast<BlockArgument>(expression.value);
  bool inside = argument && argument.getParentRegion() == expression.region;
  return inside ? expression.columnOf(argument) : StringAttr();
}

bool headrace::optimize::isSame(const Expression &a, const Expression &b) {
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
      left->getPropertiesAsAttribute() != right->getPropertiesAsAttribute()) {
    return false;
  }
  return llvm::all_of(llvm::zip_equal(left->getOperands(), right->getOperands()), [&](auto pair) {
    return isSame(a.with(std::get<0>(pair)), b.with(std::get<1>(pair)));
  });
}

bool headrace::optimize::coveredBy(const ColumnSet &columns, TableType table) {
  return llvm::all_of(columns, [&](StringAttr name) { return table.hasColumn(name); });
}

//===----------------------------------------------------------------------===//
// RegionBuilder
//===----------------------------------------------------------------------===//

RegionBuilder::RegionBuilder(OpBuilder &builder, Region &region, ArrayRef<TableType> tables)
    : inner_(builder.getContext()), tables_(tables) {
  block_ = &region.emplaceBlock();
  inner_.setInsertionPointToEnd(block_);
}

Value RegionBuilder::column(StringAttr name) {
  if (columns_.insert(name)) {
    Type type;
    for (TableType table : tables_) {
      type = type ? type : table.getColumnType(name);
    }
    block_->addArgument(type, inner_.getUnknownLoc());
  }
  auto position = llvm::find(columns_, name) - columns_.begin();
  return block_->getArgument(position);
}

Value RegionBuilder::copyValue(Value value, const Expression &expression,
                               llvm::function_ref<Value(StringAttr)> replaced, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value)) {
    return known;
  }
  Value result = value; // a scalar from outside stays
  if (StringAttr name = asColumn(expression.with(value))) {
    result = replaced ? replaced(name) : Value();
    result = result ? result : column(name);
  } else if (Operation *op = innerOp(expression.with(value))) {
    for (Value operand : op->getOperands()) {
      copyValue(operand, expression, replaced, mapping);
    }
    result = inner_.clone(*op, mapping)->getResult(0);
  }
  mapping.map(value, result);
  return result;
}

Value RegionBuilder::copy(const Expression &expression,
                          llvm::function_ref<Value(StringAttr)> replaced) {
  // What several expressions of one region share is copied once.
  IRMapping fresh;
  return copyValue(expression.value, expression, replaced, replaced ? fresh : copied_);
}

template <typename LogicOp>
static Value combined(OpBuilder &builder, Location location, ValueRange booleans) {
  if (booleans.size() == 1) {
    return booleans.front();
  }
  Type type = withNullability(builder.getI1Type(), nullabilityOf(booleans.getTypes()));
  return LogicOp::create(builder, location, type, booleans);
}

Value RegionBuilder::allOf(Location location, ValueRange booleans) {
  return combined<AndOp>(inner_, location, booleans);
}

Value RegionBuilder::anyOf(Location location, ValueRange booleans) {
  return combined<OrOp>(inner_, location, booleans);
}

void RegionBuilder::yield(Location location, ValueRange values) {
  YieldOp::create(inner_, location, values);
}

ArrayAttr RegionBuilder::columns() {
  return inner_.getArrayAttr(llvm::to_vector_of<Attribute>(columns_));
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

ProjectOp headrace::optimize::createKeep(OpBuilder &builder, Location location, Value input,
                                         ArrayRef<StringAttr> names) {
  auto from = cast<TableType>(input.getType());
  SmallVector<Column> columns;
  SmallVector<Attribute> kept;
  for (StringAttr name : names) {
    columns.push_back({name, from.getColumnType(name)});
    kept.push_back(name);
  }
  ArrayAttr none = builder.getArrayAttr({});
  auto project = ProjectOp::create(builder, location, TableType::get(builder.getContext(), columns),
                                   input, builder.getArrayAttr(kept), none, none);
  RegionBuilder(builder, project.getExpressions(), from).yield(location, {});
  return project;
}

/// A project whose region is still to be filled; `computed` are the names in its order.
static ProjectOp createEmptyProject(OpBuilder &builder, Location location, Value input,
                                    TableType type, ArrayRef<StringAttr> computed) {
  SmallVector<Attribute> kept;
  for (StringAttr name : type.getNames()) {
    if (!llvm::is_contained(computed, name)) {
      kept.push_back(name);
    }
  }
  return ProjectOp::create(builder, location, type, input, builder.getArrayAttr(kept),
                           builder.getArrayAttr(llvm::to_vector_of<Attribute>(computed)),
                           builder.getArrayAttr({}));
}

ProjectOp headrace::optimize::createProject(OpBuilder &builder, Location location, Value input,
                                            TableType type, ArrayRef<StringAttr> computed,
                                            ArrayRef<Expression> values) {
  ProjectOp project = createEmptyProject(builder, location, input, type, computed);
  RegionBuilder inside(builder, project.getExpressions(), cast<TableType>(input.getType()));
  SmallVector<Value> yielded;
  for (const Expression &value : values) {
    yielded.push_back(inside.copy(value));
  }
  inside.yield(location, yielded);
  project.setColumnsAttr(inside.columns());
  return project;
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
  ProjectOp result = createEmptyProject(builder, outer.getLoc(), inner.getInput(),
                                        outer.getResult().getType(), computed);
  RegionBuilder inside(builder, result.getExpressions(), inner.getInput().getType());
  SmallVector<Value> yielded;
  for (StringAttr name : computed) {
    Expression value = computedBy(outer, name);
    yielded.push_back(value.value ? copyThrough(inside, inner, value)
                                  : inside.copy(computedBy(inner, name)));
  }
  inside.yield(outer.getLoc(), yielded);
  result.setColumnsAttr(inside.columns());
  return result;
}

JoinOp headrace::optimize::withResidual(OpBuilder &builder, JoinOp join,
                                        ArrayRef<Expression> conjuncts) {
  builder.setInsertionPoint(join);
  auto result = JoinOp::create(builder, join.getLoc(), join.getResult().getType(), join.getKind(),
                               join.getLeft(), join.getRight(), join.getLeftKeys(),
                               join.getRightKeys(), join.getNullSafeAttr(), ArrayAttr(),
                               join.getNullAware());
  if (!conjuncts.empty()) {
    result.setResidualColumnsAttr(
        fillPredicate(builder, join.getLoc(), result.getResidual(),
                      {join.getLeft().getType(), join.getRight().getType()}, conjuncts));
  }
  return result;
}

Expression headrace::optimize::computedBy(ProjectOp project, StringAttr column) {
  SmallVector<Expression> values = yieldedBy(project.getExpressions(), project.getColumns());
  for (auto [name, value] : llvm::zip_equal(project.getComputed(), values)) {
    if (name == column) {
      return value;
    }
  }
  return {};
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
