// Lists that become rows: UNNEST in SELECT and in FROM, series of numbers for each row, and the
// values in JSON.
#include "passes/import/duckdb/relations.h"
#include "runtime/base/text_functions.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::duckdb;
namespace frame = headrace::frame;

using Use = Field::Use;

MaybeRelation RelationImporter::importUnnest(Node op) {
  if (failed(expectOnly(op, {{"expressions", Use::kRead}, {"unnest_index", Use::kHarmless}}))) {
    return failure();
  }
  FailureOr<SmallVector<Relation>> inputs = importChildren(op, 1);
  if (failed(inputs)) {
    return failure();
  }
  Location at = locate(op);
  SmallVector<Computed> lists;
  for (Node expression : op.get("expressions").elements()) {
    if (expression.get("type").string() != StringRef("BOUND_UNNEST") ||
        failed(expectExpression(expression, "UNNEST", {{"child", Use::kRead}}, context, at))) {
      // no test: DuckDB writes no such plan
      return expression.fail("expected an UNNEST");
    }
    lists.push_back(expressions.computed(expression.get("child"), at));
  }
  const size_t width = inputs->front().fields.size() + lists.size();
  MaybeRelation rows = builder.unnest(inputs->front(), lists, at);
  if (failed(rows)) {
    return failure();
  }
  // Without the number of the row: an UNNEST of what it gives counts columns.
  return builder.select(*rows, llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(width))),
                        at);
}

//===----------------------------------------------------------------------===//
// Functions in FROM
//===----------------------------------------------------------------------===//

/// The arguments as the first columns of what comes in, or of one row of constants.
MaybeRelation RelationImporter::inputOfFunction(Node op, StringRef name, Location at) {
  Node get = op;
  if (failed(expectOnly(get, {{"returned_types", Use::kRead},
                              {"names", Use::kHarmless},
                              {"projection_ids", Use::kRead},
                              {"table_filters", Use::kHarmless},
                              {"qname", Use::kRead},
                              {"has_serialize", Use::kHarmless},
                              {"function_data", Use::kEmpty},
                              {"arguments", Use::kHarmless},
                              {"parameters", Use::kRead},
                              {"named_parameters", Use::kEmpty},
                              {"input_table_types", Use::kRead},
                              {"input_table_names", Use::kHarmless},
                              {"projected_input", Use::kRead},
                              {"column_indexes", Use::kRead},
                              {"extra_info", Use::kHarmless},
                              {"ordinality_idx", Use::kRead},
                              {"row_group_order_options", Use::kEmpty},
                              {"scan_partition_indices", Use::kEmpty},
                              {"source_ordinality", Use::kRead},
                              {"table_filters_by_projection", Use::kHarmless},
                              {"has_pushed_projection", Use::kEmpty},
                              {"at_clause", Use::kEmpty}}))) {
    return failure();
  }
  if (!op.get("children").elements().empty()) {
    FailureOr<SmallVector<Relation>> inputs = importChildren(op, 1);
    return failed(inputs) ? MaybeRelation(failure()) : inputs->front();
  }
  SmallVector<RelationBuilder::ScanColumn> columns;
  SmallVector<Attribute> row;
  for (auto [index, parameter] : llvm::enumerate(op.get("parameters").elements())) {
    FailureOr<Constant> constant = importConstant(context, parameter, at);
    if (failed(constant)) {
      return failure();
    }
    Node step = parameter.get("value");
    auto isZero = [&](const char *part) { return step.get(part).integer() == 0; };
    if (isZero("months") && isZero("days") && isZero("micros")) {
      return context.fail(at, "the step of " + name + " is 0", ImportError::Kind::kUser);
    }
    columns.push_back({"argument" + std::to_string(index), constant->type});
    row.push_back(constant->value);
  }
  return builder.values(columns, {row}, at);
}

static size_t countOfArguments(Node op) {
  return op.get(op.get("children").elements().empty() ? "parameters" : "input_table_types")
      .elements()
      .size();
}

