// Joins with the nearest row of the other side (ASOF), made of windows and an equality join; with
// other conditions than on equal keys, of all pairs of rows.
#include "passes/import/RelationBuilder.h"

using namespace mlir;
using namespace headrace::import;
namespace frame = headrace::frame;
using Kind = frame::WindowFunctionKind;

static void appendFields(SmallVectorImpl<Computed> &out, int64_t begin, int64_t end, Location at) {
  for (int64_t field : llvm::seq(begin, end)) {
    out.push_back(Computed::ofField(field, at));
  }
}

/// The same value in each row.
static Computed same(std::function<Expression(ExpressionBuilder &)> value, StringRef name) {
  return {std::nullopt, name.str(),
          [=](ExpressionBuilder &b) -> MaybeExpression { return value(b); }};
}

static Computed nullOf(Type type, Location at) {
  return same([=](ExpressionBuilder &b) { return b.null(frame::dropNullable(type), at); }, "none");
}

/// What the first of some rows that are numbered has.
static Expression firstNumber(ExpressionBuilder &b, Location at) {
  return b.integer(1, IntegerType::get(b.getContext(), 64), at);
}
static BuildExpression isFirst(int64_t number, Location at) {
  return [=](ExpressionBuilder &b) -> MaybeExpression {
    return b.compare(frame::CompareKind::Eq, *b.field(number, at), firstNumber(b, at), at);
  };
}

/// Whether the nearest right value is the greatest of those that are left.
static bool looksBefore(const NearestRequest &request) {
  return request.comparison == frame::CompareKind::Gt ||
         request.comparison == frame::CompareKind::Ge;
}

static JoinCondition inequalityOf(const NearestRequest &request) {
  const JoinCondition &value = request.value;
  auto compare = [left = value.left.build, right = value.right.build, at = value.at,
                  comparison = request.comparison](ExpressionBuilder &b) -> MaybeExpression {
    MaybeExpression lhs = left(b);
    MaybeExpression rhs = failed(lhs) ? lhs : right(b);
    return failed(rhs) ? rhs : b.compare(comparison, *lhs, *rhs, at);
  };
  return {JoinCondition::Kind::kAny, {std::nullopt, {}, compare}, {}, value.at};
}

/// Of pairs of rows for which the conditions hold, the nearest of each left row.
MaybeRelation RelationBuilder::joinNearestPairs(const Relation &left, const Relation &right,
                                                const NearestRequest &request, Location at) {
  WindowFunctionRequest number{.kind = Kind::RowNumber, .at = at};
  MaybeRelation numbered = window(left, {}, {}, number, at);
  if (failed(numbered)) {
    return failure();
  }
  const StringAttr row = numbered->fields.pop_back_val(); // conditions do not count it
  JoinRequest pairs{request.kind, request.conditions};
  pairs.conditions.push_back(inequalityOf(request));
  MaybeRelation joined = join(*numbered, right, pairs, at);
  if (failed(joined)) {
    return failure();
  }
  const auto fields = static_cast<int64_t>(joined->fields.size());
  joined->fields.push_back(row);
  SortKey nearest{request.value.right,
                  looksBefore(request) ? frame::SortDirection::Desc : frame::SortDirection::Asc,
                  frame::NullsOrder::Last};
  MaybeRelation ranked = window(*joined, Computed::ofField(fields, at), nearest, number, at);
  MaybeRelation first = failed(ranked) ? ranked : filter(*ranked, isFirst(fields + 1, at), at);
  return failed(first) ? first : select(*first, llvm::to_vector(llvm::seq<int64_t>(0, fields)), at);
}

