// Joins of DuckDB's plans.
#include "passes/import/duckdb/relations.h"

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::duckdb;
namespace frame = headrace::frame;

using Use = Field::Use;

FailureOr<JoinRequest> RelationImporter::joinKind(Node op) {
  StringRef type = op.get("join_type").string().value_or("");
  auto kind = llvm::StringSwitch<std::optional<frame::JoinKind>>(type)
                  .Case("INNER", frame::JoinKind::Inner)
                  .Case("LEFT", frame::JoinKind::Left)
                  .Case("RIGHT", frame::JoinKind::Right)
                  .Cases({"FULL", "OUTER"}, frame::JoinKind::Full)
                  .Case("SEMI", frame::JoinKind::Semi)
                  .Case("ANTI", frame::JoinKind::Anti)
                  .Case("MARK", frame::JoinKind::Mark)
                  .Case("SINGLE", frame::JoinKind::Single)
                  .Default(std::nullopt);
  if (!kind) {
    return context.fail(locate(op), "unsupported join: " + type);
  }
  JoinRequest request;
  request.kind = *kind;
  return request;
}

static std::optional<frame::CompareKind> comparisonNamed(StringRef name) {
  return llvm::StringSwitch<std::optional<frame::CompareKind>>(name)
      .Case("COMPARE_NOTEQUAL", frame::CompareKind::Ne)
      .Case("COMPARE_LESSTHAN", frame::CompareKind::Lt)
      .Case("COMPARE_LESSTHANOREQUALTO", frame::CompareKind::Le)
      .Case("COMPARE_GREATERTHAN", frame::CompareKind::Gt)
      .Case("COMPARE_GREATERTHANOREQUALTO", frame::CompareKind::Ge)
      .Default(std::nullopt);
}

/// Whether columns of the right side come out of a join.
static bool showsRight(frame::JoinKind kind) {
  return kind != frame::JoinKind::Mark && kind != frame::JoinKind::Semi &&
         kind != frame::JoinKind::Anti;
}

/// Whether a comparison is never NULL.
static bool isTwoValued(StringRef comparison) { return comparison.ends_with("DISTINCT_FROM"); }

/// Whether rows, structs without names, differ: as SQL has it, NULL where that depends on a NULL.
static MaybeExpression rowsDiffer(ExpressionBuilder &b, const Expression &left,
                                  const Expression &right, Location at) {
  auto row = dyn_cast<frame::StructType>(frame::dropNullable(left.type()));
  if (!row || !row.getNames().front().empty()) {
    return b.compare(frame::CompareKind::Ne, left, right, at);
  }
  SmallVector<Expression> differ;
  for (unsigned field = 0; field < row.getFieldTypes().size(); ++field) {
    MaybeExpression one =
        rowsDiffer(b, b.fieldOf(left, field, at), b.fieldOf(right, field, at), at);
    if (failed(one)) {
      return failure();
    }
    differ.push_back(*one);
  }
  return b.connect(ExpressionBuilder::Connective::kOr, differ, at);
}

