// Joins of any front end: comparisons of the two sides become equal columns, the rest is a residual
// predicate.
#include "passes/import/RelationBuilder.h"

using namespace mlir;
using namespace headrace::import;
namespace frame = headrace::frame;

/// `condition` as an expression over both sides.
BuildExpression RelationBuilder::comparison(const JoinCondition &condition) {
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
      residual.push_back(comparison(condition));
      continue;
    }
    pairs.push_back(&condition);
    leftSides.push_back(equalBy(condition.left, left.columns(), condition.at));
    rightSides.push_back(equalBy(condition.right, fields, condition.at));
  }
  SmallVector<StringAttr> leftNames, rightNames;
  MaybeRelation newLeft = addColumns(left, left.columns(), leftSides, leftNames, at);
  MaybeRelation newRight =
      failed(newLeft) ? newLeft : addColumns(right, fields, rightSides, rightNames, at);
  if (failed(newRight)) {
    return failure();
  }
  left = *newLeft;
  right = *newRight;
  bool endsNullSafe = false; // by a pair for which it matters
  for (auto [pair, leftName, rightName] : llvm::zip_equal(pairs, leftNames, rightNames)) {
    Type leftType = left.typeOf(leftName), rightType = right.typeOf(rightName);
    if (!frame::isSameValueType(leftType, rightType)) {
      // Decimals of different precision, or an error that the comparison reports.
      residual.push_back(comparison(*pair));
      continue;
    }
    const bool leftMayBe = frame::isNullable(leftType), rightMayBe = frame::isNullable(rightType);
    const bool isNullSafe = pair->kind == JoinCondition::Kind::kNullSafe;
    keys.left.push_back(leftName);
    keys.right.push_back(rightName);
    keys.nullSafe.push_back(isNullSafe && leftMayBe && rightMayBe);
    endsNullSafe = isNullSafe && (leftMayBe || rightMayBe);
  }
  // IN compares the last key and the residual: a key for which NULL equals NULL is none of that,
  // and one that is always equal stands behind it.
  if (request.nullAware && endsNullSafe) {
    const Computed one{std::nullopt, "one", [at](ExpressionBuilder &b) -> MaybeExpression {
                         return b.integer(1, IntegerType::get(b.getContext(), 64), at);
                       }};
    newLeft = addColumns(left, left.columns(), one, leftNames, at);
    newRight = failed(newLeft) ? newLeft : addColumns(right, right.columns(), one, rightNames, at);
    if (failed(newRight)) {
      return failure();
    }
    left = *newLeft;
    right = *newRight;
    keys.left.push_back(leftNames.back());
    keys.right.push_back(rightNames.back());
    keys.nullSafe.push_back(false);
  }
  return success();
}

/// Whether the comparison of IN, the last key and the residual, may be NULL.
static bool mayBeNull(const Relation &left, const Relation &right, ArrayRef<Attribute> leftKeys,
                      ArrayRef<Attribute> rightKeys, Value residual) {
  if (residual && frame::isNullable(residual.getType())) {
    return true;
  }
  return !leftKeys.empty() && (frame::isNullable(left.typeOf(cast<StringAttr>(leftKeys.back()))) ||
                               frame::isNullable(right.typeOf(cast<StringAttr>(rightKeys.back()))));
}

/// Whether a table has one row at most, whatever is stored.
static bool hasOneRow(Value table) {
  Operation *op = table.getDefiningOp();
  while (isa_and_nonnull<frame::ProjectOp, frame::RenameOp, frame::FilterOp>(op)) {
    op = op->getOperand(0).getDefiningOp();
  }
  if (auto values = dyn_cast_or_null<frame::ValuesOp>(op)) {
    return values.getRows().size() <= 1;
  }
  auto aggregate = dyn_cast_or_null<frame::AggregateOp>(op);
  return aggregate && aggregate.getKeys().empty();
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
  SmallVector<frame::Column> identity = left.identityColumns();
  identity.append(right.identityColumns());
  ExpressionBuilder expressions(context, fields, {left.table, right.table}, identity);
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
  bool nullAware = request.nullAware && mayBeNull(left, right, keys.left, keys.right, predicate);
  frame::Column mark;
  if (request.kind == frame::JoinKind::Mark) {
    Type boolean = builder.getI1Type();
    mark = {uniqueName("mark"), nullAware ? frame::addNullable(boolean) : boolean};
    result.fields.push_back(mark.name);
  }
  auto type = frame::JoinOp::inferResultType(request.kind, left.type(), right.type(), mark);
  bool hasNullSafe = llvm::is_contained(keys.nullSafe, true);
  auto op = frame::JoinOp::create(builder, location, type, request.kind, left.table, right.table,
                                  builder.getArrayAttr(keys.left), builder.getArrayAttr(keys.right),
                                  hasNullSafe ? builder.getDenseBoolArrayAttr(keys.nullSafe)
                                              : DenseBoolArrayAttr(),
                                  predicate ? expressions.columns() : ArrayAttr(), nullAware);
  if (predicate) {
    op.getResidual().takeBody(*expressions.finish(predicate, location));
  }
  result.table = op.getResult();
  result.identity = left.identity;
  if (rightComesOut && request.kind != frame::JoinKind::Single) {
    result.identity.append(right.identity);
  }
  const bool leftOnce =
      !rightComesOut || request.kind == frame::JoinKind::Single ||
      ((request.kind == frame::JoinKind::Inner || request.kind == frame::JoinKind::Left) &&
       hasOneRow(right.table));
  if (leftOnce) { // each left row at most once
    result.order = left.order;
  } else if (request.kind == frame::JoinKind::Inner && hasOneRow(left.table)) {
    result.order = right.order;
  }
  return result;
}
