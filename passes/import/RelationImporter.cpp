// Substrait relations as ops of `frame`: all but joins and aggregates.
#include "passes/import/RelationImporter.h"

#include "dialects/frame/FrameConstants.h"
#include "mlir/IR/Builders.h"
#include "passes/import/Statistics.h"
#include "passes/import/SubstraitTypes.h"

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::substrait;
namespace frame = headrace::frame;

SmallVector<frame::Column> Relation::columns() const {
  SmallVector<frame::Column> columns;
  for (StringAttr field : fields) {
    columns.push_back({field, typeOf(field)});
  }
  return columns;
}

RelationImporter::RelationImporter(OpBuilder &builder, const ImportOptions &options,
                                   llvm::DenseMap<int64_t, std::string> functions)
    : builder(builder), options(options), usedNames(options.takenNames) {
  environment.context = builder.getContext();
  environment.functions = std::move(functions);
  environment.importScalarSubquery = [this](Node relation) {
    return importScalarSubquery(relation);
  };
  environment.importRowCount = [this](Node relation) { return importRowCount(relation); };
}

StringAttr RelationImporter::uniqueName(StringRef wanted) {
  std::string name = wanted.empty() ? "column" : wanted.str();
  for (unsigned suffix = 1; !usedNames.insert(name).second; ++suffix) {
    name = (wanted + "_" + Twine(suffix)).str();
  }
  return builder.getStringAttr(name);
}

Location RelationImporter::locate(Node node, StringRef text) const {
  Location path = NameLoc::get(StringAttr::get(environment.context, node.pathText()));
  return NameLoc::get(StringAttr::get(environment.context, text), path);
}

//===----------------------------------------------------------------------===//
// Any relation
//===----------------------------------------------------------------------===//

FailureOr<Relation> RelationImporter::importRelation(Node relation) {
  SubstraitNestingGuard guard(environment);
  if (failed(guard.check(relation))) {
    return failure();
  }
  StringRef kind;
  Node body = relation.only(
      {"read", "filter", "project", "join", "cross", "aggregate", "sort", "fetch", "set"}, kind);
  if (!body) {
    return relation.fail("unsupported relation: " + relation.keysText());
  }
  FailureOr<Relation> result = importByKind(relation, kind, body);
  if (failed(result) || kind == "project") { // a project's emit is part of it
    return result;
  }
  return applyEmit(body, *result);
}

FailureOr<Relation> RelationImporter::importByKind(Node relation, StringRef kind, Node body) {
  if (kind == "read") {
    return importRead(body);
  }
  if (kind == "filter") {
    return importFilter(body);
  }
  if (kind == "project") {
    return importProject(body);
  }
  if (kind == "join") {
    return importJoin(body);
  }
  if (kind == "cross") {
    return importCross(body);
  }
  if (kind == "aggregate") {
    return importAggregate(body);
  }
  if (kind == "sort") {
    return importSort(body);
  }
  return kind == "fetch" ? importFetch(body) : importSet(body);
}

FailureOr<Relation> RelationImporter::importInput(Node body, StringRef key) {
  Node input = body.get(key);
  if (!input) {
    return body.fail("expected a relation under " + key);
  }
  return importRelation(input);
}

/// The positions that a relation puts out; nothing if it puts out all.
static FailureOr<std::optional<SmallVector<int64_t>>> outputMapping(Node body, size_t count) {
  Node emit = body.get("common").get("emit");
  if (!emit) {
    return std::optional<SmallVector<int64_t>>();
  }
  SmallVector<int64_t> mapping;
  for (Node entry : emit.get("outputMapping").elements()) {
    std::optional<int64_t> index = entry.integer();
    if (!index || *index < 0 || *index >= static_cast<int64_t>(count)) {
      return entry.fail("output column is not one of the " + Twine(count) + " of the relation");
    }
    mapping.push_back(*index);
  }
  return std::optional(mapping);
}

