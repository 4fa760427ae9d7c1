// Operators of DuckDB's plans: all but joins, aggregates, windows and sets.
#include "passes/import/duckdb/relations.h"

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::duckdb;
namespace frame = headrace::frame;

using Use = Field::Use;

RelationImporter::RelationImporter(ImportContext &context, RelationBuilder &builder,
                                   const ImportOptions &options, bool mayDraw)
    : context(context), builder(builder), options(options), expressions(context, options),
      mayDraw(mayDraw) {}

//===----------------------------------------------------------------------===//
// Any operator
//===----------------------------------------------------------------------===//

Location RelationImporter::locate(Node op) const {
  Location nowhere = UnknownLoc::get(context.getContext());
  SmallVector<Node> open;
  auto add = [&](Node node) {
    if (node.isArray()) {
      open.append(node.elements());
    } else if (node) {
      open.push_back(node);
    }
  };
  for (StringRef key : {"expressions", "groups", "conditions", "condition", "orders"}) {
    add(op.get(key));
  }
  constexpr size_t kLooksMax = 100;
  for (size_t at = 0; at < open.size() && at < kLooksMax; ++at) {
    Location found = expressions.locate(open[at], nowhere);
    if (found != nowhere) {
      return found;
    }
    for (StringRef key : {"children", "left", "right", "expression"}) {
      add(open[at].get(key));
    }
  }
  return nowhere;
}

LogicalResult RelationImporter::expectOnly(Node op, ArrayRef<Field> fields) {
  SmallVector<Field> all = {{"type", Use::kRead},
                            {"children", Use::kRead},
                            {"table_index", Use::kRead},
                            {"column_count", Use::kHarmless}};
  all.append(fields.begin(), fields.end());
  return expectFields(op, op.get("type").string().value_or("operator"), all, context, locate(op));
}

/// Whether an expression, or what it is in, calls random() or its like.
static bool callsRandom(Node node) {
  SmallVector<Node> open{node};
  while (!open.empty()) {
    Node next = open.pop_back_val();
    if (next.isArray()) {
      llvm::append_range(open, next.elements());
    } else if (next.isObject()) {
      if (isRandomFunction(nameOf(next))) {
        return true;
      }
      for (StringRef key : next.keys()) {
        open.push_back(next.get(key));
      }
    }
  }
  return false;
}

/// Whether the operator itself calls random(), or what reads its rows may.
static bool draws(Node op) {
  return op.get("type").string() == StringRef("LOGICAL_MATERIALIZED_CTE") ||
         llvm::any_of(op.keys(),
                      [&](StringRef key) { return key != "children" && callsRandom(op.get(key)); });
}

