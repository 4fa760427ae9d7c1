// Lists that become rows: UNNEST in SELECT and in FROM, and series of numbers for each row.
#include "passes/import/duckdb/relations.h"

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

MaybeRelation RelationImporter::importUnnestFunction(Node op, StringRef name, Location at) {
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
  // The arguments are the first columns of what comes in, or constants.
  SmallVector<Node> parameters = op.get("parameters").elements();
  size_t count = op.get("input_table_types").elements().size();
  MaybeRelation input = failure();
  if (op.get("children").elements().empty()) {
    count = parameters.size();
    SmallVector<RelationBuilder::ScanColumn> columns;
    SmallVector<Attribute> row;
    for (auto [index, parameter] : llvm::enumerate(parameters)) {
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
    input = builder.values(columns, {row}, at);
  } else {
    FailureOr<SmallVector<Relation>> inputs = importChildren(op, 1);
    input = failed(inputs) ? MaybeRelation(failure()) : inputs->front();
  }
  if (failed(input)) {
    return failure();
  }
  Computed list{0, {}, {}};
  if (name != "unnest") {
    Type element = importType(context, op.get("returned_types").elements().front(), at);
    if (!element) {
      return failure();
    }
    list = expressions.computedSeries(count, name == "generate_series", element, at);
  }
  const auto fields = static_cast<int64_t>(input->fields.size());
  MaybeRelation rows = builder.unnest(*input, list, at);
  if (failed(rows)) {
    return failure();
  }
  // The function's columns, of which the number of the element is the second, then the input's.
  SmallVector<int64_t> wanted;
  for (Node entry : op.get("column_indexes").elements()) {
    std::optional<uint64_t> index = entry.get("index").natural();
    constexpr uint64_t kRowId = UINT64_MAX; // rows are counted
    if (!index || (*index > 1 && *index != kRowId)) {
      // no test: DuckDB writes no such plan
      return entry.fail("expected a column of " + name);
    }
    wanted.push_back(*index == 1 ? fields + 1 : fields);
  }
  for (Node entry : op.get("projected_input").elements()) {
    std::optional<int64_t> index = entry.integer();
    if (!index || *index < 0 || *index >= fields) {
      // no test: DuckDB writes no such plan
      return entry.fail("expected a column of the input");
    }
    wanted.push_back(*index);
  }
  return applyMap(builder.select(*rows, wanted, at), op.get("projection_ids"), at);
}