FailureOr<Relation> RelationImporter::applyEmit(Node body, Relation relation) {
  FailureOr<std::optional<SmallVector<int64_t>>> mapping =
      outputMapping(body, relation.fields.size());
  if (failed(mapping)) {
    return failure();
  }
  if (*mapping) {
    SmallVector<StringAttr> fields;
    for (int64_t index : **mapping) {
      fields.push_back(relation.fields[index]);
    }
    relation.fields = std::move(fields);
  }
  return prune(std::move(relation), locate(body, "columns"));
}

/// A projection that only keeps columns.
static Value keepColumns(OpBuilder &builder, Location location, Value table,
                         ArrayRef<frame::Column> columns) {
  SmallVector<Attribute> kept;
  for (const frame::Column &column : columns) {
    kept.push_back(column.name);
  }
  ArrayAttr none = builder.getArrayAttr({});
  auto type = frame::TableType::get(builder.getContext(), columns);
  auto project = frame::ProjectOp::create(builder, location, type, table,
                                          builder.getArrayAttr(kept), none, none);
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&project.getExpressions());
  frame::YieldOp::create(builder, location, ValueRange());
  return project.getResult();
}

Relation RelationImporter::prune(Relation relation, Location location) {
  SmallVector<frame::Column> columns;
  llvm::SmallPtrSet<Attribute, 16> seen;
  for (const frame::Column &column : relation.columns()) {
    if (seen.insert(column.name).second) {
      columns.push_back(column);
    }
  }
  if (columns.size() != relation.type().getNumColumns()) {
    relation.table = keepColumns(builder, location, relation.table, columns);
  }
  return relation;
}

Relation RelationImporter::withExactColumns(Relation relation, Location location) {
  llvm::SmallPtrSet<Attribute, 16> seen;
  SmallVector<frame::Column> columns;
  SmallVector<Attribute> kept;
  SmallVector<Attribute> computed;
  SmallVector<Attribute> used;
  SmallVector<unsigned> copies; // for each computed column, the position in `used`
  for (StringAttr &field : relation.fields) {
    Type type = relation.typeOf(field);
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
    columns.push_back({field, type});
  }
  auto type = frame::TableType::get(builder.getContext(), columns);
  if (type == relation.type()) {
    return relation;
  }
  auto project =
      frame::ProjectOp::create(builder, location, type, relation.table, builder.getArrayAttr(kept),
                               builder.getArrayAttr(computed), builder.getArrayAttr(used));
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&project.getExpressions());
  for (Attribute name : used) {
    block->addArgument(relation.typeOf(cast<StringAttr>(name)), location);
  }
  SmallVector<Value> values;
  for (unsigned position : copies) {
    values.push_back(block->getArgument(position));
  }
  frame::YieldOp::create(builder, location, values);
  relation.table = project.getResult();
  return relation;
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

