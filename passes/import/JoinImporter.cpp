// Substrait joins: the condition is split into equal columns and a residual predicate.
#include "dialects/frame/FrameConstants.h"
#include "mlir/IR/Builders.h"
#include "passes/import/RelationImporter.h"

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::substrait;
namespace frame = headrace::frame;

namespace {

/// How Substrait's join types read here: the kind, and whether the sides change places.
struct JoinType {
  frame::JoinKind kind;
  enum class Sides { kAsWritten, kSwapped } sides = Sides::kAsWritten;
};

/// Which inputs an expression refers to.
enum Side : unsigned { kNone = 0, kLeft = 1, kRight = 2, kUnknown = 4 };

} // namespace

static std::optional<JoinType> joinType(StringRef name) {
  using Sides = JoinType::Sides;
  return llvm::StringSwitch<std::optional<JoinType>>(name)
      .Case("JOIN_TYPE_INNER", JoinType{frame::JoinKind::Inner})
      .Case("JOIN_TYPE_OUTER", JoinType{frame::JoinKind::Full})
      .Case("JOIN_TYPE_LEFT", JoinType{frame::JoinKind::Left})
      .Case("JOIN_TYPE_RIGHT", JoinType{frame::JoinKind::Right})
      .Case("JOIN_TYPE_LEFT_SEMI", JoinType{frame::JoinKind::Semi})
      .Case("JOIN_TYPE_LEFT_ANTI", JoinType{frame::JoinKind::Anti})
      .Case("JOIN_TYPE_LEFT_MARK", JoinType{frame::JoinKind::Mark})
      .Case("JOIN_TYPE_RIGHT_SEMI", JoinType{frame::JoinKind::Semi, Sides::kSwapped})
      .Case("JOIN_TYPE_RIGHT_ANTI", JoinType{frame::JoinKind::Anti, Sides::kSwapped})
      .Default(std::nullopt);
}

/// The sides that `expression` refers to; the first `leftCount` fields are the left side's.
static unsigned sidesOf(Node expression, int64_t leftCount) {
  unsigned sides = kNone;
  SmallVector<Node> open = {expression};
  while (!open.empty()) {
    Node node = open.pop_back_val();
    if (std::optional<int64_t> index = fieldIndex(node)) {
      sides |= *index < leftCount ? kLeft : kRight;
      continue;
    }
    if (Node call = node.get("scalarFunction")) {
      open.append(callArguments(call));
    } else if (Node cast = node.get("cast")) {
      open.push_back(cast.get("input"));
    } else if (!node.get("literal")) {
      sides |= kUnknown;
    }
  }
  return sides;
}

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

Relation RelationImporter::addNullSafeKeys(Relation input, ArrayRef<StringAttr> columns,
                                           Location location, SmallVectorImpl<Attribute> &keys) {
  if (columns.empty()) {
    return input;
  }
  SmallVector<frame::Column> result = input.type().getColumns();
  SmallVector<Attribute> kept;
  for (const frame::Column &column : result) {
    kept.push_back(column.name);
  }
  Region region;
  OpBuilder inside(environment.context);
  Block *block = inside.createBlock(&region);
  SmallVector<Attribute> used;
  SmallVector<Attribute> computed;
  SmallVector<Value> values;
  auto compute = [&](const Twine &name, Value value) {
    computed.push_back(uniqueName(name.str()));
    keys.push_back(computed.back());
    result.push_back({cast<StringAttr>(computed.back()), value.getType()});
    values.push_back(value);
  };
  Type flag = builder.getI64Type();
  for (StringAttr name : columns) {
    Type type = input.typeOf(name);
    auto known = llvm::find(used, Attribute(name)); // the same column in two pairs
    Value argument = known == used.end() ? Value(block->addArgument(type, location))
                                         : block->getArgument(known - used.begin());
    if (known == used.end()) {
      used.push_back(name);
    }
    Value null = frame::IsNullOp::create(inside, location, builder.getI1Type(), argument);
    Value one = frame::ConstantOp::create(inside, location, flag, builder.getI64IntegerAttr(1));
    Value none = frame::ConstantOp::create(inside, location, flag, builder.getI64IntegerAttr(0));
    compute(name.getValue() + "_is_null",
            frame::CaseOp::create(inside, location, flag, null, one, none));
    Type value = frame::dropNullable(type);
    Value zero = frame::ConstantOp::create(inside, location, value, zeroOf(type));
    compute(name.getValue() + "_or_zero",
            frame::CoalesceOp::create(inside, location, value, ValueRange{argument, zero}));
  }
  frame::YieldOp::create(inside, location, values);
  auto op = frame::ProjectOp::create(
      builder, location, frame::TableType::get(environment.context, result), input.table,
      builder.getArrayAttr(kept), builder.getArrayAttr(computed), builder.getArrayAttr(used));
  op.getExpressions().takeBody(region);
  input.table = op.getResult();
  return input;
}

