// Joins with the nearest row of the other side (ASOF), made of windows and an equality join: over
// the rows of both sides in order, the greatest right value so far is the one that a left row
// joins.
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

/// The fields, then the keys, then the value in the order.
static SmallVector<Computed> withOrder(const Relation &side, ArrayRef<Computed> keys,
                                       const Computed &value, Location at) {
  SmallVector<Computed> fields;
  appendFields(fields, 0, static_cast<int64_t>(side.fields.size()), at);
  llvm::append_range(fields, keys);
  fields.push_back(value);
  return fields;
}

/// Of rows with the same keys and value, one; of rows without a value, none.
MaybeRelation RelationBuilder::onePerMoment(const Relation &side, int64_t keysBegin, Location at) {
  auto end = static_cast<int64_t>(side.fields.size());
  MaybeRelation known = filter(
      side,
      [=](ExpressionBuilder &b) -> MaybeExpression {
        return b.isNotNull(*b.field(end - 1, at), at);
      },
      at);
  SmallVector<Computed> moment;
  appendFields(moment, keysBegin, end, at);
  WindowFunctionRequest number{.kind = Kind::RowNumber, .at = at};
  MaybeRelation numbered = failed(known) ? known : window(*known, moment, {}, number, at);
  MaybeRelation one = failed(numbered)
                          ? numbered
                          : filter(
                                *numbered,
                                [=](ExpressionBuilder &b) -> MaybeExpression {
                                  Type i64 = IntegerType::get(b.getContext(), 64);
                                  return b.compare(frame::CompareKind::Eq, *b.field(end, at),
                                                   b.integer(1, i64, at), at);
                                },
                                at);
  return failed(one) ? one : select(*one, llvm::to_vector(llvm::seq<int64_t>(0, end)), at);
}

MaybeRelation RelationBuilder::joinNearest(const Relation &left, const Relation &right,
                                           const NearestRequest &request, Location at) {
  auto leftFields = static_cast<int64_t>(left.fields.size());
  auto rightFields = static_cast<int64_t>(right.fields.size());
  auto keys = static_cast<int64_t>(request.leftKeys.size());
  MaybeRelation ordered =
      project(left, withOrder(left, request.leftKeys, request.leftValue, at), at);
  MaybeRelation candidates =
      failed(ordered)
          ? ordered
          : project(right, withOrder(right, request.rightKeys, request.rightValue, at), at);
  candidates = failed(candidates) ? candidates : onePerMoment(*candidates, rightFields, at);
  if (failed(candidates)) {
    return failure();
  }

  // Both sides under each other: the left fields, the keys, the value, and that of right rows.
  const int64_t value = leftFields + keys;
  SmallVector<Computed> ofLeft, ofRight;
  appendFields(ofLeft, 0, value + 1, at);
  Type valueType = ordered->typeOf(ordered->fields[value]);
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
  MaybeRelation leftRows = project(*ordered, ofLeft, at);
  MaybeRelation rightRows = failed(leftRows) ? leftRows : project(*candidates, ofRight, at);
  MaybeRelation all = failed(rightRows) ? rightRows : unite({*leftRows, *rightRows}, at);
  if (failed(all)) {
    return failure();
  }

  SmallVector<Computed> partition;
  appendFields(partition, leftFields, value, at);
  bool before =
      request.comparison == frame::CompareKind::Gt || request.comparison == frame::CompareKind::Ge;
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

  JoinRequest join;
  join.kind = request.kind;
  const int64_t foundFields = value + 4;
  for (int64_t key : llvm::seq(keys)) {
    join.conditions.push_back({JoinCondition::Kind::kEqual, Computed::ofField(leftFields + key, at),
                               Computed::ofField(foundFields + rightFields + key, at), at});
  }
  join.conditions.push_back({JoinCondition::Kind::kEqual, Computed::ofField(value + 3, at),
                             Computed::ofField(foundFields + rightFields + keys, at), at});
  // What has no value itself comes last in the order, and has seen all others.
  join.conditions.push_back({JoinCondition::Kind::kAny,
                             {std::nullopt,
                              {},
                              [=](ExpressionBuilder &b) -> MaybeExpression {
                                return b.isNotNull(*b.field(value, at), at);
                              }},
                             {},
                             at});
  MaybeRelation joined = this->join(*found, rename(*candidates, at), join, at);
  if (failed(joined)) {
    return failure();
  }
  SmallVector<int64_t> fields = llvm::to_vector(llvm::seq<int64_t>(0, leftFields));
  llvm::append_range(fields, llvm::seq(foundFields, foundFields + rightFields));
  return select(*joined, fields, at);
}