MaybeRelation RelationImporter::importComparisonJoin(Node op) {
  if (failed(expectOnly(op, {{"join_type", Use::kRead},
                             {"mark_index", Use::kHarmless},
                             {"left_projection_map", Use::kRead},
                             {"right_projection_map", Use::kRead},
                             {"conditions", Use::kRead},
                             {"mark_types", Use::kHarmless}, // those of the correlated columns
                             {"duplicate_eliminated_columns", Use::kEmpty},
                             {"delim_flipped", Use::kEmpty},
                             {"predicate", Use::kEmpty}}))) {
    return failure();
  }
  FailureOr<JoinRequest> request = joinKind(op);
  FailureOr<SmallVector<Relation>> inputs = importChildren(op, 2);
  if (failed(request) || failed(inputs)) {
    return failure();
  }
  Location at = locate(op);
  int64_t leftCount = inputs->front().fields.size();
  size_t memberships = 0, threeValued = 0;
  for (Node condition : op.get("conditions").elements()) {
    if (failed(
            expectFields(condition, "a join's condition",
                         {{"left", Use::kRead}, {"right", Use::kRead}, {"comparison", Use::kRead}},
                         context, at))) {
      return failure();
    }
    StringRef comparison = condition.get("comparison").string().value_or("");
    Node left = ExpressionImporter::beforeNormalized(condition.get("left"));
    Node right = ExpressionImporter::beforeNormalized(condition.get("right"));
    Location place = expressions.locate(left, at);
    if (!left || (comparison != "INVALID" && !right)) {
      return condition.fail("expected a comparison of two sides");
    }
    threeValued += !isTwoValued(comparison);
    memberships += comparison == "COMPARE_EQUAL";
    if (comparison == "INVALID") { // any expression over both sides
      request->conditions.push_back(
          {JoinCondition::Kind::kAny, expressions.computed(left, place), {}, place});
      continue;
    }
    Computed leftSide = expressions.computed(left, place);
    Computed rightSide = expressions.computed(right, place, leftCount);
    if (comparison == "COMPARE_EQUAL" || comparison == "COMPARE_NOT_DISTINCT_FROM") {
      auto kind = comparison == "COMPARE_EQUAL" ? JoinCondition::Kind::kEqual
                                                : JoinCondition::Kind::kNullSafe;
      request->conditions.push_back({kind, leftSide, rightSide, place});
      continue;
    }
    const bool differ = request->kind == frame::JoinKind::Mark && comparison == "COMPARE_NOTEQUAL";
    auto compare = [=](ExpressionBuilder &b) -> MaybeExpression {
      MaybeExpression lhs = leftSide.build(b);
      MaybeExpression rhs = failed(lhs) ? lhs : rightSide.build(b);
      if (failed(rhs)) {
        return failure();
      }
      if (comparison == "COMPARE_DISTINCT_FROM") {
        return b.isDistinct(*lhs, *rhs, place);
      }
      std::optional<frame::CompareKind> kind = comparisonNamed(comparison);
      if (!kind) {
        return b.fail(place, "unsupported comparison in a join: " + comparison);
      }
      return differ ? rowsDiffer(b, *lhs, *rhs, place) : b.compare(*kind, *lhs, *rhs, place);
    };
    request->conditions.push_back(
        {JoinCondition::Kind::kAny, Computed{std::nullopt, {}, compare}, {}, place});
  }
  if (request->kind == frame::JoinKind::Mark && threeValued > 0) {
    // x IN (query): its comparison goes last; several, of a row, are one predicate in the residual.
    request->nullAware = true;
    bool oneKey = memberships == 1 && threeValued == 1;
    auto membership = llvm::find_if(request->conditions, [](const JoinCondition &condition) {
      return condition.kind == JoinCondition::Kind::kEqual;
    });
    if (oneKey) {
      std::rotate(membership, std::next(membership), request->conditions.end());
    }
    for (JoinCondition &condition : request->conditions) {
      if (!oneKey && condition.kind == JoinCondition::Kind::kEqual) {
        condition.left.build = RelationBuilder::comparison(condition);
        condition.kind = JoinCondition::Kind::kAny;
      }
    }
  }
  MaybeRelation result = builder.join((*inputs)[0], (*inputs)[1], *request, at);
  if (failed(result)) {
    return failure();
  }
  SmallVector<Node> leftMap = op.get("left_projection_map").elements();
  SmallVector<Node> rightMap;
  if (showsRight(request->kind)) { // else the map is of what its conditions need
    rightMap = op.get("right_projection_map").elements();
  }
  if (leftMap.empty() && rightMap.empty()) {
    return result;
  }
  SmallVector<int64_t> fields;
  int64_t total = result->fields.size();
  auto choose = [&](ArrayRef<Node> map, int64_t begin, int64_t end) {
    if (map.empty()) {
      llvm::append_range(fields, llvm::seq(begin, end));
    }
    for (Node entry : map) {
      std::optional<int64_t> index = entry.integer();
      if (!index || *index < 0 || *index >= end - begin) {
        return LogicalResult(entry.fail("output column is not one of the side's"));
      }
      fields.push_back(begin + *index);
    }
    return success();
  };
  if (failed(choose(leftMap, 0, leftCount)) || failed(choose(rightMap, leftCount, total))) {
    return failure();
  }
  return builder.select(*result, fields, at);
}