/// Of rows with the input's fields, then the function's with the number of the element: those that
/// are asked for, the function's first.
MaybeRelation RelationImporter::selectOfFunction(Node op, StringRef name, Relation rows,
                                                 int64_t inputFields, Location at) {
  const auto own = static_cast<int64_t>(rows.fields.size()) - inputFields;
  SmallVector<int64_t> wanted;
  for (Node entry : op.get("column_indexes").elements()) {
    std::optional<uint64_t> index = entry.get("index").natural();
    constexpr uint64_t kRowId = UINT64_MAX; // rows are counted
    if (!index || (*index >= static_cast<uint64_t>(own) && *index != kRowId)) {
      return entry.fail("unsupported column of " + name);
    }
    wanted.push_back(inputFields + (*index == kRowId ? 0 : static_cast<int64_t>(*index)));
  }
  for (Node entry : op.get("projected_input").elements()) {
    std::optional<int64_t> index = entry.integer();
    if (!index || *index < 0 || *index >= inputFields) {
      // no test: DuckDB writes no such plan
      return entry.fail("expected a column of the input");
    }
    wanted.push_back(*index);
  }
  return applyMap(builder.select(std::move(rows), wanted, at), op.get("projection_ids"), at);
}

MaybeRelation RelationImporter::importUnnestFunction(Node op, StringRef name, Location at) {
  MaybeRelation input = inputOfFunction(op, name, at);
  if (failed(input)) {
    return failure();
  }
  Computed list{0, {}, {}};
  if (name != "unnest") {
    Type element = importType(context, op.get("returned_types").elements().front(), at);
    if (!element) {
      return failure();
    }
    list = expressions.computedSeries(countOfArguments(op), name == "generate_series", element, at);
  }
  MaybeRelation rows = builder.unnest(*input, list, at);
  return failed(rows) ? rows
                      : selectOfFunction(op, name, std::move(*rows),
                                         static_cast<int64_t>(input->fields.size()), at);
}

/// json_each and json_tree: the elements of a list of structs with their columns.
MaybeRelation RelationImporter::importJsonRows(Node op, StringRef name, Location at) {
  MaybeRelation input = inputOfFunction(op, name, at);
  if (failed(input)) {
    return failure();
  }
  Builder types(context.getContext());
  Type text = frame::StringType::get(context.getContext()),
       number = types.getIntegerType(64, /*isSigned=*/false);
  static constexpr StringRef kNames[] = {"key", "value",  "type",    "atom",
                                         "id",  "parent", "fullkey", "path"};
  SmallVector<StringAttr> names;
  SmallVector<Type> columns;
  for (StringRef column : kNames) {
    names.push_back(types.getStringAttr(column));
    columns.push_back(column == "id" || column == "parent" ? number : text);
  }
  Type row = frame::StructType::get(context.getContext(), names, columns);
  const bool hasPath = countOfArguments(op) > 1;
  const headrace::TextFunction &made = *headrace::textFunctionNamed(name);
  Computed list{std::nullopt, name.str(), [=, &made](ExpressionBuilder &b) -> MaybeExpression {
                  Type string = frame::StringType::get(b.getContext());
                  MaybeExpression json = b.field(0, at);
                  MaybeExpression path =
                      hasPath ? b.field(1, at)
                              : MaybeExpression(
                                    b.constant(StringAttr::get(b.getContext(), "$"), string, at));
                  json = failed(json) ? json : b.cast(*json, string, at);
                  path = failed(path) ? path : b.cast(*path, string, at);
                  if (failed(json) || failed(path)) {
                    return failure();
                  }
                  return b.text(made, {*json, *path}, frame::ListType::get(row), at);
                }};
  const auto fields = static_cast<int64_t>(input->fields.size());
  MaybeRelation rows = builder.unnest(*input, list, at);
  if (failed(rows)) {
    return failure();
  }
  SmallVector<Computed> results;
  for (int64_t field = 0; field < fields; ++field) {
    results.push_back(Computed::ofField(field, at));
  }
  for (auto [index, column] : llvm::enumerate(kNames)) {
    results.push_back(
        {std::nullopt, column.str(),
         [=, place = static_cast<unsigned>(index)](ExpressionBuilder &b) -> MaybeExpression {
           MaybeExpression element = b.field(fields, at);
           return failed(element) ? element : b.fieldOf(*element, place, at);
         }});
  }
  results.push_back(Computed::ofField(fields + 1, at));
  MaybeRelation apart = builder.project(*rows, results, at);
  return failed(apart) ? apart : selectOfFunction(op, name, std::move(*apart), fields, at);
}