MaybeRelation RelationImporter::import(Node op) {
  NestingGuard guard(depth);
  if (failed(guard.check(context, UnknownLoc::get(context.getContext())))) {
    return failure();
  }
  std::optional<StringRef> type = op.get("type").string();
  if (!type) {
    return op.fail("expected an operator with a type");
  }
  using Import = MaybeRelation (RelationImporter::*)(Node);
  auto import = llvm::StringSwitch<Import>(*type)
                    .Case("LOGICAL_GET", &RelationImporter::importGet)
                    .Case("LOGICAL_FILTER", &RelationImporter::importFilter)
                    .Case("LOGICAL_PROJECTION", &RelationImporter::importProjection)
                    .Case("LOGICAL_AGGREGATE_AND_GROUP_BY", &RelationImporter::importAggregate)
                    .Case("LOGICAL_WINDOW", &RelationImporter::importWindow)
                    .Case("LOGICAL_UNNEST", &RelationImporter::importUnnest)
                    .Case("LOGICAL_ORDER_BY", &RelationImporter::importOrder)
                    .Case("LOGICAL_LIMIT", &RelationImporter::importLimit)
                    .Case("LOGICAL_DISTINCT", &RelationImporter::importDistinct)
                    .Case("LOGICAL_SAMPLE", &RelationImporter::importSample)
                    .Case("LOGICAL_POSITIONAL_JOIN", &RelationImporter::importPositionalJoin)
                    .Case("LOGICAL_COMPARISON_JOIN", &RelationImporter::importComparisonJoin)
                    .Case("LOGICAL_ASOF_JOIN", &RelationImporter::importNearestJoin)
                    .Case("LOGICAL_ANY_JOIN", &RelationImporter::importAnyJoin)
                    .Case("LOGICAL_CROSS_PRODUCT", &RelationImporter::importCrossProduct)
                    .Case("LOGICAL_UNION", &RelationImporter::importSetOperation)
                    .Case("LOGICAL_INTERSECT", &RelationImporter::importSetOperation)
                    .Case("LOGICAL_EXCEPT", &RelationImporter::importSetOperation)
                    .Case("LOGICAL_EXPRESSION_GET", &RelationImporter::importRows)
                    .Case("LOGICAL_DUMMY_SCAN", &RelationImporter::importDummy)
                    .Case("LOGICAL_EMPTY_RESULT", &RelationImporter::importEmpty)
                    .Case("LOGICAL_CHUNK_GET", &RelationImporter::importChunk)
                    .Case("LOGICAL_MATERIALIZED_CTE", &RelationImporter::importMaterializedCte)
                    .Case("LOGICAL_CTE_REF", &RelationImporter::importCteRef)
                    .Default(nullptr);
  if (import) {
    RelationBuilder::RowsIdentified identified(builder, mayDraw && draws(op));
    return (this->*import)(op);
  }
  StringRef meaning =
      llvm::StringSwitch<StringRef>(*type)
          .Case("LOGICAL_RECURSIVE_CTE", "WITH RECURSIVE in a plan; hr.sql runs it, round "
                                         "after round")
          .Case("LOGICAL_PIVOT", "PIVOT")
          .Default(*type);
  return context.fail(locate(op), "unsupported: " + meaning);
}

FailureOr<SmallVector<Relation>> RelationImporter::importChildren(Node op, size_t count) {
  SmallVector<Node> children = op.get("children").elements();
  if (children.size() != count) {
    return op.fail("expected " + Twine(count) + " inputs, got " + Twine(children.size()));
  }
  SmallVector<Relation> relations;
  for (Node child : children) {
    MaybeRelation relation = import(child);
    if (failed(relation)) {
      return failure();
    }
    relations.push_back(std::move(*relation));
  }
  return relations;
}

MaybeRelation RelationImporter::applyMap(Relation relation, Node map, Location at) {
  SmallVector<int64_t> fields;
  for (Node entry : map.elements()) {
    std::optional<int64_t> index = entry.integer();
    if (!index || *index < 0 || *index >= static_cast<int64_t>(relation.fields.size())) {
      return entry.fail("output column is not one of the " + Twine(relation.fields.size()) +
                        " of the relation");
    }
    fields.push_back(*index);
  }
  return fields.empty() ? relation : builder.select(relation, fields, at);
}