FailureOr<Relation> RelationImporter::importRead(Node read) {
  if (Node table = read.get("virtualTable")) {
    return importVirtualTable(read, table);
  }
  SmallVector<Node> names = read.get("namedTable").get("names").elements();
  std::optional<StringRef> table = names.empty() ? std::nullopt : names.back().string();
  if (!table) {
    return read.fail("expected namedTable or virtualTable");
  }
  if (Node filter = read.get("filter")) {
    return filter.fail("unsupported filter inside a read");
  }
  Node schema = read.get("baseSchema");
  SmallVector<Node> fileColumns = schema.get("names").elements();
  SmallVector<Node> fileTypes = schema.get("struct").get("types").elements();
  if (fileColumns.size() != fileTypes.size()) {
    return schema.fail("expected as many names as types (nested types are not supported)");
  }
  SmallVector<int64_t> selected;
  if (Node select = read.get("projection").get("select")) {
    for (Node item : select.get("structItems").elements()) {
      FailureOr<int64_t> field = item.get("field").integerOr(0);
      if (failed(field)) {
        return failure();
      }
      if (*field < 0 || *field >= static_cast<int64_t>(fileColumns.size())) {
        return item.fail("column is not in the schema: " + Twine(*field));
      }
      selected.push_back(*field);
    }
  } else {
    selected.append(llvm::to_vector(llvm::seq<int64_t>(0, fileColumns.size())));
  }
  Relation relation;
  llvm::DenseMap<int64_t, StringAttr> known;
  SmallVector<Attribute> fileNames;
  SmallVector<frame::Column> columns;
  for (int64_t index : selected) {
    StringAttr &name = known[index];
    if (!name) {
      std::optional<StringRef> fileName = fileColumns[index].string();
      Type type = importType(environment.context, fileTypes[index]);
      if (!fileName || !type) {
        return fileColumns[index].fail("expected a column name");
      }
      name = uniqueName(*fileName);
      fileNames.push_back(builder.getStringAttr(*fileName));
      columns.push_back({name, type});
    }
    relation.fields.push_back(name);
  }
  llvm::SmallPtrSet<Attribute, 16> distinct(fileNames.begin(), fileNames.end());
  if (distinct.size() != fileNames.size()) {
    return schema.fail("column names of a table must be unique");
  }
  auto type = frame::TableType::get(environment.context, columns);
  relation.table = frame::ScanOp::create(
      builder, locate(read, "table " + table->str()), type, builder.getStringAttr(*table),
      builder.getArrayAttr(fileNames), statisticsOf(*table, fileNames, type));
  return relation;
}

DictionaryAttr RelationImporter::statisticsOf(StringRef table, ArrayRef<Attribute> columns,
                                              frame::TableType type) {
  auto document = options.statistics.find(table);
  return document == options.statistics.end()
             ? DictionaryAttr()
             : TableDocument(document->second).statistics(environment.context, columns, type);
}

FailureOr<Relation> RelationImporter::importVirtualTable(Node read, Node table) {
  Node schema = read.get("baseSchema");
  SmallVector<Node> names = schema.get("names").elements();
  SmallVector<Node> types = schema.get("struct").get("types").elements();
  if (names.size() != types.size()) {
    return schema.fail("expected as many names as types");
  }
  Relation relation;
  SmallVector<frame::Column> columns;
  for (auto [name, typeNode] : llvm::zip_equal(names, types)) {
    std::optional<StringRef> text = name.string();
    Type type = importType(environment.context, typeNode);
    if (!text || !type) {
      return name.fail("expected a column name");
    }
    columns.push_back({uniqueName(*text), type});
    relation.fields.push_back(columns.back().name);
  }
  // SELECT without FROM has a row without columns; a table has one at least.
  bool bare = columns.empty();
  if (bare) {
    columns.push_back({uniqueName("row"), builder.getI32Type()});
  }
  SmallVector<Attribute> rows;
  for (Node row : table.get("expressions").elements()) {
    SmallVector<Node> cells = row.get("fields").elements();
    if (bare && cells.empty()) {
      rows.push_back(builder.getArrayAttr({builder.getI32IntegerAttr(0)}));
      continue;
    }
    if (cells.size() != columns.size() || bare) {
      return row.fail("expected one value per column, got " + Twine(cells.size()));
    }
    SmallVector<Attribute> values;
    for (auto [cell, column] : llvm::zip_equal(cells, columns)) {
      FailureOr<ConstantValue> constant = importLiteral(environment.context, cell.get("literal"));
      if (failed(constant)) {
        return failure();
      }
      if (!frame::isLiteralOf(constant->value, column.type)) {
        return cell.fail("value does not have the type of its column");
      }
      values.push_back(constant->value);
    }
    rows.push_back(builder.getArrayAttr(values));
  }
  relation.table = frame::ValuesOp::create(builder, locate(read, "values"),
                                           frame::TableType::get(environment.context, columns),
                                           builder.getArrayAttr(rows));
  return relation;
}

