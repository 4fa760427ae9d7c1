// Substrait's aggregates.
#include "passes/import/Aggregates.h"
#include "passes/import/substrait/relations.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::substrait;
namespace frame = headrace::frame;

/// The key expressions of all groupings; which each takes goes to `grouping`.
static FailureOr<SmallVector<Node>> groupingKeys(Node aggregate, GroupingSets &grouping) {
  SmallVector<Node> groupings = aggregate.get("groupings").elements();
  if (groupings.empty()) {
    grouping.sets.emplace_back();
    return SmallVector<Node>();
  }
  grouping.numbered = groupings.size() > 1;
  SmallVector<Node> shared = aggregate.get("groupingExpressions").elements();
  if (shared.empty()) { // the older form
    if (grouping.numbered) {
      return aggregate.refuse("unsupported groupings that do not refer to common expressions");
    }
    SmallVector<Node> keys(groupings.front().get("groupingExpressions").elements());
    grouping.sets.emplace_back(llvm::to_vector(llvm::seq<int64_t>(0, keys.size())));
    return keys;
  }
  SmallVector<Node> keys;                         // in the order in which they are first asked for
  SmallVector<int64_t> places(shared.size(), -1); // among them
  for (Node entry : groupings) {
    SmallVector<int64_t> &set = grouping.sets.emplace_back();
    for (Node reference : entry.get("expressionReferences").elements()) {
      std::optional<int64_t> index = reference.integer();
      if (!index || *index < 0 || *index >= static_cast<int64_t>(shared.size())) {
        return reference.fail("reference to a grouping expression that does not exist");
      }
      if (places[*index] < 0) {
        places[*index] = static_cast<int64_t>(keys.size());
        keys.push_back(shared[*index]);
      }
      set.push_back(places[*index]);
    }
  }
  return keys;
}

FailureOr<MeasureRequest> RelationImporter::importMeasure(Node measure) {
  Node call = measure.get("measure");
  FailureOr<StringRef> name = expressions.functionName(call);
  if (failed(name)) {
    return failure();
  }
  const Aggregate *aggregate = aggregateOfSubstrait(*name);
  if (!aggregate) {
    return call.refuse("unsupported aggregate function: " + *name);
  }
  bool distinct = call.get("invocation").string() == StringRef("AGGREGATION_INVOCATION_DISTINCT");
  SmallVector<Node> arguments = callArguments(call);
  if (aggregate->function == frame::AggregateFunction::Count) { // of a constant counts rows
    Node literal = arguments.size() == 1 ? arguments.front().get("literal") : call.get("literal");
    if (arguments.empty() || (literal && !literal.get("null"))) {
      aggregate = aggregateOfDuckdb("count_star");
      arguments.clear();
    }
  }
  if (arguments.size() != aggregate->arguments) {
    return call.fail("wrong number of arguments of " + *name + ": " + Twine(arguments.size()));
  }
  SmallVector<Computed> computed;
  for (Node argument : arguments) {
    computed.push_back(expressions.computed(argument));
  }
  MeasureRequest request =
      aggregate->request(std::move(computed), distinct, Type(), measure.location());
  if (Node filter = measure.get("filter")) {
    request.condition = expressions.computed(filter).build;
  }
  return request;
}

MaybeRelation RelationImporter::importAggregate(Node aggregate) {
  MaybeRelation input = importInput(aggregate, "input");
  GroupingSets grouping;
  FailureOr<SmallVector<Node>> keyNodes = groupingKeys(aggregate, grouping);
  if (failed(input) || failed(keyNodes)) {
    return failure();
  }
  SmallVector<Computed> keys;
  for (Node key : *keyNodes) {
    keys.push_back(expressions.computed(key));
  }
  std::vector<MeasureRequest> measures;
  for (Node node : aggregate.get("measures").elements()) {
    FailureOr<MeasureRequest> measure = importMeasure(node);
    if (failed(measure)) {
      return failure();
    }
    measures.push_back(std::move(*measure));
  }
  return builder.aggregate(*input, keys, measures, grouping, aggregate.location());
}
