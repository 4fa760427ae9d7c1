// Relations of any front end: all but joins and aggregates.
#include "passes/import/RelationBuilder.h"

#include "dialects/frame/FrameConstants.h"

using namespace mlir;
using namespace headrace::import;
namespace frame = headrace::frame;

static SmallVector<frame::Column> columnsOf(frame::TableType table, ArrayRef<StringAttr> names) {
  llvm::DenseMap<StringAttr, Type> types;
  for (const frame::Column &column : table.getColumns()) {
    types[column.name] = column.type;
  }
  SmallVector<frame::Column> columns;
  for (StringAttr name : names) {
    columns.push_back({name, types.lookup(name)});
  }
  return columns;
}

SmallVector<frame::Column> Relation::columns() const { return columnsOf(type(), fields); }

SmallVector<frame::Column> Relation::identityColumns() const { return columnsOf(type(), identity); }

RelationBuilder::RelationBuilder(ImportContext &context, OpBuilder &builder,
                                 const ImportOptions &options)
    : context(context), builder(builder), usedNames(options.takenNames) {
  for (const auto &[table, text] : options.statistics) {
    documents.try_emplace(table, text);
  }
}

StringAttr RelationBuilder::uniqueName(StringRef wanted) {
  std::string base = wanted.empty() ? "column" : wanted.str();
  std::string name = base;
  for (unsigned &suffix = suffixes[base]; !usedNames.insert(name).second;) {
    name = base + "_" + std::to_string(++suffix);
  }
  return builder.getStringAttr(name);
}