//===----------------------------------------------------------------------===//
// Row by row
//===----------------------------------------------------------------------===//

FailureOr<Relation> RelationImporter::importFilter(Node filter) {
  FailureOr<Relation> input = importInput(filter, "input");
  if (failed(input)) {
    return failure();
  }
  ExpressionImporter expressions(environment, input->columns());
  FailureOr<Expression> condition = expressions.importExpression(filter.get("condition"));
  if (failed(condition)) {
    return failure();
  }
  if (!frame::isBoolean(condition->value.getType())) {
    return filter.fail("the condition must be boolean");
  }
  Location location = expressions.locate(filter, "filter " + condition->text);
  std::unique_ptr<Region> region = expressions.finish(condition->value, location);
  auto op = frame::FilterOp::create(builder, location, input->type(), input->table,
                                    expressions.columns());
  op.getPredicate().takeBody(*region);
  input->table = op.getResult();
  return input;
}

/// A word for a computed column: the called function, or the kind of expression.
static std::string nameOf(const ExpressionEnvironment &environment, Node expression) {
  Node call = expression.get("scalarFunction");
  auto function = environment.functions.find(call.get("functionReference").integer().value_or(0));
  if (call && function != environment.functions.end()) {
    return function->second;
  }
  StringRef key;
  (void)expression.only({"literal", "cast", "ifThen", "singularOrList", "subquery"}, key);
  return llvm::StringSwitch<std::string>(key)
      .Case("ifThen", "case")
      .Case("singularOrList", "in")
      .Case("literal", "constant")
      .Default(key.str());
}

FailureOr<Relation> RelationImporter::addColumns(Relation input, ArrayRef<frame::Column> fields,
                                                 ArrayRef<Node> expressions, Node where,
                                                 SmallVectorImpl<StringAttr> &names,
                                                 ArrayRef<Node> conditions) {
  ExpressionImporter importer(environment, fields);
  SmallVector<frame::Column> columns = input.type().getColumns();
  SmallVector<Attribute> kept;
  for (const frame::Column &column : columns) {
    kept.push_back(column.name);
  }
  SmallVector<Attribute> computed;
  SmallVector<Value> values;
  std::string text = "columns";
  for (auto [position, expression] : llvm::enumerate(expressions)) {
    bool guarded = !conditions.empty() && conditions[position];
    std::optional<int64_t> index = guarded ? std::nullopt : fieldIndex(expression);
    if (index && *index >= 0 && *index < static_cast<int64_t>(fields.size())) {
      names.push_back(fields[*index].name);
      continue;
    }
    FailureOr<Expression> value = guarded ? importer.importGuarded(conditions[position], expression)
                                          : importer.importExpression(expression);
    if (failed(value)) {
      return failure();
    }
    names.push_back(uniqueName(guarded ? "filtered" : nameOf(environment, expression)));
    computed.push_back(names.back());
    columns.push_back({names.back(), value->value.getType()});
    values.push_back(value->value);
    text += (values.size() == 1 ? " " : ", ") + value->text;
  }
  if (values.empty()) {
    return input;
  }
  Location location = importer.locate(where, text);
  std::unique_ptr<Region> region = importer.finish(values, location);
  auto op = frame::ProjectOp::create(
      builder, location, frame::TableType::get(environment.context, columns), input.table,
      builder.getArrayAttr(kept), builder.getArrayAttr(computed), importer.columns());
  op.getExpressions().takeBody(*region);
  input.table = op.getResult();
  return input;
}