LogicalResult RelationImporter::splitCondition(Node join, Relation &left, Relation &right,
                                               JoinKeys &keys, SmallVectorImpl<Node> &residual) {
  Node condition = join.get("expression");
  if (!condition) {
    return success();
  }
  int64_t leftCount = left.fields.size();
  SmallVector<frame::Column> fields = left.columns();
  fields.append(right.columns());
  SmallVector<Node> parts;
  flattenConjunction(environment, condition, parts);
  SmallVector<Node> pairs;
  SmallVector<bool> nullSafe; // per pair: NULL equals NULL
  SmallVector<Node> leftSides;
  SmallVector<Node> rightSides;
  for (Node part : parts) {
    Node call = part.get("scalarFunction");
    SmallVector<Node> arguments = callArguments(call);
    FailureOr<StringRef> name = call ? functionName(environment, call) : StringRef();
    if (failed(name)) {
      return failure();
    }
    if (part.get("literal").get("boolean").boolean() == true) {
      continue;
    }
    bool equality = *name == "equal" || *name == "is_not_distinct_from";
    if (!equality || arguments.size() != 2) {
      residual.push_back(part);
      continue;
    }
    if (sidesOf(arguments[0], leftCount) == kRight) {
      std::swap(arguments[0], arguments[1]);
    }
    if (sidesOf(arguments[0], leftCount) != kLeft || sidesOf(arguments[1], leftCount) != kRight) {
      residual.push_back(part);
      continue;
    }
    pairs.push_back(part);
    nullSafe.push_back(*name != "equal");
    leftSides.push_back(arguments[0]);
    rightSides.push_back(arguments[1]);
  }
  SmallVector<StringAttr> leftNames;
  SmallVector<StringAttr> rightNames;
  FailureOr<Relation> newLeft = addColumns(left, fields, leftSides, join, leftNames);
  FailureOr<Relation> newRight =
      failed(newLeft) ? newLeft : addColumns(right, fields, rightSides, join, rightNames);
  if (failed(newRight)) {
    return failure();
  }
  left = *newLeft;
  right = *newRight;
  SmallVector<StringAttr> nullSafeLeft;
  SmallVector<StringAttr> nullSafeRight;
  for (auto [part, safe, leftName, rightName] :
       llvm::zip_equal(pairs, nullSafe, leftNames, rightNames)) {
    Type leftType = left.typeOf(leftName);
    Type rightType = right.typeOf(rightName);
    if (!frame::isSameValueType(leftType, rightType)) {
      // Decimals of different precision, or an error that the comparison reports.
      residual.push_back(part);
    } else if (safe && (frame::isNullable(leftType) || frame::isNullable(rightType))) {
      nullSafeLeft.push_back(leftName);
      nullSafeRight.push_back(rightName);
    } else {
      keys.left.push_back(leftName);
      keys.right.push_back(rightName);
    }
  }
  // NULL equals NULL: whether it is NULL and the value without NULL are two ordinary keys.
  Location location = locate(join, "null-safe keys");
  left = addNullSafeKeys(left, nullSafeLeft, location, keys.left);
  right = addNullSafeKeys(right, nullSafeRight, location, keys.right);
  return success();
}