Relation headrace::import::withFieldsOf(Value table, ArrayRef<frame::Column> columns) {
  Relation relation{table, {}};
  for (const frame::Column &column : columns) {
    relation.fields.push_back(column.name);
  }
  return relation;
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

FailureOr<Type> RelationBuilder::columnType(StringRef table, StringRef column, Type type,
                                            Location at) {
  auto document = documents.find(table);
  if (document == documents.end()) {
    return frame::addNullable(type);
  }
  StringRef refusal = document->second.refusal(column);
  if (!refusal.empty()) {
    return context.fail(at, "table " + table + ", column " + column + ": " + refusal);
  }
  return document->second.isNeverNull(column) ? type : frame::addNullable(type);
}

/// Rows with greater values come later. The column has no NULL.
static frame::SortKeyAttr ascending(StringAttr column) {
  return frame::SortKeyAttr::get(column.getContext(), column, frame::SortDirection::Asc,
                                 frame::NullsOrder::Last);
}

Relation RelationBuilder::scan(StringRef table, ArrayRef<ScanColumn> columns, Location at) {
  Relation relation;
  llvm::StringMap<StringAttr> known;
  SmallVector<Attribute> fileNames;
  SmallVector<frame::Column> found;
  StringAttr ordinal = rowsInOrder || rowsIdentified ? uniqueName("row") : StringAttr();
  for (const ScanColumn &column : columns) {
    if (column.ordinal) {
      ordinal = ordinal ? ordinal : uniqueName(column.name);
      relation.fields.push_back(ordinal);
      continue;
    }
    StringAttr &name = known[column.name];
    if (!name) {
      name = uniqueName(column.name);
      fileNames.push_back(builder.getStringAttr(column.name));
      found.push_back({name, column.type});
    }
    relation.fields.push_back(name);
  }
  if (ordinal) {
    found.push_back({ordinal, builder.getI64Type()});
  }
  if (rowsInOrder) {
    relation.order = {ascending(ordinal)};
  }
  if (rowsIdentified) {
    relation.identity = {ordinal};
  }
  auto type = frame::TableType::get(context.getContext(), found);
  auto document = documents.find(table);
  DictionaryAttr statistics;
  ArrayAttr resident;
  if (document != documents.end()) {
    if (std::optional<std::vector<std::string>> keys = document->second.residentKeys()) {
      SmallVector<StringRef> names(keys->begin(), keys->end());
      resident = builder.getStrArrayAttr(names);
    }
    statistics = document->second.statistics(context.getContext(), fileNames,
                                             type.getColumnTypes().take_front(fileNames.size()));
  }
  relation.table = frame::ScanOp::create(
      builder, locate(("table " + table).str(), at), type, builder.getStringAttr(table),
      builder.getArrayAttr(fileNames), ordinal != nullptr, resident, statistics);
  return relation;
}

MaybeRelation RelationBuilder::values(ArrayRef<ScanColumn> columns,
                                      ArrayRef<SmallVector<Attribute>> rows, Location at) {
  SmallVector<frame::Column> made;
  for (const ScanColumn &column : columns) {
    made.push_back({uniqueName(column.name), column.type});
  }
  Relation relation = withFieldsOf({}, made);
  const bool identified = rowsIdentified && rows.size() > 1;
  bool numbered = made.empty() || rowsInOrder || identified;
  if (numbered) {
    made.push_back({uniqueName("row"), builder.getI64Type()});
  }
  if (rowsInOrder) {
    relation.order = {ascending(made.back().name)};
  }
  if (identified) {
    relation.identity = {made.back().name};
  }
  SmallVector<Attribute> lists;
  for (ArrayRef<Attribute> row : rows) {
    if (row.size() != columns.size()) {
      return context.fail(at, "expected one value per column, got " + Twine(row.size()));
    }
    SmallVector<Attribute> cells(row);
    if (numbered) {
      cells.push_back(builder.getI64IntegerAttr(static_cast<int64_t>(lists.size())));
    }
    for (auto [cell, column] : llvm::zip_equal(cells, made)) {
      if (!frame::isLiteralOf(cell, column.type)) {
        return context.fail(at, "value does not have the type of its column");
      }
    }
    lists.push_back(builder.getArrayAttr(cells));
  }
  relation.table = frame::ValuesOp::create(builder, locate("values", at),
                                           frame::TableType::get(context.getContext(), made),
                                           builder.getArrayAttr(lists));
  return relation;
}

//===----------------------------------------------------------------------===//
// Values that are equal, or in order, by others
//===----------------------------------------------------------------------===//

/// The expression with something else made of it; itself if it is a field of another type.
static Computed byOther(const Computed &expression, ArrayRef<frame::Column> fields,
                        bool (*concerns)(Type), Computed::Made other, Location at) {
  const frame::Column *column = expression.columnIn(fields);
  if (column && !concerns(column->type)) {
    return expression;
  }
  Computed made = expression.with(other, at);
  if (column && made.name.empty()) {
    made.name = column->name.str();
  }
  return made;
}

Computed RelationBuilder::equalBy(const Computed &expression, ArrayRef<frame::Column> fields,
                                  Location at) {
  return byOther(expression, fields, frame::hasIntervals, &ExpressionBuilder::equalityOf, at);
}

SortKey RelationBuilder::orderBy(const SortKey &key, ArrayRef<frame::Column> fields, Location at) {
  auto concerns = [](Type type) { return frame::isNested(type) || frame::isInterval(type); };
  return {byOther(key.expression, fields, concerns, &ExpressionBuilder::orderOf, at), key.direction,
          key.nulls};
}

//===----------------------------------------------------------------------===//
// Row by row
//===----------------------------------------------------------------------===//

MaybeRelation RelationBuilder::filter(Relation input, const BuildExpression &predicate,
                                      Location at) {
  ExpressionBuilder expressions(context, input.columns(), input.table, input.identityColumns());
  MaybeExpression condition = predicate(expressions);
  if (failed(condition) || failed(expressions.expectBoolean(*condition, "the condition", at))) {
    return failure();
  }
  Location location = locate("filter " + condition->text, at);
  std::unique_ptr<Region> region = expressions.finish(condition->value, location);
  auto op =
      frame::FilterOp::create(builder, location, input.type(), input.table, expressions.columns());
  op.getPredicate().takeBody(*region);
  input.table = op.getResult();
  return input;
}

MaybeRelation RelationBuilder::addColumns(Relation input, ArrayRef<frame::Column> fields,
                                          ArrayRef<Computed> expressions,
                                          SmallVectorImpl<StringAttr> &names, Location at) {
  ExpressionBuilder builderOfRegion(context, fields, input.table, input.identityColumns());
  SmallVector<frame::Column> columns = input.type().getColumns();
  SmallVector<Attribute> kept = llvm::to_vector_of<Attribute>(input.type().getNames());
  SmallVector<Attribute> computed;
  SmallVector<Value> values;
  std::string text = "columns";
  for (const Computed &expression : expressions) {
    if (const frame::Column *column = expression.columnIn(fields)) {
      names.push_back(column->name);
      continue;
    }
    MaybeExpression value = expression.build(builderOfRegion);
    if (failed(value)) {
      return failure();
    }
    names.push_back(uniqueName(expression.name));
    computed.push_back(names.back());
    columns.push_back({names.back(), value->type()});
    values.push_back(value->value);
    if (text.size() < 1000) {
      text += (values.size() == 1 ? " " : ", ") + value->text;
    }
  }
  if (values.empty()) {
    return input;
  }
  Location location = locate(text, at);
  std::unique_ptr<Region> region = builderOfRegion.finish(values, location);
  auto op = frame::ProjectOp::create(
      builder, location, frame::TableType::get(context.getContext(), columns), input.table,
      builder.getArrayAttr(kept), builder.getArrayAttr(computed), builderOfRegion.columns());
  op.getExpressions().takeBody(*region);
  input.table = op.getResult();
  return input;
}

MaybeRelation RelationBuilder::project(const Relation &input, ArrayRef<Computed> expressions,
                                       Location at) {
  SmallVector<StringAttr> names;
  MaybeRelation result = addColumns(input, input.columns(), expressions, names, at);
  if (failed(result)) {
    return failure();
  }
  result->fields = std::move(names);
  if (result->table == input.table) {
    return prune(*result, locate("columns", at));
  }
  // Narrow the projection that was just made instead of adding a second one.
  auto op = result->table.getDefiningOp<frame::ProjectOp>();
  llvm::SmallPtrSet<Attribute, 16> wanted(result->fields.begin(), result->fields.end());
  for (auto key : llvm::map_range(result->order, llvm::CastTo<frame::SortKeyAttr>)) {
    wanted.insert(key.getColumn());
  }
  wanted.insert(result->identity.begin(), result->identity.end());
  SmallVector<frame::Column> columns;
  for (const frame::Column &column : result->type().getColumns()) {
    if (wanted.contains(column.name)) {
      columns.push_back(column);
    }
  }
  SmallVector<Attribute> kept;
  for (Attribute name : op.getKept()) {
    if (wanted.contains(name)) {
      kept.push_back(name);
    }
  }
  op.setKeptAttr(builder.getArrayAttr(kept));
  op.getResult().setType(frame::TableType::get(context.getContext(), columns));
  return result;
}

Relation RelationBuilder::select(Relation input, ArrayRef<int64_t> fields, Location at) {
  SmallVector<StringAttr> names;
  for (int64_t field : fields) {
    names.push_back(input.fields[field]);
  }
  input.fields = std::move(names);
  return prune(std::move(input), locate("columns", at));
}

/// A projection that only keeps columns.
Value RelationBuilder::keepColumns(Value table, ArrayRef<frame::Column> columns, Location at) {
  SmallVector<Attribute> kept;
  for (const frame::Column &column : columns) {
    kept.push_back(column.name);
  }
  ArrayAttr none = builder.getArrayAttr({});
  auto project =
      frame::ProjectOp::create(builder, at, frame::TableType::get(context.getContext(), columns),
                               table, builder.getArrayAttr(kept), none, none);
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&project.getExpressions());
  frame::YieldOp::create(builder, at, ValueRange());
  return project.getResult();
}