MaybeRelation RelationImporter::importNearestJoin(Node op) {
  if (failed(expectOnly(op, {{"join_type", Use::kRead},
                             {"mark_index", Use::kHarmless},
                             {"left_projection_map", Use::kEmpty},
                             {"right_projection_map", Use::kEmpty},
                             {"conditions", Use::kRead},
                             {"mark_types", Use::kHarmless},
                             {"duplicate_eliminated_columns", Use::kEmpty},
                             {"delim_flipped", Use::kEmpty},
                             {"predicate", Use::kEmpty}}))) {
    return failure();
  }
  FailureOr<JoinRequest> kind = joinKind(op);
  FailureOr<SmallVector<Relation>> inputs = importChildren(op, 2);
  if (failed(kind) || failed(inputs)) {
    return failure();
  }
  Location at = locate(op);
  NearestRequest request{.kind = kind->kind, .value = {JoinCondition::Kind::kAny, {}, {}, at}};
  const auto leftCount = static_cast<int64_t>(inputs->front().fields.size());
  size_t inequalities = 0, others = 0;
  for (Node condition : op.get("conditions").elements()) {
    const StringRef comparison = condition.get("comparison").string().value_or("");
    Node left = ExpressionImporter::beforeNormalized(condition.get("left"));
    Node right = ExpressionImporter::beforeNormalized(condition.get("right"));
    Location place = expressions.locate(left, at);
    Computed leftSide = expressions.computed(left, place);
    if (comparison == "INVALID") { // any expression over both sides
      request.conditions.push_back({JoinCondition::Kind::kAny, leftSide, {}, place});
      ++others;
      continue;
    }
    Computed rightSide = expressions.computed(right, place, leftCount);
    if (comparison == "COMPARE_EQUAL" || comparison == "COMPARE_NOT_DISTINCT_FROM") {
      request.conditions.push_back({comparison == "COMPARE_EQUAL" ? JoinCondition::Kind::kEqual
                                                                  : JoinCondition::Kind::kNullSafe,
                                    leftSide, rightSide, place});
      continue;
    }
    std::optional<frame::CompareKind> inequality = comparisonNamed(comparison);
    if (!inequality || *inequality == frame::CompareKind::Ne || ++inequalities > 1) {
      return context.fail(at, "unsupported ASOF JOIN: only equalities and one of < <= > >=");
    }
    request.comparison = *inequality;
    request.value = {JoinCondition::Kind::kAny, leftSide, rightSide, place};
  }
  if (inequalities == 0) {
    return op.fail("expected an inequality among the conditions of an ASOF JOIN");
  }
  const bool keepsRight =
      kind->kind == frame::JoinKind::Right || kind->kind == frame::JoinKind::Full;
  const bool isOfSubquery =
      kind->kind == frame::JoinKind::Mark || kind->kind == frame::JoinKind::Single;
  if (isOfSubquery || (keepsRight && others > 0)) { // DuckDB's binder makes and takes none
    return context.fail(at, "unsupported ASOF JOIN: a right or full one under further conditions");
  }
  return builder.joinNearest((*inputs)[0], (*inputs)[1], request, at);
}

MaybeRelation RelationImporter::importAnyJoin(Node op) {
  if (failed(expectOnly(op, {{"join_type", Use::kRead},
                             {"mark_index", Use::kHarmless},
                             {"left_projection_map", Use::kEmpty},
                             {"right_projection_map", Use::kEmpty},
                             {"condition", Use::kRead}}))) {
    return failure();
  }
  FailureOr<JoinRequest> request = joinKind(op);
  FailureOr<SmallVector<Relation>> inputs = importChildren(op, 2);
  if (failed(request) || failed(inputs)) {
    return failure();
  }
  Location at = locate(op);
  request->nullAware = request->kind == frame::JoinKind::Mark;
  Node condition = op.get("condition");
  bool always = condition.get("value").get("value").boolean().value_or(false);
  if (!always) {
    request->conditions.push_back(
        {JoinCondition::Kind::kAny, expressions.computed(condition, at), {}, at});
  }
  return builder.join((*inputs)[0], (*inputs)[1], *request, at);
}

MaybeRelation RelationImporter::importCrossProduct(Node op) {
  if (failed(expectOnly(op, {}))) {
    return failure();
  }
  FailureOr<SmallVector<Relation>> inputs = importChildren(op, 2);
  if (failed(inputs)) {
    return failure();
  }
  return builder.join((*inputs)[0], (*inputs)[1], JoinRequest(), locate(op));
}
