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

/// Series of numbers as a list.
static Computed seriesList(size_t numbers, bool withStop, Location at) {
  return {std::nullopt, "series", [=](ExpressionBuilder &b) -> MaybeExpression {
            Type i64 = IntegerType::get(b.getContext(), 64);
            SmallVector<Expression> given;
            for (size_t number = 0; number < numbers; ++number) {
              MaybeExpression value = b.field(static_cast<int64_t>(number), at);
              value = failed(value) ? value : b.cast(*value, i64, at);
              if (failed(value)) {
                return failure();
              }
              given.push_back(*value);
            }
            if (numbers == 1) {
              given.insert(given.begin(), b.integer(0, i64, at));
            }
            if (numbers < 3) {
              given.push_back(b.integer(1, i64, at));
            }
            given.push_back(b.integer(withStop ? 1 : 0, i64, at));
            return b.text(*headrace::textFunctionNamed("list_range"), given,
                          frame::ListType::get(i64), at);
          }};
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
  MaybeRelation input = failure();
  Computed list{0, {}, {}};
  SmallVector<Node> parameters = op.get("parameters").elements();
  if (op.get("children").elements().empty()) {
    if (parameters.size() != 1) {
      return op.fail("expected a list");
    }
    FailureOr<Constant> constant = importConstant(context, parameters.front(), at);
    if (failed(constant)) {
      return failure();
    }
    input =
        builder.values({{"list", constant->type}}, {SmallVector<Attribute>{constant->value}}, at);
  } else {
    FailureOr<SmallVector<Relation>> inputs = importChildren(op, 1);
    if (failed(inputs)) {
      return failure();
    }
    input = inputs->front();
    if (name != "unnest") {
      list =
          seriesList(op.get("input_table_types").elements().size(), name == "generate_series", at);
    }
  }
  if (failed(input)) {
    return failure();
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