Relation RelationBuilder::prune(Relation relation, Location at) {
  SmallVector<frame::Column> columns;
  llvm::SmallPtrSet<Attribute, 16> seen;
  for (const frame::Column &column : relation.columns()) {
    if (seen.insert(column.name).second) {
      columns.push_back(column);
    }
  }
  for (auto key : llvm::map_range(relation.order, llvm::CastTo<frame::SortKeyAttr>)) {
    if (seen.insert(key.getColumn()).second) {
      columns.push_back({key.getColumn(), relation.typeOf(key.getColumn())});
    }
  }
  for (StringAttr name : relation.identity) {
    if (seen.insert(name).second) {
      columns.push_back({name, relation.typeOf(name)});
    }
  }
  if (columns.size() != relation.type().getNumColumns()) {
    relation.table = keepColumns(relation.table, columns, at);
  }
  return relation;
}

MaybeRelation RelationBuilder::withExactColumns(Relation relation, Location at) {
  llvm::SmallPtrSet<Attribute, 16> seen;
  SmallVector<frame::Column> columns;
  SmallVector<Attribute> kept;
  SmallVector<Attribute> computed;
  SmallVector<Attribute> used;
  SmallVector<unsigned> copies; // for each computed column, the position in `used`
  for (auto [field, column] : llvm::zip_equal(relation.fields, relation.columns())) {
    if (seen.insert(field).second) {
      kept.push_back(field);
    } else { // a second use of a column is a copy
      auto position = llvm::find(used, Attribute(field));
      copies.push_back(position - used.begin());
      if (position == used.end()) {
        used.push_back(field);
      }
      field = uniqueName(field.getValue());
      computed.push_back(field);
    }
    columns.push_back({field, column.type});
  }
  relation.forgetOrder();
  relation.identity.clear();
  auto type = frame::TableType::get(context.getContext(), columns);
  if (type == relation.type()) {
    return relation;
  }
  auto project =
      frame::ProjectOp::create(builder, at, type, relation.table, builder.getArrayAttr(kept),
                               builder.getArrayAttr(computed), builder.getArrayAttr(used));
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&project.getExpressions());
  for (Attribute name : used) {
    block->addArgument(relation.typeOf(cast<StringAttr>(name)), at);
  }
  SmallVector<Value> values;
  for (unsigned position : copies) {
    values.push_back(block->getArgument(position));
  }
  frame::YieldOp::create(builder, at, values);
  relation.table = project.getResult();
  return relation;
}