FailureOr<Relation> RelationImporter::importJoin(Node join) {
  StringRef typeName = join.get("type").string().value_or("");
  std::optional<JoinType> type = joinType(typeName);
  if (!type) {
    return join.fail("unsupported join type: " + typeName);
  }
  if (Node filter = join.get("postJoinFilter")) {
    return filter.fail("unsupported postJoinFilter");
  }
  FailureOr<Relation> left = importInput(join, "left");
  FailureOr<Relation> right = failed(left) ? left : importInput(join, "right");
  if (failed(right)) {
    return failure();
  }
  JoinKeys keys;
  SmallVector<Node> residual;
  if (failed(splitCondition(join, *left, *right, keys, residual))) {
    return failure();
  }
  SmallVector<frame::Column> fields = left->columns();
  fields.append(right->columns());
  if (type->sides == JoinType::Sides::kSwapped) {
    std::swap(*left, *right);
    std::swap(keys.left, keys.right);
  }
  ExpressionImporter expressions(environment, fields);
  SmallVector<Value> predicates;
  std::string text;
  for (Node part : residual) {
    FailureOr<Expression> predicate = expressions.importExpression(part);
    if (failed(predicate)) {
      return failure();
    }
    if (!frame::isBoolean(predicate->value.getType())) {
      return part.fail("the condition must be boolean");
    }
    predicates.push_back(predicate->value);
    text += (text.empty() ? " on " : " AND ") + predicate->text;
  }
  bool nullAware = join.get("nullAware").boolean().value_or(false);
  if (nullAware &&
      (type->kind != frame::JoinKind::Anti || keys.left.size() != 1 || !residual.empty())) {
    return join.fail("unsupported correlated NOT IN; rewrite it as NOT EXISTS");
  }
  if (nullAware) { // without NULLs it is an ordinary anti join
    nullAware = frame::isNullable(left->typeOf(cast<StringAttr>(keys.left.front()))) ||
                frame::isNullable(right->typeOf(cast<StringAttr>(keys.right.front())));
  }
  std::string keyText;
  for (auto [leftKey, rightKey] : llvm::zip_equal(keys.left, keys.right)) {
    keyText += (keyText.empty() ? " " : ", ") + cast<StringAttr>(leftKey).str() + " = " +
               cast<StringAttr>(rightKey).str();
  }
  Location location = expressions.locate(join, frame::stringifyJoinKind(type->kind).str() +
                                                   " join" + keyText + text);
  StringAttr mark = type->kind == frame::JoinKind::Mark ? uniqueName("mark") : StringAttr();
  auto resultType = frame::JoinOp::inferResultType(type->kind, left->type(), right->type(),
                                                   {mark, builder.getI1Type()});
  Value predicate = expressions.conjunction(predicates, location);
  ArrayAttr residualColumns = predicate ? expressions.columns() : ArrayAttr();
  auto op =
      frame::JoinOp::create(builder, location, resultType, type->kind, left->table, right->table,
                            builder.getArrayAttr(keys.left), builder.getArrayAttr(keys.right),
                            DenseBoolArrayAttr(), residualColumns, nullAware);
  if (predicate) {
    op.getResidual().takeBody(*expressions.finish(predicate, location));
  }
  Relation result{op.getResult(), left->fields};
  if (mark) {
    result.fields.push_back(mark);
  } else if (type->kind != frame::JoinKind::Semi && type->kind != frame::JoinKind::Anti) {
    result.fields.append(right->fields);
  }
  return result;
}

FailureOr<Relation> RelationImporter::importCross(Node cross) {
  FailureOr<Relation> left = importInput(cross, "left");
  FailureOr<Relation> right = failed(left) ? left : importInput(cross, "right");
  if (failed(right)) {
    return failure();
  }
  ArrayAttr none = builder.getArrayAttr({});
  auto type = frame::JoinOp::inferResultType(frame::JoinKind::Inner, left->type(), right->type());
  auto kind = frame::JoinKind::Inner;
  auto op = frame::JoinOp::create(builder, locate(cross, "cross join"), type, kind, left->table,
                                  right->table, none, none);
  Relation result{op.getResult(), left->fields};
  result.fields.append(right->fields);
  return result;
}
