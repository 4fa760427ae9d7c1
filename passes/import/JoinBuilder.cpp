// Joins of any front end: comparisons of the two sides become equal columns, the rest is a residual
// predicate.
#include "dialects/frame/FrameConstants.h"
#include "passes/import/RelationBuilder.h"

using namespace mlir;
using namespace headrace::import;
namespace frame = headrace::frame;

/// The literal 0, '' or false of a type.
static Attribute zeroOf(Type type) {
  Type value = frame::dropNullable(type);
  if (frame::isString(value)) {
    return frame::literalAttr(std::string(), value);
  }
  if (frame::isBoolean(value)) {
    return frame::literalAttr(false, value);
  }
  return frame::isFloat(value) ? frame::literalAttr(0.0, value)
                               : frame::literalAttr(llvm::APInt(frame::kLiteralBits, 0), value);
}

Relation RelationBuilder::addNullSafeKeys(Relation input, ArrayRef<StringAttr> columns, Location at,
                                          SmallVectorImpl<Attribute> &keys) {
  if (columns.empty()) {
    return input;
  }
  SmallVector<Computed> added;
  SmallVector<frame::Column> fields = input.type().getColumns();
  for (StringAttr name : columns) {
    int64_t index = *input.type().findColumn(name);
    added.push_back(
        {std::nullopt, name.str() + "_is_null", [=](ExpressionBuilder &b) -> MaybeExpression {
           MaybeExpression value = b.field(index, at);
           Type flag = IntegerType::get(b.getContext(), 64);
           Expression none = b.integer(0, flag, at);
           return b.choose(b.isNull(*value, at), b.integer(1, flag, at), &none, at);
         }});
    added.push_back(
        {std::nullopt, name.str() + "_or_zero", [=](ExpressionBuilder &b) -> MaybeExpression {
           MaybeExpression value = b.field(index, at);
           Type type = frame::dropNullable(value->type());
           return b.coalesce({*value, b.constant(zeroOf(type), type, at)}, at);
         }});
  }
  SmallVector<StringAttr> names;
  MaybeRelation result = addColumns(input, fields, added, names, at);
  keys.append(names.begin(), names.end());
  return *result;
}

/// `condition` as an expression over both sides.
static BuildExpression asExpression(const JoinCondition &condition) {
  if (condition.kind == JoinCondition::Kind::kAny) {
    return condition.left.build;
  }
  return [condition](ExpressionBuilder &b) -> MaybeExpression {
    MaybeExpression left = condition.left.build(b);
    MaybeExpression right = failed(left) ? left : condition.right.build(b);
    if (failed(right)) {
      return failure();
    }
    auto kind = condition.kind == JoinCondition::Kind::kEqual
                    ? frame::CompareKind::Eq
                    : frame::CompareKind::IsNotDistinctFrom;
    return b.compare(kind, *left, *right, condition.at);
  };
}

