// DISTINCT and set operations of DuckDB's plans.
#include "passes/import/duckdb/relations.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::duckdb;
namespace frame = headrace::frame;

using Use = Field::Use;

static SmallVector<int64_t> firstFields(size_t count) {
  return llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(count)));
}

MaybeRelation RelationImporter::numberRows(const Relation &input, ArrayRef<Computed> partition,
                                           ArrayRef<RelationBuilder::SortKey> order, Location at) {
  WindowFunctionRequest number{.kind = frame::WindowFunctionKind::RowNumber, .at = at};
  return builder.window(input, partition, order, {number}, at);
}

MaybeRelation RelationImporter::importDistinct(Node op) {
  if (failed(expectOnly(op, {{"distinct_type", Use::kRead},
                             {"distinct_targets", Use::kRead},
                             {"order_by", Use::kRead}}))) {
    return failure();
  }
  Location at = locate(op);
  const bool isOn = op.get("distinct_type").string() == StringRef("DISTINCT_ON");
  RelationBuilder::RowsInOrder inOrder(builder, isOn);
  FailureOr<SmallVector<Relation>> inputs = importChildren(op, 1);
  if (failed(inputs)) {
    return failure();
  }
  const Relation &input = inputs->front();
  SmallVector<Node> targets = op.get("distinct_targets").elements();
  if (isOn) {
    return importDistinctOn(input, targets, op.get("order_by").get("orders").elements(), at);
  }
  bool all = targets.size() == input.fields.size();
  for (auto [index, given] : llvm::enumerate(targets)) {
    Node target = ExpressionImporter::beforeNormalized(given);
    all &= target.get("type").string() == StringRef("BOUND_REF") &&
           target.get("index").integer() == static_cast<int64_t>(index);
  }
  if (!all || op.get("order_by")) {
    return context.fail(at, "unsupported DISTINCT of some columns");
  }
  Node child = op.get("children").elements().front();
  StringRef kind = child.get("type").string().value_or("");
  bool isSet = (kind == "LOGICAL_INTERSECT" || kind == "LOGICAL_EXCEPT") &&
               !child.get("setop_all").boolean().value_or(false); // has no duplicates
  return isSet ? MaybeRelation(input) : builder.distinct(input, at);
}

MaybeRelation RelationImporter::importDistinctOn(const Relation &input, ArrayRef<Node> targets,
                                                 ArrayRef<Node> orders, Location at) {
  FailureOr<SmallVector<RelationBuilder::SortKey>> order = importSortKeys(orders, at);
  if (failed(order)) {
    return failure();
  }
  SmallVector<Computed> partition;
  for (Node target : targets) {
    partition.push_back(expressions.computed(ExpressionImporter::beforeNormalized(target), at));
  }
  Relation rows = input;
  llvm::append_range(*order, RelationBuilder::showOrder(rows, at)); // of equal rows the first
  MaybeRelation numbered = numberRows(rows, partition, *order, at);
  if (failed(numbered)) {
    return failure();
  }
  auto count = static_cast<int64_t>(rows.fields.size());
  MaybeRelation first = builder.filter(
      *numbered,
      [=](ExpressionBuilder &b) -> MaybeExpression {
        Type i64 = IntegerType::get(b.getContext(), 64);
        return b.compare(frame::CompareKind::Eq, *b.field(count, at), b.integer(1, i64, at), at);
      },
      at);
  return failed(first) ? first : builder.select(*first, firstFields(input.fields.size()), at);
}

MaybeRelation RelationImporter::importSetOperation(Node op) {
  if (failed(expectOnly(op, {{"setop_all", Use::kRead}, {"allow_out_of_order", Use::kHarmless}}))) {
    return failure();
  }
  StringRef type = op.get("type").string().value_or("");
  bool all = op.get("setop_all").boolean().value_or(false);
  Location at = locate(op);
  FailureOr<SmallVector<Relation>> inputs =
      importChildren(op, op.get("children").elements().size());
  if (failed(inputs)) {
    return failure();
  }
  if (type == "LOGICAL_UNION") {
    MaybeRelation result = builder.unite(*inputs, at);
    return failed(result) || all ? result : builder.distinct(*result, at);
  }
  if (inputs->size() < 2) {
    return op.fail("expected at least two inputs");
  }
  auto kind = type == "LOGICAL_EXCEPT" ? frame::JoinKind::Anti : frame::JoinKind::Semi;
  MaybeRelation result = inputs->front();
  for (const Relation &other : ArrayRef(*inputs).drop_front()) {
    if (other.fields.size() != result->fields.size()) {
      return op.fail("inputs of a set operation must have as many columns as each other");
    }
    result = joinSets(*result, other, kind, all, at);
    if (failed(result)) {
      return failure();
    }
  }
  return result;
}

MaybeRelation RelationImporter::joinSets(const Relation &left, const Relation &right,
                                         frame::JoinKind kind, bool all, Location at) {
  auto count = static_cast<int64_t>(left.fields.size());
  SmallVector<Computed> every;
  for (int64_t index = 0; index < count; ++index) {
    every.push_back(Computed::ofField(index, at));
  }
  MaybeRelation rows = all ? numberRows(left, every, {}, at) : builder.distinct(left, at);
  MaybeRelation others = all ? numberRows(right, every, {}, at) : MaybeRelation(right);
  if (failed(rows) || failed(others)) {
    return failure();
  }
  auto width = static_cast<int64_t>(rows->fields.size());
  JoinRequest request;
  request.kind = kind;
  for (int64_t index = 0; index < width; ++index) {
    request.conditions.push_back({JoinCondition::Kind::kNullSafe, Computed::ofField(index, at),
                                  Computed::ofField(width + index, at), at});
  }
  MaybeRelation joined = builder.join(*rows, *others, request, at);
  return failed(joined) ? joined : builder.select(*joined, firstFields(count), at);
}
