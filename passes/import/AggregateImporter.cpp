// Substrait aggregates: keys and inputs become columns, functions become measures.
#include "mlir/IR/Builders.h"
#include "passes/import/RelationImporter.h"

using namespace mlir;
using namespace headrace::import;
namespace frame = headrace::frame;

/// The key expressions of the only grouping.
static FailureOr<SmallVector<Node>> groupingKeys(Node aggregate) {
  SmallVector<Node> groupings = aggregate.get("groupings").elements();
  if (groupings.empty()) {
    return SmallVector<Node>();
  }
  if (groupings.size() > 1) {
    return aggregate.fail("unsupported grouping sets");
  }
  SmallVector<Node> shared = aggregate.get("groupingExpressions").elements();
  SmallVector<Node> references = groupings.front().get("expressionReferences").elements();
  if (references.empty()) { // the older form
    return SmallVector<Node>(groupings.front().get("groupingExpressions").elements());
  }
  SmallVector<Node> keys;
  for (Node reference : references) {
    std::optional<int64_t> index = reference.integer();
    if (!index || *index < 0 || *index >= static_cast<int64_t>(shared.size())) {
      return reference.fail("reference to a grouping expression that does not exist");
    }
    keys.push_back(shared[*index]);
  }
  return keys;
}

static std::optional<frame::AggregateFunction> aggregateFunction(StringRef name) {
  return llvm::StringSwitch<std::optional<frame::AggregateFunction>>(name)
      .Case("sum", frame::AggregateFunction::Sum)
      .Case("count", frame::AggregateFunction::Count)
      .Case("min", frame::AggregateFunction::Min)
      .Case("max", frame::AggregateFunction::Max)
      .Case("avg", frame::AggregateFunction::Avg)
      .Default(std::nullopt);
}

/// The function of a measure with the DISTINCT and the constant input of count taken in; `input` is
/// its argument, or absent for count_star.
static FailureOr<frame::AggregateFunction> measureFunction(const ExpressionEnvironment &environment,
                                                           Node call, Node &input) {
  using frame::AggregateFunction;
  FailureOr<StringRef> name = functionName(environment, call);
  if (failed(name)) {
    return failure();
  }
  std::optional<AggregateFunction> function = aggregateFunction(*name);
  if (!function) {
    return call.fail("unsupported aggregate function: " + *name);
  }
  SmallVector<Node> arguments = callArguments(call);
  bool distinct = call.get("invocation").string() == StringRef("AGGREGATION_INVOCATION_DISTINCT");
  if (*function == AggregateFunction::Count) {
    Node literal = arguments.size() == 1 ? arguments.front().get("literal") : call.get("literal");
    bool counts = arguments.empty() || (literal && !literal.get("null"));
    if (counts && !distinct) {
      return AggregateFunction::CountStar;
    }
  }
  if (arguments.size() != 1) {
    return call.fail("wrong number of arguments of " + *name + ": " + Twine(arguments.size()));
  }
  input = arguments.front();
  if (!distinct || *function == AggregateFunction::Min || *function == AggregateFunction::Max) {
    return *function;
  }
  if (*function == AggregateFunction::Count) {
    return AggregateFunction::CountDistinct;
  }
  return call.fail("unsupported " + *name + "(DISTINCT …)");
}

FailureOr<Relation> RelationImporter::importAggregate(Node aggregate) {
  FailureOr<Relation> input = importInput(aggregate, "input");
  FailureOr<SmallVector<Node>> keyNodes = groupingKeys(aggregate);
  if (failed(input) || failed(keyNodes)) {
    return failure();
  }
  SmallVector<Node> expressions = *keyNodes;
  SmallVector<frame::AggregateFunction> functions;
  SmallVector<Node> measureNodes;
  SmallVector<Node> conditions(expressions.size(), aggregate.get("none"));
  for (Node measure : aggregate.get("measures").elements()) {
    Node filter = measure.get("filter");
    Node argument = measure.get("none");
    FailureOr<frame::AggregateFunction> function =
        measureFunction(environment, measure.get("measure"), argument);
    if (failed(function)) {
      return failure();
    }
    if (filter && *function == frame::AggregateFunction::CountStar) {
      *function = frame::AggregateFunction::Count; // of a 1 where the filter is true
    }
    functions.push_back(*function);
    measureNodes.push_back(measure);
    if (*function != frame::AggregateFunction::CountStar) {
      expressions.push_back(argument);
      conditions.push_back(filter);
    }
  }
  SmallVector<StringAttr> names;
  FailureOr<Relation> source =
      addColumns(*input, input->columns(), expressions, aggregate, names, conditions);
  if (failed(source)) {
    return failure();
  }
  Relation result;
  SmallVector<frame::Column> columns;
  SmallVector<Attribute> keys;
  std::string text = "aggregate";
  for (StringAttr name : ArrayRef(names).take_front(keyNodes->size())) {
    result.fields.push_back(name);
    if (!llvm::is_contained(keys, name)) { // GROUP BY a, a
      keys.push_back(name);
      columns.push_back({name, source->typeOf(name)});
      text += (keys.size() == 1 ? " by " : ", ") + name.str();
    }
  }
  auto grouping = keys.empty() ? frame::Grouping::kGlobal : frame::Grouping::kByKeys;
  SmallVector<Attribute> measures;
  auto next = names.begin() + keyNodes->size();
  for (auto [function, node] : llvm::zip_equal(functions, measureNodes)) {
    bool star = function == frame::AggregateFunction::CountStar;
    StringAttr column = star ? StringAttr() : *next++;
    Type type = frame::measureType(function, column ? source->typeOf(column) : Type(), grouping,
                                   environment.context);
    StringRef functionName = frame::stringifyAggregateFunction(function);
    if (!type) {
      return node.fail("unsupported input type of " + functionName);
    }
    StringAttr name =
        uniqueName(column ? (functionName + "_" + column.getValue()).str() : functionName.str());
    measures.push_back(frame::MeasureAttr::get(environment.context, function, column, name));
    columns.push_back({name, type});
    result.fields.push_back(name);
  }
  result.table = frame::AggregateOp::create(
      builder, locate(aggregate, text), frame::TableType::get(environment.context, columns),
      source->table, builder.getArrayAttr(keys), builder.getArrayAttr(measures));
  return result;
}