LogicalResult RelationBuilder::makeKeys(Relation &left, Relation &right, const JoinRequest &request,
                                        JoinKeys &keys, SmallVectorImpl<BuildExpression> &residual,
                                        Location at) {
  SmallVector<frame::Column> fields = left.columns();
  fields.append(right.columns());
  SmallVector<Computed> leftSides, rightSides;
  SmallVector<const JoinCondition *> pairs;
  for (const JoinCondition &condition : request.conditions) {
    if (condition.kind == JoinCondition::Kind::kAny) {
      residual.push_back(asExpression(condition));
      continue;
    }
    pairs.push_back(&condition);
    leftSides.push_back(condition.left);
    rightSides.push_back(condition.right);
  }
  SmallVector<StringAttr> leftNames, rightNames;
  MaybeRelation newLeft = addColumns(left, fields, leftSides, leftNames, at);
  MaybeRelation newRight =
      failed(newLeft) ? newLeft : addColumns(right, fields, rightSides, rightNames, at);
  if (failed(newRight)) {
    return failure();
  }
  left = *newLeft;
  right = *newRight;
  SmallVector<StringAttr> nullSafeLeft, nullSafeRight;
  for (auto [pair, leftName, rightName] : llvm::zip_equal(pairs, leftNames, rightNames)) {
    Type leftType = left.typeOf(leftName), rightType = right.typeOf(rightName);
    bool nullable = frame::isNullable(leftType) || frame::isNullable(rightType);
    if (!frame::isSameValueType(leftType, rightType)) {
      // Decimals of different precision, or an error that the comparison reports.
      residual.push_back(asExpression(*pair));
    } else if (pair->kind == JoinCondition::Kind::kNullSafe && nullable) {
      nullSafeLeft.push_back(leftName);
      nullSafeRight.push_back(rightName);
    } else {
      keys.left.push_back(leftName);
      keys.right.push_back(rightName);
    }
  }
  // NULL equals NULL: whether it is NULL and the value without NULL are two ordinary keys.
  Location location = locate("null-safe keys", at);
  left = addNullSafeKeys(left, nullSafeLeft, location, keys.left);
  right = addNullSafeKeys(right, nullSafeRight, location, keys.right);
  return success();
}

MaybeRelation RelationBuilder::join(Relation left, Relation right, const JoinRequest &request,
                                    Location at) {
  Relation result{{}, left.fields};
  bool rightComesOut = request.kind != frame::JoinKind::Semi &&
                       request.kind != frame::JoinKind::Anti &&
                       request.kind != frame::JoinKind::Mark;
  if (rightComesOut) {
    result.fields.append(right.fields);
  }
  SmallVector<frame::Column> fields = left.columns();
  fields.append(right.columns());
  JoinKeys keys;
  SmallVector<BuildExpression> residual;
  if (failed(makeKeys(left, right, request, keys, residual, at))) {
    return failure();
  }
  ExpressionBuilder expressions(context, fields);
  SmallVector<Expression> parts;
  std::string text;
  for (const BuildExpression &build : residual) {
    MaybeExpression part = build(expressions);
    if (failed(part) || failed(expressions.expectBoolean(*part, "the condition", at))) {
      return failure();
    }
    if (text.size() < 1000) {
      text += (text.empty() ? " on " : " AND ") + part->text;
    }
    parts.push_back(std::move(*part));
  }
  std::string keyText;
  for (auto [leftKey, rightKey] : llvm::zip_equal(keys.left, keys.right)) {
    keyText += (keyText.empty() ? " " : ", ") + cast<StringAttr>(leftKey).str() + " = " +
               cast<StringAttr>(rightKey).str();
  }
  bool cross = request.kind == frame::JoinKind::Inner && keys.left.empty() && parts.empty();
  std::string name = cross ? "cross join" : frame::stringifyJoinKind(request.kind).str() + " join";
  Location location = locate(name + keyText + text, at);
  Value predicate;
  if (!parts.empty()) {
    predicate = expressions.connect(ExpressionBuilder::Connective::kAnd, parts, at)->value;
  }
  bool nullAware = request.nullAware;
  if (nullAware) { // without NULLs it is an ordinary join
    nullAware = frame::isNullable(left.typeOf(cast<StringAttr>(keys.left.back()))) ||
                frame::isNullable(right.typeOf(cast<StringAttr>(keys.right.back())));
  }
  StringAttr mark;
  if (request.kind == frame::JoinKind::Mark) {
    mark = uniqueName("mark");
    result.fields.push_back(mark);
  }
  auto type = frame::JoinOp::inferResultType(request.kind, left.type(), right.type(),
                                             mark ? mark.getValue() : StringRef());
  auto op = frame::JoinOp::create(builder, location, type, request.kind, left.table, right.table,
                                  builder.getArrayAttr(keys.left), builder.getArrayAttr(keys.right),
                                  predicate ? expressions.columns() : ArrayAttr(), nullAware);
  if (predicate) {
    op.getResidual().takeBody(*expressions.finish(predicate, location));
  }
  result.table = op.getResult();
  return result;
}