/// Over the rows of both sides in order, the greatest right value so far (or the least one that is
/// still to come) is the one that a left row joins.
MaybeRelation RelationBuilder::joinNearestKeys(const Relation &left, const Relation &right,
                                               const NearestRequest &request, Location at) {
  const auto leftFields = static_cast<int64_t>(left.fields.size());
  const auto rightFields = static_cast<int64_t>(right.fields.size());
  const auto keys = static_cast<int64_t>(request.conditions.size());
  const bool keepsRight =
      request.kind == frame::JoinKind::Right || request.kind == frame::JoinKind::Full;
  SmallVector<Computed> leftOrder, rightOrder;
  for (const JoinCondition &key : request.conditions) {
    leftOrder.push_back(key.left);
    rightOrder.push_back(key.right);
  }
  SmallVector<frame::Column> both = left.columns();
  both.append(right.columns());
  auto ordered = [&](const Computed &value, ArrayRef<frame::Column> fields) {
    return orderBy({value, frame::SortDirection::Asc, frame::NullsOrder::Last}, fields, at)
        .expression;
  };
  leftOrder.push_back(ordered(request.value.left, left.columns()));
  rightOrder.push_back(ordered(request.value.right, both));
  SmallVector<StringAttr> leftNames, rightNames;
  // Of each side the fields, then the keys, then the value in the order.
  MaybeRelation sought = addColumns(left, left.columns(), leftOrder, leftNames, at);
  MaybeRelation candidates =
      failed(sought) ? sought : addColumns(right, both, rightOrder, rightNames, at);
  if (failed(candidates)) {
    return failure();
  }
  sought->fields.append(leftNames);
  candidates->fields.append(rightNames);
  // Of right rows with the same keys and value, the first can be joined.
  SmallVector<Computed> moment;
  appendFields(moment, rightFields, rightFields + keys + 1, at);
  WindowFunctionRequest number{.kind = Kind::RowNumber, .at = at};
  candidates = window(*candidates, moment, {}, number, at);
  const int64_t numberField = rightFields + keys + 1;
  if (succeeded(candidates) && !keepsRight) {
    candidates = filter(*candidates, isFirst(numberField, at), at);
  }
  if (failed(candidates)) {
    return failure();
  }

  // Both sides under each other: the left fields, the keys, the value, and that of right rows.
  const int64_t value = leftFields + keys;
  SmallVector<Computed> ofLeft, ofRight;
  appendFields(ofLeft, 0, value + 1, at);
  Type valueType = sought->typeOf(sought->fields[value]);
  ofLeft.push_back(nullOf(valueType, at));
  auto side = [at](bool isLeft) {
    return same(
        [=](ExpressionBuilder &b) {
          Type i1 = IntegerType::get(b.getContext(), 1);
          return b.constant(BoolAttr::get(b.getContext(), isLeft), i1, at);
        },
        "is_left");
  };
  ofLeft.push_back(side(true));
  for (StringAttr field : ArrayRef(left.fields)) {
    ofRight.push_back(nullOf(left.typeOf(field), at));
  }
  appendFields(ofRight, rightFields, rightFields + keys + 1, at);
  ofRight.push_back(Computed::ofField(rightFields + keys, at));
  ofRight.push_back(side(false));
  MaybeRelation leftRows = project(*sought, ofLeft, at);
  MaybeRelation rightRows = failed(leftRows) ? leftRows : project(*candidates, ofRight, at);
  MaybeRelation all = failed(rightRows) ? rightRows : unite({*leftRows, *rightRows}, at);
  if (failed(all)) {
    return failure();
  }

  SmallVector<Computed> partition;
  appendFields(partition, leftFields, value, at);
  const bool before = looksBefore(request);
  bool strict =
      request.comparison == frame::CompareKind::Gt || request.comparison == frame::CompareKind::Lt;
  SortKey order{Computed::ofField(value, at),
                before ? frame::SortDirection::Asc : frame::SortDirection::Desc,
                frame::NullsOrder::Last};
  WindowFunctionRequest nearest{.at = at};
  nearest.measure = {.function =
                         before ? frame::AggregateFunction::Max : frame::AggregateFunction::Min,
                     .arguments = {Computed::ofField(value + 1, at)},
                     .at = at};
  nearest.frame = {.exclude = strict ? frame::FrameExclusion::Group : frame::FrameExclusion::None};
  MaybeRelation found = window(*all, partition, order, nearest, at);
  found = failed(found)
              ? found
              : filter(*found, [=](ExpressionBuilder &b) { return b.field(value + 2, at); }, at);
  if (failed(found)) {
    return failure();
  }

  JoinRequest join{request.kind, {}};
  const int64_t foundFields = value + 4;
  auto equal = [&](const Computed &ofFound, int64_t ofCandidates, JoinCondition::Kind kind) {
    join.conditions.push_back(
        {kind, ofFound, Computed::ofField(foundFields + ofCandidates, at), at});
  };
  for (int64_t key : llvm::seq(keys)) {
    equal(Computed::ofField(leftFields + key, at), rightFields + key, request.conditions[key].kind);
  }
  // What has no value itself comes last in the order, and has seen all others.
  Computed nearestValue{std::nullopt, "nearest", [=](ExpressionBuilder &b) -> MaybeExpression {
                          MaybeExpression known = b.isNotNull(*b.field(value, at), at);
                          return failed(known)
                                     ? known
                                     : b.choose(*known, *b.field(value + 3, at), nullptr, at);
                        }};
  equal(nearestValue, rightFields + keys, JoinCondition::Kind::kEqual);
  if (keepsRight) {
    equal(same([=](ExpressionBuilder &b) { return firstNumber(b, at); }, "first"), numberField,
          JoinCondition::Kind::kEqual);
  }
  MaybeRelation joined = this->join(*found, rename(*candidates, at), join, at);
  if (failed(joined)) {
    return failure();
  }
  SmallVector<int64_t> fields = llvm::to_vector(llvm::seq<int64_t>(0, leftFields));
  llvm::append_range(fields, llvm::seq(foundFields, foundFields + rightFields));
  return select(*joined, fields, at);
}

MaybeRelation RelationBuilder::joinNearest(const Relation &left, const Relation &right,
                                           const NearestRequest &request, Location at) {
  if (request.kind == frame::JoinKind::Semi || request.kind == frame::JoinKind::Anti) {
    JoinRequest any{request.kind, request.conditions}; // where there is one, there is a nearest
    any.conditions.push_back(inequalityOf(request));
    return join(left, right, any, at);
  }
  const bool isByKeys = llvm::none_of(request.conditions, [](const JoinCondition &condition) {
    return condition.kind == JoinCondition::Kind::kAny;
  });
  return isByKeys ? joinNearestKeys(left, right, request, at)
                  : joinNearestPairs(left, right, request, at);
}
