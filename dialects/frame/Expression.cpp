// Expressions of filters, projects and joins as values: walked, copied, put into regions.
#include "dialects/frame/Expression.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::frame;

SmallVector<Expression> headrace::frame::yieldedBy(Region &region, ArrayAttr columns) {
  SmallVector<Expression> result;
  for (Value value : cast<YieldOp>(region.front().getTerminator()).getValues()) {
    result.push_back({value, &region, columns});
  }
  return result;
}

Operation *headrace::frame::innerOp(const Expression &expression) {
  Operation *op = expression.value.getDefiningOp();
  return op && op->getParentRegion() == expression.region ? op : nullptr;
}

void headrace::frame::walkValues(const Expression &expression,
                                 llvm::function_ref<WalkResult(Value)> visit) {
  SmallVector<Value> open{expression.value};
  llvm::SmallPtrSet<Value, 16> seen;
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (!seen.insert(value).second) {
      continue;
    }
    WalkResult result = visit(value);
    if (result.wasInterrupted()) {
      return;
    }
    if (Operation *op = innerOp(expression.with(value)); op && !result.wasSkipped()) {
      llvm::append_range(open, llvm::reverse(op->getOperands()));
    }
  }
}

void headrace::frame::addColumnsOf(const Expression &expression, ColumnSet &columns) {
  walkValues(expression, [&](Value value) {
    if (StringAttr column = asColumn(expression.with(value))) {
      columns.insert(column);
    }
    return WalkResult::advance();
  });
}

ColumnSet headrace::frame::columnsOf(const Expression &expression) {
  ColumnSet columns;
  addColumnsOf(expression, columns);
  return columns;
}

StringAttr headrace::frame::asColumn(const Expression &expression) {
  auto argument = dyn_cast<BlockArgument>(expression.value);
  bool inside = argument && argument.getParentRegion() == expression.region;
  return inside ? expression.columnOf(argument) : StringAttr();
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

Value RegionBuilder::copy(const Expression &expression,
                          llvm::function_ref<Value(StringAttr)> replaced) {
  // What several expressions of one region share is copied once.
  IRMapping fresh;
  IRMapping &mapping = replaced ? fresh : copied_;
  SmallVector<Operation *> ops;
  walkValues(expression, [&](Value value) {
    if (mapping.contains(value)) {
      return WalkResult::skip();
    }
    if (StringAttr name = asColumn(expression.with(value))) {
      Value result = replaced ? replaced(name) : Value();
      mapping.map(value, result ? result : column(name));
    } else if (Operation *op = innerOp(expression.with(value))) {
      ops.push_back(op);
    } else {
      mapping.map(value, value); // a scalar from outside stays
    }
    return WalkResult::advance();
  });
  llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : ops) {
    inner_.clone(*op, mapping);
  }
  return mapping.lookup(expression.value);
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
// Projects
//===----------------------------------------------------------------------===//

ProjectOp headrace::frame::createKeep(OpBuilder &builder, Location location, Value input,
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

ProjectOp
headrace::frame::createProject(OpBuilder &builder, Location location, Value input, TableType type,
                               ArrayRef<StringAttr> computed,
                               llvm::function_ref<Value(RegionBuilder &, StringAttr)> compute) {
  SmallVector<Attribute> kept;
  for (StringAttr name : type.getNames()) {
    if (!llvm::is_contained(computed, name)) {
      kept.push_back(name);
    }
  }
  auto project = ProjectOp::create(builder, location, type, input, builder.getArrayAttr(kept),
                                   builder.getArrayAttr(llvm::to_vector_of<Attribute>(computed)),
                                   builder.getArrayAttr({}));
  RegionBuilder inside(builder, project.getExpressions(), cast<TableType>(input.getType()));
  SmallVector<Value> values;
  for (StringAttr name : computed) {
    values.push_back(compute(inside, name));
  }
  inside.yield(location, values);
  project.setColumnsAttr(inside.columns());
  return project;
}

ProjectOp headrace::frame::createProject(OpBuilder &builder, Location location, Value input,
                                         TableType type, ArrayRef<StringAttr> computed,
                                         ArrayRef<Expression> values) {
  const Expression *next = values.begin();
  return createProject(builder, location, input, type, computed,
                       [&](RegionBuilder &inside, StringAttr) { return inside.copy(*next++); });
}

Expression headrace::frame::computedBy(ProjectOp project, StringAttr column) {
  SmallVector<Expression> values = yieldedBy(project.getExpressions(), project.getColumns());
  for (auto [name, value] : llvm::zip_equal(project.getComputed(), values)) {
    if (name == column) {
      return value;
    }
  }
  return {};
}
