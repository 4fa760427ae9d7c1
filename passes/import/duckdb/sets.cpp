// DISTINCT and set operations of DuckDB's plans.
#include "passes/import/duckdb/relations.h"

#include "runtime/base/text_functions.h"

#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::duckdb;
namespace frame = headrace::frame;

using Use = Field::Use;

static SmallVector<int64_t> firstFields(size_t count) {
  return llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(count)));
}

/// The collations of an operator's columns, as far as they have any.
static SmallVector<StringRef> collationsOf(Node op) {
  static constexpr StringRef kOfInput[] = {"LOGICAL_FILTER",    "LOGICAL_ORDER_BY", "LOGICAL_LIMIT",
                                           "LOGICAL_DISTINCT",  "LOGICAL_SAMPLE",   "LOGICAL_UNION",
                                           "LOGICAL_INTERSECT", "LOGICAL_EXCEPT"};
  while (llvm::is_contained(kOfInput, op.get("type").string().value_or(""))) {
    op = op.get("children").elements().front();
  }
  SmallVector<StringRef> collations;
  if (op.get("type").string() == StringRef("LOGICAL_PROJECTION")) {
    for (Node expression : op.get("expressions").elements()) {
      Node info = expression.get("return_type").get("type_info");
      StringRef collation = info.get("collation").string().value_or("");
      const bool isOfBytes = llvm::is_contained({"c", "posix", "binary"}, collation.lower());
      collations.push_back(isOfBytes ? "" : collation);
    }
  }
  return collations;
}

/// The function that a part of a collation is.
static StringRef functionOf(StringRef part) {
  return llvm::StringSwitch<StringRef>(part)
      .CaseLower("nocase", "lower")
      .CaseLower("noaccent", "strip_accents")
      .CaseLower("nfc", "nfc_normalize")
      .Default("");
}

/// A text as it is compared in a collation of parts that are functions.
static Computed collated(int64_t field, StringRef collation, Location at) {
  SmallVector<StringRef> parts;
  collation.split(parts, '.', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  auto build = [=](ExpressionBuilder &b) -> MaybeExpression {
    MaybeExpression text = b.field(field, at);
    for (StringRef part : llvm::reverse(parts)) {
      const auto *function = headrace::textFunctionNamed(functionOf(part));
      text = failed(text) ? text : b.text(*function, *text, text->type(), at);
    }
    return text;
  };
  return parts.empty() ? Computed::ofField(field, at) : Computed{std::nullopt, "key", build};
}

MaybeRelation RelationImporter::numberRows(const Relation &input, ArrayRef<Computed> partition,
                                           ArrayRef<RelationBuilder::SortKey> order, Location at) {
  WindowFunctionRequest number{.kind = frame::WindowFunctionKind::RowNumber, .at = at};
  return builder.window(input, partition, order, {number}, at);
}

/// Whether they are the first fields, as they are.
static bool areFieldsInOrder(ArrayRef<Node> targets) {
  return llvm::all_of(llvm::enumerate(targets), [](auto target) {
    Node key = ExpressionImporter::beforeNormalized(target.value());
    return key.get("type").string() == StringRef("BOUND_REF") &&
           key.get("index").integer() == static_cast<int64_t>(target.index());
  });
}

MaybeRelation RelationImporter::importDistinct(Node op) {
  if (failed(expectOnly(op, {{"distinct_type", Use::kRead},
                             {"distinct_targets", Use::kRead},
                             {"order_by", Use::kRead}}))) {
    return failure();
  }
  Location at = locate(op);
  SmallVector<Node> targets = op.get("distinct_targets").elements();
  // Else of rows with the same values, such as texts in a collation, the first.
  const bool isOfRows = op.get("distinct_type").string() != StringRef("DISTINCT_ON") &&
                        !op.get("order_by") && areFieldsInOrder(targets);
  RelationBuilder::RowsInOrder inOrder(builder, !isOfRows);
  FailureOr<SmallVector<Relation>> inputs = importChildren(op, 1);
  if (failed(inputs)) {
    return failure();
  }
  const Relation &input = inputs->front();
  if (!isOfRows || targets.size() != input.fields.size()) {
    return importDistinctOn(input, targets, op.get("order_by").get("orders").elements(), at);
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
  const SmallVector<StringRef> collations = collationsOf(op);
  for (StringRef collation : collations) {
    for (StringRef part : llvm::split(collation, '.')) {
      if (!collation.empty() && functionOf(part).empty()) {
        return expressions.unsupportedCollation(part, at);
      }
    }
  }
  MaybeRelation result = inputs->front();
  for (const Relation &other : ArrayRef(*inputs).drop_front()) {
    if (other.fields.size() != result->fields.size()) {
      return op.fail("inputs of a set operation must have as many columns as each other");
    }
    result = joinSets(*result, other, kind, all, collations, at);
    if (failed(result)) {
      return failure();
    }
  }
  return result;
}

MaybeRelation RelationImporter::joinSets(const Relation &left, const Relation &right,
                                         frame::JoinKind kind, bool all,
                                         ArrayRef<StringRef> collations, Location at) {
  auto count = static_cast<int64_t>(left.fields.size());
  auto key = [&](int64_t field, int64_t index) {
    const auto place = static_cast<size_t>(index);
    return collated(field, place < collations.size() ? collations[place] : "", at);
  };
  SmallVector<Computed> every;
  for (int64_t index = 0; index < count; ++index) {
    every.push_back(key(index, index));
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
    request.conditions.push_back(
        {JoinCondition::Kind::kNullSafe, key(index, index), key(width + index, index), at});
  }
  MaybeRelation joined = builder.join(*rows, *others, request, at);
  return failed(joined) ? joined : builder.select(*joined, firstFields(count), at);
}