Relation RelationBuilder::rename(const Relation &input, Location at) {
  llvm::DenseMap<StringAttr, StringAttr> names;
  SmallVector<frame::Column> columns;
  for (const frame::Column &column : input.type().getColumns()) {
    columns.push_back({uniqueName(column.name.getValue()), column.type});
    names[column.name] = columns.back().name;
  }
  Relation result;
  result.table = frame::RenameOp::create(
      builder, at, frame::TableType::get(context.getContext(), columns), input.table);
  for (StringAttr field : input.fields) {
    result.fields.push_back(names.lookup(field));
  }
  for (auto key : llvm::map_range(input.order, llvm::CastTo<frame::SortKeyAttr>)) {
    result.order.push_back(frame::SortKeyAttr::get(
        context.getContext(), names.lookup(key.getColumn()), key.getDirection(), key.getNulls()));
  }
  for (StringAttr name : input.identity) {
    result.identity.push_back(names.lookup(name));
  }
  result.sorted = input.sorted;
  result.shown = input.shown;
  return result;
}

//===----------------------------------------------------------------------===//
// Orders, limits, unions, subqueries
//===----------------------------------------------------------------------===//

SmallVector<Attribute> RelationBuilder::sortKeys(ArrayRef<SortKey> keys,
                                                 ArrayRef<StringAttr> names) {
  SmallVector<Attribute> attributes;
  llvm::SmallPtrSet<Attribute, 4> seen;
  for (auto [key, name] : llvm::zip_equal(keys, names)) {
    if (seen.insert(name).second) {
      attributes.push_back(
          frame::SortKeyAttr::get(context.getContext(), name, key.direction, key.nulls));
    }
  }
  return attributes;
}

