// Aggregates of DuckDB's plans.
#include "passes/import/duckdb/relations.h"

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::duckdb;
namespace frame = headrace::frame;

using Use = Field::Use;

FailureOr<MeasureRequest> RelationImporter::importMeasure(Node measure, Location at) {
  StringRef name = nameOf(measure);
  at = expressions.locate(measure, at);
  if (measure.get("type").string() != StringRef("BOUND_AGGREGATE")) {
    return measure.fail("expected an aggregate");
  }
  if (failed(expectExpression(measure, name,
                              {{"children", Use::kRead},
                               {"arguments", Use::kHarmless},
                               {"qname", Use::kRead},
                               {"has_serialize", Use::kHarmless},
                               {"function_data", Use::kRead}, // of functions that are refused
                               {"aggregate_type", Use::kRead},
                               {"filter", Use::kRead},
                               {"order_bys", Use::kHarmless}, // of a sum it makes no difference
                               {"state_export", Use::kDefault, "\"NONE\""}},
                              context, at))) {
    return failure();
  }
  bool distinct = measure.get("aggregate_type").string() == StringRef("DISTINCT");
  return makeMeasure({measure, name, distinct, measure.get("filter")}, at);
}

FailureOr<MeasureRequest> RelationImporter::makeMeasure(const MeasureCall &call, Location at) {
  using Function = frame::AggregateFunction;
  auto [measure, name, distinct, filter] = call;
  SmallVector<Node> arguments = measure.get("children").elements();
  auto function = llvm::StringSwitch<std::optional<Function>>(name)
                      .Case("count_star", Function::CountStar)
                      .Case("count", distinct ? Function::CountDistinct : Function::Count)
                      .Cases({"sum", "count_if", "countif"}, // of booleans both count
                             distinct ? Function::SumDistinct : Function::Sum)
                      .Cases({"min", "bool_and"}, Function::Min)
                      .Cases({"max", "bool_or"}, Function::Max)
                      .Cases({"avg", "mean"}, Function::Avg)
                      .Case("any_value", Function::Min) // any that is not NULL
                      .Default(std::nullopt);
  if (name == "first" && takesOnlyRow) {
    function = Function::Min; // with one row they are the same
  }
  using Spread = MeasureRequest::Spread;
  auto spread = llvm::StringSwitch<std::optional<Spread>>(name)
                    .Cases({"stddev", "stddev_samp"}, Spread{true, true})
                    .Case("stddev_pop", Spread{true, false})
                    .Cases({"variance", "var_samp"}, Spread{false, true})
                    .Case("var_pop", Spread{false, false})
                    .Default(std::nullopt);
  if (!function && !spread) {
    return context.fail(at, "unsupported aggregate function: " + name);
  }
  if (measure.get("function_data")) {
    return context.fail(at, "unsupported options of " + name);
  }
  if (distinct && (spread || *function == Function::Avg)) {
    return context.fail(at, "unsupported " + name +
                                "(DISTINCT …); aggregate over a subquery with SELECT DISTINCT");
  }
  if (name == "count" && arguments.empty()) { // COUNT(*) of a window
    function = Function::CountStar;
  }
  Node constant = arguments.size() == 1 ? arguments.front().get("value") : Node();
  if (name == "count" && !distinct && constant.get("value")) { // of a constant counts rows
    function = Function::CountStar;
    arguments.clear();
  }
  size_t arity = function == Function::CountStar ? 0 : 1;
  if (arguments.size() != arity) {
    return context.fail(at,
                        "wrong number of arguments of " + name + ": " + Twine(arguments.size()));
  }
  Type type = importType(context, measure.get("return_type"), at);
  if (!type) {
    return failure();
  }
  MeasureRequest request{function.value_or(Function::Sum), spread, std::nullopt, {}, type, at};
  if (arity == 1) {
    request.argument = expressions.computed(arguments.front(), at);
    if (function == Function::Sum || function == Function::SumDistinct) { // of booleans they count
      request.argument->build =
          [=, this, argument = arguments.front()](ExpressionBuilder &b) -> MaybeExpression {
        MaybeExpression value = expressions.import(b, argument, at);
        return failed(value) || !frame::isBoolean(value->type())
                   ? value
                   : b.cast(*value, IntegerType::get(b.getContext(), 32), at);
      };
      StringRef id = arguments.front().get("return_type").get("id").string().value_or("");
      if (id == "BOOLEAN") {
        request.argument->field = std::nullopt;
      }
    }
  }
  if (filter) {
    request.condition = expressions.computed(filter, at).build;
  }
  return request;
}

MaybeRelation RelationImporter::importAggregate(Node op) {
  if (failed(expectOnly(op, {{"expressions", Use::kRead},
                             {"groups", Use::kRead},
                             {"group_index", Use::kHarmless},
                             {"aggregate_index", Use::kHarmless},
                             {"groupings_index", Use::kHarmless},
                             {"grouping_sets", Use::kRead},
                             {"grouping_functions", Use::kRead},
                             {"distinct_validity", Use::kHarmless}}))) {
    return failure();
  }
  Location at = locate(op);
  SmallVector<Node> groups = op.get("groups").elements();
  FailureOr<SmallVector<Relation>> inputs = importChildren(op, 1);
  if (failed(inputs)) {
    return failure();
  }
  SmallVector<Computed> keys;
  for (Node group : groups) {
    keys.push_back(expressions.computed(group, at));
  }
  SmallVector<MeasureRequest> measures;
  for (Node expression : op.get("expressions").elements()) {
    FailureOr<MeasureRequest> measure = importMeasure(expression, at);
    if (failed(measure)) {
      return failure();
    }
    measures.push_back(std::move(*measure));
  }
  GroupingSets grouping;
  auto read = [&](Node lists, SmallVectorImpl<SmallVector<int64_t>> &result) -> LogicalResult {
    for (Node list : lists.elements()) {
      SmallVector<int64_t> &members = result.emplace_back();
      for (Node member : list.elements()) {
        std::optional<int64_t> key = member.integer();
        if (!key || *key < 0 || *key >= static_cast<int64_t>(groups.size())) {
          return member.fail("expected the number of a group");
        }
        members.push_back(*key);
      }
    }
    return success();
  };
  if (failed(read(op.get("grouping_sets"), grouping.sets)) ||
      failed(read(op.get("grouping_functions"), grouping.functions))) {
    return failure();
  }
  if (grouping.sets.empty()) {
    grouping.sets.emplace_back(llvm::to_vector(llvm::seq<int64_t>(0, groups.size())));
  }
  return builder.aggregate(inputs->front(), keys, measures, grouping, at);
}