SmallVector<Node> RelationImporter::results(Node op) {
  // Down to the projection that names the columns.
  while (op && op.get("type").string() != StringRef("LOGICAL_PROJECTION")) {
    SmallVector<Node> children = op.get("children").elements();
    bool cte = op.get("type").string() == StringRef("LOGICAL_MATERIALIZED_CTE");
    op = children.empty() ? op.get("no child") : cte ? children.back() : children.front();
  }
  return op.get("expressions").elements();
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

/// `parameters`: what becomes of a table function's arguments.
LogicalResult RelationImporter::expectGet(Node op, Use parameters, StringRef what, Location at) {
  const Use described = parameters == Use::kRead ? Use::kHarmless : parameters; // by their values
  if (failed(expectOnly(op, {{"returned_types", Use::kRead},
                             {"names", Use::kRead},
                             {"projection_ids", Use::kRead},
                             {"table_filters", Use::kRead},
                             {"qname", Use::kRead},
                             {"has_serialize", Use::kHarmless},
                             {"function_data", Use::kRead},
                             {"arguments", described},
                             {"parameters", parameters},
                             {"named_parameters", Use::kEmpty},
                             {"input_table_types", described},
                             {"input_table_names", described},
                             {"projected_input", Use::kEmpty},
                             {"column_indexes", Use::kRead},
                             {"extra_info", Use::kRead},
                             {"ordinality_idx", Use::kHarmless}, // read with source_ordinality
                             {"row_group_order_options", Use::kEmpty},
                             {"scan_partition_indices", Use::kEmpty},
                             {"source_ordinality", Use::kDefault, "\"WITHOUT_ORDINALITY\""},
                             {"table_filters_by_projection", Use::kHarmless},
                             {"has_pushed_projection", Use::kEmpty},
                             {"at_clause", Use::kEmpty}})) ||
      failed(expectFields(op.get("extra_info"), what,
                          {{"file_filters", Use::kEmpty},
                           {"total_files", Use::kHarmless},
                           {"filtered_files", Use::kHarmless},
                           {"sample_options", Use::kEmpty},
                           {"file_filter_expressions", Use::kEmpty}},
                          context, at))) {
    return failure();
  }
  return expectFields(op.get("table_filters"), what,
                      {{"filters", parameters == Use::kRead ? Use::kEmpty : Use::kRead},
                       {"multi_column_filters", Use::kEmpty}},
                      context, at);
}

/// The rows of which no column is NULL that a scan asks for.
static MaybeRelation keepKnown(RelationBuilder &builder, MaybeRelation rows, Node op, Location at) {
  // DuckDB's optimizer, without which some plans have no JSON, leaves them to the scan.
  for (Node filter : op.get("table_filters").get("filters").elements()) {
    std::optional<uint64_t> column = filter.get("key").natural();
    StringRef type = filter.get("value").get("filter_type").string().value_or("");
    if (failed(rows)) {
      return failure();
    }
    if (!column || *column >= rows->fields.size() || type != "LEGACY_IS_NOT_NULL") {
      // no test: no query is known whose plan has another one
      return filter.refuse("unsupported filter of a table: " + type);
    }
    rows = builder.filter(
        *rows,
        [=](ExpressionBuilder &b) -> MaybeExpression {
          MaybeExpression value = b.field(static_cast<int64_t>(*column), at);
          return failed(value) ? value : b.isNotNull(*value, at);
        },
        at);
  }
  return rows;
}

MaybeRelation RelationImporter::importGet(Node op) {
  Location at = locate(op);
  Node data = op.get("function_data");
  std::optional<StringRef> table = data.get("table").string();
  if (!table) {
    return importTableFunction(op);
  }
  if (failed(expectGet(op, Use::kEmpty, "the table " + table->str(), at)) ||
      failed(expectFields(data, "the table " + table->str(),
                          {{"catalog", Use::kHarmless},
                           {"schema", Use::kHarmless},
                           {"table", Use::kRead},
                           {"is_index_scan", Use::kEmpty},
                           {"is_create_index", Use::kEmpty},
                           {"result_ids", Use::kEmpty},
                           {"qualified_name", Use::kHarmless}},
                          context, at))) {
    return failure();
  }
  SmallVector<Node> names = op.get("names").elements();
  SmallVector<Node> types = op.get("returned_types").elements();
  SmallVector<Node> indexes = op.get("column_indexes").elements();
  SmallVector<RelationBuilder::ScanColumn> columns;
  for (Node entry : indexes) {
    if (failed(expectFields(entry, "a column of " + table->str(),
                            {{"index", Use::kRead},
                             {"child_indexes", Use::kEmpty},
                             {"index_type", Use::kDefault, "\"FULL_READ\""},
                             {"type", Use::kHarmless},
                             {"field", Use::kEmpty},
                             {"has_index", Use::kHarmless}},
                            context, at))) {
      return failure();
    }
    std::optional<uint64_t> index = entry.get("index").natural();
    constexpr uint64_t kRowId = UINT64_MAX;
    if (index == kRowId) {
      columns.push_back({"rowid", IntegerType::get(context.getContext(), 64), /*ordinal=*/true});
      continue;
    }
    if (!index || *index >= names.size() || *index >= types.size()) {
      return context.fail(at, "unsupported column of table " + *table);
    }
    std::optional<StringRef> name = names[*index].string();
    Type type = importType(context, types[*index], at);
    if (!name || !type) {
      return names[*index].fail("expected a column name");
    }
    FailureOr<Type> column = builder.columnType(*table, *name, type, at);
    if (failed(column)) {
      return failure();
    }
    columns.push_back({name->str(), *column});
  }
  MaybeRelation rows = keepKnown(builder, builder.scan(*table, columns, at), op, at);
  return failed(rows) ? rows : applyMap(*rows, op.get("projection_ids"), at);
}

MaybeRelation RelationImporter::importDummy(Node op) {
  if (failed(expectOnly(op, {}))) {
    return failure();
  }
  // One row, and one column, which nobody reads but which a join's columns are counted behind.
  Type type = IntegerType::get(context.getContext(), 32);
  return builder.values({{"one_row", type}}, {SmallVector<Attribute>{IntegerAttr::get(type, 0)}},
                        UnknownLoc::get(context.getContext()));
}

MaybeRelation RelationImporter::importEmpty(Node op) {
  if (failed(expectOnly(op, {{"return_types", Use::kRead}, {"bindings", Use::kHarmless}}))) {
    return failure();
  }
  Location at = locate(op);
  SmallVector<RelationBuilder::ScanColumn> columns;
  for (Node node : op.get("return_types").elements()) {
    Type type = importType(context, node, at);
    if (!type) {
      return failure();
    }
    columns.push_back({"nothing", type});
  }
  return builder.values(columns, {}, at);
}

/// Constants, column by column: what DESCRIBE says where it is a table.
MaybeRelation RelationImporter::importChunk(Node op) {
  if (failed(expectOnly(op, {{"chunk_types", Use::kHarmless},
                             {"collection", Use::kRead},
                             {"column_ids", Use::kRead}}))) {
    return failure();
  }
  Location at = locate(op);
  Node collection = op.get("collection");
  SmallVector<RelationBuilder::ScanColumn> columns;
  SmallVector<SmallVector<Attribute>> rows;
  for (auto [type, values] :
       llvm::zip(collection.get("types").elements(), collection.get("values").elements())) {
    columns.push_back({"col" + std::to_string(columns.size()), importType(context, type, at)});
    SmallVector<Node> cells = values.elements();
    if (columns.size() == 1) {
      rows.resize(cells.size());
    }
    if (!columns.back().type || cells.size() != rows.size()) {
      return columns.back().type ? MaybeRelation(values.fail("expected as many values as others"))
                                 : MaybeRelation(failure());
    }
    for (auto [row, cell] : llvm::zip_equal(rows, cells)) {
      FailureOr<Constant> constant = importConstant(context, cell, at);
      if (failed(constant)) {
        return failure();
      }
      row.push_back(constant->value);
      if (isa<UnitAttr>(constant->value)) {
        columns.back().type = frame::addNullable(columns.back().type);
      }
    }
  }
  MaybeRelation made = builder.values(columns, rows, at);
  return failed(made) ? made : applyMap(*made, op.get("column_ids"), at);
}

MaybeRelation RelationImporter::importRows(Node op) {
  if (failed(expectOnly(op, {{"expr_types", Use::kRead}, {"expressions", Use::kRead}}))) {
    return failure();
  }
  Location at = locate(op);
  SmallVector<Node> children = op.get("children").elements();
  bool alone = children.size() == 1 &&
               children.front().get("type").string() == StringRef("LOGICAL_DUMMY_SCAN");
  return alone ? importValues(op, at) : importRowsOf(op, at);
}

/// Per row of another table the rows of expressions over its columns.
MaybeRelation RelationImporter::importRowsOf(Node op, Location at) {
  FailureOr<SmallVector<Relation>> inputs = importChildren(op, 1);
  if (failed(inputs)) {
    return failure();
  }
  SmallVector<Relation> relations;
  for (Node row : op.get("expressions").elements()) {
    SmallVector<Computed> cells;
    for (Node cell : row.elements()) {
      cells.push_back(expressions.computed(cell, at));
    }
    MaybeRelation projected = builder.project(inputs->front(), cells, at);
    if (failed(projected)) {
      return failure();
    }
    relations.push_back(std::move(*projected));
  }
  return builder.unite(relations, at);
}

MaybeRelation RelationImporter::importValues(Node op, Location at) {
  SmallVector<RelationBuilder::ScanColumn> columns;
  for (Node node : op.get("expr_types").elements()) {
    Type type = importType(context, node, at);
    if (!type) {
      return failure();
    }
    columns.push_back({"col" + std::to_string(columns.size()), type});
  }
  SmallVector<SmallVector<Attribute>> rows;
  SmallVector<SmallVector<Computed>> computed;
  bool constant = true;
  for (Node row : op.get("expressions").elements()) {
    ExpressionBuilder scratch(context, {});
    rows.emplace_back();
    computed.emplace_back();
    for (auto [index, node] : llvm::enumerate(row.elements())) {
      MaybeExpression cell = expressions.import(scratch, node, at);
      if (failed(cell)) {
        return failure();
      }
      Attribute value = ExpressionBuilder::constantOf(*cell);
      constant &= bool(value);
      rows.back().push_back(value);
      computed.back().push_back(expressions.computed(node, at));
      if (index < columns.size() && isa_and_nonnull<UnitAttr>(value)) {
        columns[index].type = frame::addNullable(columns[index].type);
      }
    }
  }
  if (constant) {
    return builder.values(columns, rows, at);
  }
  SmallVector<Relation> relations;
  for (ArrayRef<Computed> row : computed) {
    MaybeRelation one = builder.values({}, {SmallVector<Attribute>()}, at);
    MaybeRelation projected = failed(one) ? one : builder.project(*one, row, at);
    if (failed(projected)) {
      return failure();
    }
    relations.push_back(std::move(*projected));
  }
  return builder.unite(relations, at);
}

//===----------------------------------------------------------------------===//
// Row by row
//===----------------------------------------------------------------------===//

MaybeRelation RelationImporter::importFilter(Node op) {
  if (failed(expectOnly(op, {{"expressions", Use::kRead}, {"projection_map", Use::kRead}}))) {
    return failure();
  }
  FailureOr<SmallVector<Relation>> inputs = importChildren(op, 1);
  if (failed(inputs)) {
    return failure();
  }
  Location at = locate(op);
  SmallVector<Node> parts = op.get("expressions").elements();
  MaybeRelation result = builder.filter(
      inputs->front(),
      [&](ExpressionBuilder &b) -> MaybeExpression {
        SmallVector<Expression> conditions;
        for (Node part : parts) {
          MaybeExpression condition = expressions.import(b, part, at);
          if (failed(condition)) {
            return failure();
          }
          conditions.push_back(std::move(*condition));
        }
        return b.connect(ExpressionBuilder::Connective::kAnd, conditions, at);
      },
      at);
  return failed(result) ? result : applyMap(*result, op.get("projection_map"), at);
}

/// Whether this is what the binder makes of a scalar subquery: its first row, if there are no more.
static bool isScalarSubquery(Node projection) {
  SmallVector<Node> values = projection.get("expressions").elements();
  SmallVector<Node> checks =
      (values.empty() ? Node() : values.front()).get("case_checks").elements();
  SmallVector<Node> children = projection.get("children").elements();
  if (values.size() != 1 || checks.size() != 1 ||
      nameOf(checks.front().get("then_expr")) != "error" || children.size() != 1) {
    return false;
  }
  SmallVector<Node> measures = children.front().get("expressions").elements();
  return children.front().get("type").string() == StringRef("LOGICAL_AGGREGATE_AND_GROUP_BY") &&
         measures.size() == 2 && nameOf(measures[0]) == "first" &&
         nameOf(measures[1]) == "count_star";
}

MaybeRelation RelationImporter::importProjection(Node op) {
  if (failed(expectOnly(op, {{"expressions", Use::kRead}}))) {
    return failure();
  }
  isOfOneRow = isScalarSubquery(op);
  FailureOr<SmallVector<Relation>> inputs = importChildren(op, 1);
  if (failed(inputs)) {
    return failure();
  }
  Location at = locate(op);
  SmallVector<Computed> columns;
  for (Node expression : op.get("expressions").elements()) {
    columns.push_back(expressions.computed(expression, at));
  }
  expressions.inputTable = op.get("children").elements().front().get("table_index").integer();
  MaybeRelation result = builder.project(inputs->front(), columns, at);
  expressions.inputTable.reset();
  return result;
}

//===----------------------------------------------------------------------===//
// Orders, limits
//===----------------------------------------------------------------------===//

/// What rows are ordered by: of a list, struct, map or interval something that has its order.
Computed RelationImporter::orderKey(Node given, Location at) {
  Node expression = ExpressionImporter::beforeNormalized(given);
  Computed key = expressions.computed(expression, at);
  if (!isNestedType(expression.get("return_type")) &&
      !isIntervalType(expression.get("return_type"))) {
    return key;
  }
  return key.with(&ExpressionBuilder::orderOf, at);
}

FailureOr<SmallVector<RelationBuilder::SortKey>>
RelationImporter::importSortKeys(ArrayRef<Node> orders, Location at) {
  SmallVector<RelationBuilder::SortKey> keys;
  for (Node order : orders) {
    StringRef direction = order.get("type").string().value_or("");
    StringRef nulls = order.get("null_order").string().value_or("");
    bool ascending = direction == "ASCENDING", first = nulls == "NULLS FIRST";
    if ((!ascending && direction != "DESCENDING") || (!first && nulls != "NULLS LAST") ||
        failed(expectFields(
            order, "ORDER BY",
            {{"type", Use::kRead}, {"null_order", Use::kRead}, {"expression", Use::kRead}}, context,
            at))) {
      return order.fail("expected a direction and an order of NULLs");
    }
    keys.push_back({orderKey(order.get("expression"), at),
                    ascending ? frame::SortDirection::Asc : frame::SortDirection::Desc,
                    first ? frame::NullsOrder::First : frame::NullsOrder::Last});
  }
  return keys;
}

/// The input of an op to which the order of its rows makes no difference.
FailureOr<SmallVector<Relation>> RelationImporter::importUnordered(Node op) {
  RelationBuilder::RowsInOrder inOrder(builder, false);
  return importChildren(op, 1);
}

MaybeRelation RelationImporter::importOrder(Node op) {
  if (failed(expectOnly(op, {{"orders", Use::kRead}, {"projections", Use::kEmpty}}))) {
    return failure();
  }
  FailureOr<SmallVector<Relation>> inputs = importUnordered(op);
  if (failed(inputs)) {
    return failure();
  }
  Location at = locate(op);
  FailureOr<SmallVector<RelationBuilder::SortKey>> keys =
      importSortKeys(op.get("orders").elements(), at);
  return failed(keys) ? MaybeRelation(failure()) : builder.sort(inputs->front(), *keys, at);
}

static bool isConstantLimit(Node node) {
  StringRef type = node.get("type").string().value_or("UNSET");
  return type == "UNSET" || type == "CONSTANT_VALUE";
}

/// The number of a LIMIT or OFFSET; nothing if there is none.
static FailureOr<std::optional<int64_t>> limitNumber(Node node) {
  if (node.get("type").string().value_or("UNSET") == "UNSET") {
    return std::optional<int64_t>();
  }
  FailureOr<int64_t> number = node.get("constant_integer").integerOr(0);
  if (failed(number) || *number < 0) {
    return node.fail("expected a number of rows");
  }
  return std::optional<int64_t>(*number);
}

/// Whether the rows that a limit sees were sorted.
static bool isOrdered(Node limit) {
  Node input = limit;
  do {
    SmallVector<Node> children = input.get("children").elements();
    input = children.size() == 1 ? children.front() : Node();
  } while (input && input.get("type").string() == StringRef("LOGICAL_PROJECTION"));
  return input && input.get("type").string() == StringRef("LOGICAL_ORDER_BY");
}

MaybeRelation RelationImporter::importLimit(Node op) {
  if (failed(expectOnly(op, {{"limit_val", Use::kRead},
                             {"offset_val", Use::kRead},
                             {"unpruned_offset", Use::kHarmless}}))) {
    return failure();
  }
  Location at = locate(op);
  const bool isConstant =
      isConstantLimit(op.get("limit_val")) && isConstantLimit(op.get("offset_val"));
  std::optional<RelationBuilder::RowsInOrder> inOrder;
  if (!isConstant || !isOrdered(op)) {
    inOrder.emplace(builder);
  }
  FailureOr<SmallVector<Relation>> inputs = importChildren(op, 1);
  if (failed(inputs)) {
    return failure();
  }
  if (!isConstant) {
    return limitByNumbers(op, inputs->front(), at);
  }
  auto count = limitNumber(op.get("limit_val"));
  auto offset = limitNumber(op.get("offset_val"));
  if (failed(count) || failed(offset)) {
    return failure();
  }
  return builder.limit(inputs->front(), offset->value_or(0), *count, at);
}

//===----------------------------------------------------------------------===//
// Common subplans
//===----------------------------------------------------------------------===//

MaybeRelation RelationImporter::importMaterializedCte(Node op) {
  if (failed(expectOnly(op, {{"ctename", Use::kHarmless}, {"materialize", Use::kRead}}))) {
    return failure();
  }
  SmallVector<Node> children = op.get("children").elements();
  std::optional<int64_t> index = op.get("table_index").integer();
  if (children.size() != 2 || !index) {
    return op.fail("expected a definition and its use");
  }
  RelationBuilder::RowsInOrder inOrder(builder); // its uses may ask for it
  MaybeRelation definition = import(children[0]);
  if (failed(definition)) {
    return failure();
  }
  const bool drawnAnew = op.get("materialize").string() == StringRef("CTE_MATERIALIZE_NEVER") &&
                         mayDraw && callsRandom(children[0]);
  if (!ctes.try_emplace(*index,
                        SharedRelation{std::move(*definition), drawnAnew ? children[0] : Node()})
           .second) {
    return op.fail("expected another index than that of an earlier one: " + Twine(*index));
  }
  MaybeRelation result = import(children[1]);
  ctes.erase(*index); // nothing else reads it; what is around it may be imported once more
  return result;
}

MaybeRelation RelationImporter::importCteRef(Node op) {
  if (failed(expectOnly(op, {{"cte_index", Use::kRead},
                             {"chunk_types", Use::kHarmless},
                             {"bound_columns", Use::kHarmless},
                             {"is_recurring", Use::kEmpty}}))) {
    return failure();
  }
  auto found = ctes.find(op.get("cte_index").integer().value_or(-1));
  if (found == ctes.end()) {
    return op.fail("reference to a common table expression that does not exist");
  }
  SharedRelation &shared = found->second;
  // The first takes the names, the others get new ones, as two may meet in a join.
  bool first = !std::exchange(shared.used, true);
  if (!first && shared.drawnAnew) {
    expressions.drawAnew();
    return import(shared.drawnAnew);
  }
  return first ? shared.relation
               : builder.rename(shared.relation, UnknownLoc::get(context.getContext()));
}