MaybeRelation RelationBuilder::sort(const Relation &input, ArrayRef<SortKey> keys, Location at) {
  SmallVector<Computed> expressions;
  for (const SortKey &key : keys) {
    expressions.push_back(orderBy(key, input.columns(), at).expression);
  }
  SmallVector<StringAttr> names;
  MaybeRelation relation = addColumns(input, input.columns(), expressions, names, at);
  if (failed(relation)) {
    return failure();
  }
  SmallVector<Attribute> attributes = sortKeys(keys, names);
  if (attributes.empty()) {
    return context.fail(at, "expected at least one sort key", ImportError::Kind::kMalformed);
  }
  Location location = locate("order by", at);
  relation->table = frame::SortOp::create(builder, location, relation->type(), relation->table,
                                          builder.getArrayAttr(attributes));
  relation->forgetOrder();
  if (rowsInOrder) {
    relation->order = std::move(attributes);
    relation->sorted = true;
  }
  return prune(*relation, location);
}

Relation RelationBuilder::putInOrder(Relation input, Location at) {
  if (!input.order.empty() && !input.sorted) {
    input.table = frame::SortOp::create(builder, locate("rows in order", at), input.type(),
                                        input.table, builder.getArrayAttr(input.order));
    input.sorted = true;
  }
  return input;
}

Relation RelationBuilder::limit(Relation input, int64_t offset, std::optional<int64_t> count,
                                Location at) {
  Location location = locate("limit", at);
  IntegerAttr skipped = builder.getI64IntegerAttr(offset);
  if (count) { // the rows in front and those wanted are counted together
    count = std::min(*count, std::numeric_limits<int64_t>::max() - offset);
  }
  IntegerAttr wanted = count ? builder.getI64IntegerAttr(*count) : IntegerAttr();
  const bool comesFromSort = isa_and_nonnull<frame::SortOp>(input.table.getDefiningOp());
  if (count && !input.order.empty() && !comesFromSort) {
    input.table = frame::TopKOp::create(builder, location, input.type(), input.table,
                                        builder.getArrayAttr(input.order), skipped, wanted);
    input.sorted = true;
    return input;
  }
  input = putInOrder(std::move(input), location);
  input.table =
      frame::LimitOp::create(builder, location, input.type(), input.table, skipped, wanted);
  return input;
}

SmallVector<SortKey> RelationBuilder::showOrder(Relation &input, Location at) {
  SmallVector<SortKey> keys;
  for (auto key : llvm::map_range(input.order, llvm::CastTo<frame::SortKeyAttr>)) {
    keys.push_back({Computed::ofField(static_cast<int64_t>(input.fields.size()), at),
                    key.getDirection(), key.getNulls()});
    input.fields.push_back(key.getColumn());
  }
  return keys;
}

SmallVector<Computed> headrace::import::allFields(const Relation &relation, Location at) {
  SmallVector<Computed> fields;
  for (size_t field = 0; field < relation.fields.size(); ++field) {
    fields.push_back(Computed::ofField(static_cast<int64_t>(field), at));
  }
  return fields;
}

MaybeRelation RelationBuilder::distinct(Relation input, Location at) {
  Location location = locate("distinct", at);
  input.forgetOrder();
  input = prune(std::move(input), location);
  if (rowsIdentified || llvm::any_of(input.type().getColumnTypes(), frame::hasIntervals)) {
    return aggregate(input, allFields(input, location), {}, location);
  }
  input.table = frame::DistinctOp::create(builder, location, input.type(), input.table);
  return input;
}

FailureOr<Value> RelationBuilder::scalar(const Relation &input, Location at) {
  Location location = locate("scalar subquery", at);
  if (input.fields.size() != 1) {
    return context.fail(at, "a scalar subquery must have one column, got " +
                                Twine(input.fields.size()));
  }
  MaybeRelation exact = withExactColumns(input, location);
  if (failed(exact)) {
    return failure();
  }
  Type type = frame::addNullable(exact->type().getColumnTypes().front());
  return Value(frame::ScalarSubqueryOp::create(builder, location, type, exact->table));
}