FailureOr<Relation> RelationImporter::importProject(Node project) {
  FailureOr<Relation> input = importInput(project, "input");
  if (failed(input)) {
    return failure();
  }
  SmallVector<Node> all = project.get("expressions").elements();
  size_t inputs = input->fields.size();
  FailureOr<std::optional<SmallVector<int64_t>>> mapping =
      outputMapping(project, inputs + all.size());
  if (failed(mapping)) {
    return failure();
  }
  // Only what is put out is computed.
  SmallVector<int64_t> outputs =
      *mapping ? **mapping : llvm::to_vector(llvm::seq<int64_t>(0, inputs + all.size()));
  SmallVector<Node> expressions;
  for (int64_t output : outputs) {
    if (output >= static_cast<int64_t>(inputs)) {
      expressions.push_back(all[output - inputs]);
    }
  }
  SmallVector<StringAttr> names;
  FailureOr<Relation> result = addColumns(*input, input->columns(), expressions, project, names);
  if (failed(result)) {
    return failure();
  }
  SmallVector<StringAttr> fields;
  auto next = names.begin();
  for (int64_t output : outputs) {
    fields.push_back(output < static_cast<int64_t>(inputs) ? input->fields[output] : *next++);
  }
  result->fields = std::move(fields);
  auto op = result->table.getDefiningOp<frame::ProjectOp>();
  bool justMade = result->table != input->table;
  if (!justMade) {
    return prune(*result, locate(project, "columns"));
  }
  // Narrow the projection that was just made instead of adding a second one.
  llvm::SmallPtrSet<Attribute, 16> wanted(result->fields.begin(), result->fields.end());
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
  op.getResult().setType(frame::TableType::get(environment.context, columns));
  return result;
}

//===----------------------------------------------------------------------===//
// Orders, limits, unions, subqueries
//===----------------------------------------------------------------------===//

FailureOr<Relation> RelationImporter::importSort(Node sort) {
  FailureOr<Relation> input = importInput(sort, "input");
  if (failed(input)) {
    return failure();
  }
  SmallVector<Node> sorts = sort.get("sorts").elements();
  SmallVector<Node> expressions;
  for (Node key : sorts) {
    expressions.push_back(key.get("expr"));
  }
  SmallVector<StringAttr> names;
  FailureOr<Relation> relation = addColumns(*input, input->columns(), expressions, sort, names);
  if (failed(relation)) {
    return failure();
  }
  SmallVector<Attribute> keys;
  llvm::SmallPtrSet<Attribute, 4> seen;
  for (auto [key, name] : llvm::zip_equal(sorts, names)) {
    StringRef direction = key.get("direction").string().value_or("");
    if (!direction.consume_front("SORT_DIRECTION_")) {
      return key.fail("expected a sort direction");
    }
    bool known = llvm::is_contained(
        {"ASC_NULLS_FIRST", "ASC_NULLS_LAST", "DESC_NULLS_FIRST", "DESC_NULLS_LAST"}, direction);
    if (!known) {
      return key.fail("unsupported sort direction: " + direction);
    }
    if (seen.insert(name).second) { // a key decides where it stands first
      keys.push_back(frame::SortKeyAttr::get(
          environment.context, name,
          direction.starts_with("ASC") ? frame::SortDirection::Asc : frame::SortDirection::Desc,
          direction.ends_with("FIRST") ? frame::NullsOrder::First : frame::NullsOrder::Last));
    }
  }
  if (keys.empty()) {
    return sort.fail("expected at least one sort key");
  }
  Location location = locate(sort, "order by");
  relation->table = frame::SortOp::create(builder, location, relation->type(), relation->table,
                                          builder.getArrayAttr(keys));
  return prune(*relation, location);
}

/// The literal count of a fetch; `ifAbsent` if there is none.
static FailureOr<int64_t> fetchNumber(Node fetch, StringRef expression, StringRef plain,
                                      int64_t ifAbsent) {
  Node node = fetch.get(expression);
  if (!node) {
    return fetch.get(plain).integerOr(ifAbsent);
  }
  StringRef key;
  std::optional<int64_t> number =
      node.get("literal").only({"i64", "i32", "i16", "i8"}, key).integer();
  if (!number || *number < 0) {
    return node.fail("expected a literal that is not negative");
  }
  return *number;
}

