// Substrait's relations: all but joins and aggregates.
#include "passes/import/substrait/relations.h"

#include "passes/import/substrait/types.h"

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::substrait;
namespace frame = headrace::frame;

RelationImporter::RelationImporter(ImportContext &context, RelationBuilder &builder,
                                   Functions functions)
    : context(context), builder(builder),
      expressions(
          context, std::move(functions),
          [this](Node relation) { return importScalarSubquery(relation); },
          [this](Node relation) { return importRowCount(relation); }) {}

//===----------------------------------------------------------------------===//
// Any relation
//===----------------------------------------------------------------------===//

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

MaybeRelation RelationImporter::import(Node relation) {
  NestingGuard guard(depth);
  if (failed(guard.check(context, relation.location()))) {
    return failure();
  }
  StringRef kind;
  Node body = relation.only(
      {"read", "filter", "project", "join", "cross", "aggregate", "sort", "fetch", "set"}, kind);
  if (!body) {
    return relation.refuse("unsupported relation: " + relation.keysText());
  }
  MaybeRelation result = importByKind(kind, body);
  if (failed(result) || kind == "project") { // a project's emit is part of it
    return result;
  }
  FailureOr<std::optional<SmallVector<int64_t>>> mapping =
      outputMapping(body, result->fields.size());
  if (failed(mapping)) {
    return failure();
  }
  SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, result->fields.size()));
  return builder.select(*result, *mapping ? **mapping : all, body.location());
}