FailureOr<Relation> RelationImporter::importFetch(Node fetch) {
  FailureOr<Relation> input = importInput(fetch, "input");
  if (failed(input)) {
    return failure();
  }
  FailureOr<int64_t> count = fetchNumber(fetch, "countExpr", "count", -1);
  FailureOr<int64_t> offset = fetchNumber(fetch, "offsetExpr", "offset", 0);
  if (failed(count) || failed(offset)) {
    return failure();
  }
  IntegerAttr countAttr = *count < 0 ? IntegerAttr() : builder.getI64IntegerAttr(*count);
  input->table =
      frame::LimitOp::create(builder, locate(fetch, "limit"), input->type(), input->table,
                             builder.getI64IntegerAttr(*offset), countAttr);
  return input;
}

FailureOr<Relation> RelationImporter::importSet(Node set) {
  StringRef operation = set.get("op").string().value_or("");
  if (operation != "SET_OP_UNION_ALL") {
    return set.fail("unsupported set operation: " + operation);
  }
  Location location = locate(set, "union all");
  SmallVector<Value> tables;
  SmallVector<Relation> relations;
  for (Node node : set.get("inputs").elements()) {
    FailureOr<Relation> input = importRelation(node);
    if (failed(input)) {
      return failure();
    }
    relations.push_back(withExactColumns(*input, location));
    tables.push_back(relations.back().table);
    if (relations.back().fields.size() != relations.front().fields.size()) {
      return node.fail("inputs of a union must have as many columns as each other");
    }
  }
  if (relations.empty()) {
    return set.fail("expected inputs");
  }
  if (relations.size() == 1) {
    return relations.front();
  }
  Relation result;
  SmallVector<frame::Column> columns;
  for (auto [index, field] : llvm::enumerate(relations.front().fields)) {
    SmallVector<Type> types;
    for (const Relation &relation : relations) {
      types.push_back(relation.type().getColumnTypes()[index]);
    }
    Type type = frame::withNullability(types.front(), frame::nullabilityOf(types));
    columns.push_back({uniqueName(field.getValue()), type});
    result.fields.push_back(columns.back().name);
  }
  result.table = frame::UnionOp::create(
      builder, location, frame::TableType::get(environment.context, columns), tables);
  return result;
}

FailureOr<Value> RelationImporter::importScalarSubquery(Node relation) {
  FailureOr<Relation> input = importRelation(relation);
  if (failed(input)) {
    return failure();
  }
  Location location = locate(relation, "scalar subquery");
  if (input->fields.size() != 1) {
    return relation.fail("a scalar subquery must have one column, got " +
                         Twine(input->fields.size()));
  }
  Relation exact = withExactColumns(*input, location);
  Type type = frame::addNullable(exact.type().getColumnTypes().front());
  return Value(frame::ScalarSubqueryOp::create(builder, location, type, exact.table));
}

FailureOr<Value> RelationImporter::importRowCount(Node relation) {
  FailureOr<Relation> input = importRelation(relation);
  if (failed(input)) {
    return failure();
  }
  Location location = locate(relation, "EXISTS");
  Value one = frame::LimitOp::create(builder, location, input->type(), input->table,
                                     builder.getI64IntegerAttr(0), builder.getI64IntegerAttr(1));
  StringAttr name = uniqueName("rows");
  Type i64 = builder.getI64Type();
  auto measure =
      frame::MeasureAttr::get(environment.context, frame::AggregateFunction::CountStar, {}, name);
  Value count = frame::AggregateOp::create(
      builder, location, frame::TableType::get(environment.context, {{name, i64}}), one,
      builder.getArrayAttr({}), builder.getArrayAttr({measure}));
  return Value(frame::ScalarSubqueryOp::create(builder, location, frame::addNullable(i64), count));
}