MaybeRelation RelationImporter::importByKind(StringRef kind, Node body) {
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

MaybeRelation RelationImporter::importInput(Node body, StringRef key) {
  Node input = body.get(key);
  if (!input) {
    return body.fail("expected a relation under " + key);
  }
  return import(input);
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

MaybeRelation RelationImporter::importRead(Node read) {
  if (Node table = read.get("virtualTable")) {
    return importVirtualTable(read, table);
  }
  SmallVector<Node> names = read.get("namedTable").get("names").elements();
  std::optional<StringRef> table = names.empty() ? std::nullopt : names.back().string();
  if (!table) {
    return read.fail("expected namedTable or virtualTable");
  }
  if (Node filter = read.get("filter")) {
    return filter.refuse("unsupported filter inside a read");
  }
  Node schema = read.get("baseSchema");
  SmallVector<Node> fileColumns = schema.get("names").elements();
  SmallVector<Node> fileTypes = schema.get("struct").get("types").elements();
  if (fileColumns.size() != fileTypes.size()) {
    return schema.fail("expected as many names as types (nested types are not supported)");
  }
  SmallVector<int64_t> selected = llvm::to_vector(llvm::seq<int64_t>(0, fileColumns.size()));
  if (Node select = read.get("projection").get("select")) {
    selected.clear();
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
  }
  SmallVector<RelationBuilder::ScanColumn> columns;
  llvm::StringMap<int64_t> indexes; // by which a name is known
  for (int64_t index : selected) {
    std::optional<StringRef> name = fileColumns[index].string();
    Type type = importType(context.getContext(), fileTypes[index]);
    if (!name || !type) {
      return fileColumns[index].fail("expected a column name");
    }
    if (indexes.try_emplace(*name, index).first->second != index) {
      return schema.fail("column names of a table must be unique");
    }
    columns.push_back({name->str(), type});
  }
  return builder.scan(*table, columns, read.location());
}

MaybeRelation RelationImporter::importVirtualTable(Node read, Node table) {
  Node schema = read.get("baseSchema");
  SmallVector<Node> names = schema.get("names").elements();
  SmallVector<Node> types = schema.get("struct").get("types").elements();
  if (names.size() != types.size()) {
    return schema.fail("expected as many names as types");
  }
  SmallVector<RelationBuilder::ScanColumn> columns;
  for (auto [name, typeNode] : llvm::zip_equal(names, types)) {
    std::optional<StringRef> text = name.string();
    Type type = importType(context.getContext(), typeNode);
    if (!text || !type) {
      return name.fail("expected a column name");
    }
    columns.push_back({text->str(), type});
  }
  SmallVector<SmallVector<Attribute>> rows;
  for (Node row : table.get("expressions").elements()) {
    rows.emplace_back();
    for (Node cell : row.get("fields").elements()) {
      FailureOr<ConstantValue> constant = importLiteral(context.getContext(), cell.get("literal"));
      if (failed(constant)) {
        return failure();
      }
      rows.back().push_back(constant->value);
    }
  }
  return builder.values(columns, rows, read.location());
}

//===----------------------------------------------------------------------===//
// Row by row
//===----------------------------------------------------------------------===//

MaybeRelation RelationImporter::importFilter(Node filter) {
  MaybeRelation input = importInput(filter, "input");
  if (failed(input)) {
    return failure();
  }
  return builder.filter(*input, expressions.computed(filter.get("condition")).build,
                        filter.location());
}

MaybeRelation RelationImporter::importProject(Node project) {
  MaybeRelation input = importInput(project, "input");
  if (failed(input)) {
    return failure();
  }
  SmallVector<Node> nodes = project.get("expressions").elements();
  int64_t inputs = input->fields.size();
  FailureOr<std::optional<SmallVector<int64_t>>> mapping =
      outputMapping(project, inputs + nodes.size());
  if (failed(mapping)) {
    return failure();
  }
  // Only what is put out is computed.
  SmallVector<int64_t> outputs =
      *mapping ? **mapping : llvm::to_vector(llvm::seq<int64_t>(0, inputs + nodes.size()));
  SmallVector<Computed> columns;
  for (int64_t output : outputs) {
    columns.push_back(output < inputs ? Computed{output, {}, {}}
                                      : expressions.computed(nodes[output - inputs]));
  }
  return builder.project(*input, columns, project.location());
}

//===----------------------------------------------------------------------===//
// Orders, limits, unions, subqueries
//===----------------------------------------------------------------------===//

MaybeRelation RelationImporter::importSort(Node sort) {
  MaybeRelation input = importInput(sort, "input");
  if (failed(input)) {
    return failure();
  }
  SmallVector<RelationBuilder::SortKey> keys;
  for (Node key : sort.get("sorts").elements()) {
    StringRef direction = key.get("direction").string().value_or("");
    if (!direction.consume_front("SORT_DIRECTION_")) {
      return key.fail("expected a sort direction");
    }
    bool known = llvm::is_contained(
        {"ASC_NULLS_FIRST", "ASC_NULLS_LAST", "DESC_NULLS_FIRST", "DESC_NULLS_LAST"}, direction);
    if (!known) {
      return key.refuse("unsupported sort direction: " + direction);
    }
    keys.push_back(
        {expressions.computed(key.get("expr")),
         direction.starts_with("ASC") ? frame::SortDirection::Asc : frame::SortDirection::Desc,
         direction.ends_with("FIRST") ? frame::NullsOrder::First : frame::NullsOrder::Last});
  }
  return builder.sort(*input, keys, sort.location());
}

/// The literal count of a fetch; nothing if there is none.
static FailureOr<std::optional<int64_t>> fetchNumber(Node fetch, StringRef expression,
                                                     StringRef plain) {
  Node node = fetch.get(expression);
  if (!node && !fetch.get(plain)) {
    return std::optional<int64_t>();
  }
  StringRef key;
  std::optional<int64_t> number =
      node ? node.get("literal").only({"i64", "i32", "i16", "i8"}, key).integer()
           : fetch.get(plain).integer();
  if (!number || (node && *number < 0)) {
    return (node ? node : fetch).fail("expected a literal that is not negative");
  }
  return *number < 0 ? std::optional<int64_t>() : number; // -1: all rows
}

MaybeRelation RelationImporter::importFetch(Node fetch) {
  MaybeRelation input = importInput(fetch, "input");
  if (failed(input)) {
    return failure();
  }
  FailureOr<std::optional<int64_t>> count = fetchNumber(fetch, "countExpr", "count");
  FailureOr<std::optional<int64_t>> offset = fetchNumber(fetch, "offsetExpr", "offset");
  if (failed(count) || failed(offset)) {
    return failure();
  }
  return builder.limit(*input, offset->value_or(0), *count, fetch.location());
}

MaybeRelation RelationImporter::importSet(Node set) {
  StringRef operation = set.get("op").string().value_or("");
  if (operation != "SET_OP_UNION_ALL") {
    return set.refuse("unsupported set operation: " + operation);
  }
  SmallVector<Relation> inputs;
  for (Node node : set.get("inputs").elements()) {
    MaybeRelation input = import(node);
    if (failed(input)) {
      return failure();
    }
    inputs.push_back(std::move(*input));
  }
  return builder.unite(inputs, set.location());
}

FailureOr<Value> RelationImporter::importScalarSubquery(Node relation) {
  MaybeRelation input = import(relation);
  return failed(input) ? FailureOr<Value>(failure()) : builder.scalar(*input, relation.location());
}

FailureOr<Value> RelationImporter::importRowCount(Node relation) {
  MaybeRelation input = import(relation);
  if (failed(input)) {
    return failure();
  }
  Location at = relation.location();
  MeasureRequest count{.at = at};
  MaybeRelation rows = builder.aggregate(builder.limit(*input, 0, 1, at), {}, {count}, at);
  return failed(rows) ? FailureOr<Value>(failure()) : builder.scalar(*rows, at);
}
