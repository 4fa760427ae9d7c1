// Substrait expressions but for function calls: fields, literals, casts, CASE, lists, subqueries.
#include "passes/import/ExpressionImporter.h"

#include "dialects/frame/FrameConstants.h"
#include "mlir/IR/Builders.h"
#include "passes/import/SubstraitTypes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::substrait;
namespace frame = headrace::frame;

LogicalResult SubstraitNestingGuard::check(Node node) const {
  if (depth > kDepthMax) {
    return node.fail("plan is nested too deeply, more than " + Twine(kDepthMax) + " levels");
  }
  return success();
}

std::optional<int64_t> headrace::import::substrait::fieldIndex(Node expression) {
  Node structField = expression.get("selection").get("directReference").get("structField");
  if (!structField || structField.get("child")) {
    return std::nullopt;
  }
  Node field = structField.get("field");
  return field ? field.integer() : 0;
}

ExpressionImporter::ExpressionImporter(ExpressionEnvironment &environment,
                                       ArrayRef<frame::Column> fields)
    : environment(environment), fields(fields), region(std::make_unique<Region>()),
      builder(environment.context) {
  builder.setInsertionPointToStart(&region->emplaceBlock());
}

std::unique_ptr<Region> ExpressionImporter::finish(ValueRange yielded, Location location) {
  frame::YieldOp::create(builder, location, yielded);
  return std::move(region);
}

ArrayAttr ExpressionImporter::columns() const {
  SmallVector<Attribute> names;
  for (const auto &[name, argument] : arguments) {
    names.push_back(name);
  }
  return ArrayAttr::get(environment.context, names);
}

Location ExpressionImporter::locate(Node node, StringRef text) const {
  // A long expression is told apart by its beginning; the path says the rest.
  constexpr size_t kTextMax = 200;
  Location path = NameLoc::get(StringAttr::get(environment.context, node.pathText()));
  return NameLoc::get(StringAttr::get(environment.context, text.take_front(kTextMax)), path);
}

Type ExpressionImporter::booleanFor(TypeRange operands) const {
  return frame::withNullability(IntegerType::get(environment.context, 1),
                                frame::nullabilityOf(operands));
}

Value ExpressionImporter::conjunction(ArrayRef<Value> parts, Location location) {
  if (parts.size() < 2) {
    return parts.empty() ? Value() : parts.front();
  }
  return frame::AndOp::create(builder, location, booleanFor(ValueRange(parts).getTypes()), parts);
}

FailureOr<SmallVector<Expression>> ExpressionImporter::importAll(ArrayRef<Node> nodes) {
  SmallVector<Expression> expressions;
  for (Node node : nodes) {
    FailureOr<Expression> expression = importExpression(node);
    if (failed(expression)) {
      return failure();
    }
    expressions.push_back(std::move(*expression));
  }
  return expressions;
}

FailureOr<Expression> ExpressionImporter::importExpression(Node expression) {
  SubstraitNestingGuard guard(environment);
  if (failed(guard.check(expression))) {
    return failure();
  }
  if (std::optional<int64_t> index = fieldIndex(expression)) {
    return importField(expression, *index);
  }
  StringRef key;
  Node body = expression.only(
      {"literal", "cast", "ifThen", "singularOrList", "subquery", "scalarFunction"}, key);
  if (expression.get("windowFunction")) {
    return expression.fail(
        "window functions (OVER) are not supported; use GROUP BY, or ORDER BY with LIMIT");
  }
  if (!body) {
    return expression.fail("unsupported expression: " + expression.keysText());
  }
  if (key == "literal") {
    return importLiteral(expression, body);
  }
  if (key == "cast") {
    return importCast(expression, body);
  }
  if (key == "ifThen") {
    return importIfThen(expression, body);
  }
  if (key == "singularOrList") {
    return importOneOf(expression, body);
  }
  if (key == "subquery") {
    return importSubquery(expression, body);
  }
  return importFunction(expression, body);
}

FailureOr<Expression> ExpressionImporter::importField(Node expression, int64_t index) {
  if (index < 0 || index >= static_cast<int64_t>(fields.size())) {
    return expression.fail("reference to a column that the input does not have: " + Twine(index));
  }
  const frame::Column &column = fields[index];
  Value &argument = arguments[column.name];
  if (!argument) {
    argument = region->front().addArgument(column.type, locate(expression, column.name.getValue()));
  }
  return Expression{argument, column.name.str()};
}

/// How a constant reads in a location.
static std::string constantText(Attribute value, Type type) {
  if (isa<UnitAttr>(value)) {
    return "NULL";
  }
  if (auto text = dyn_cast<StringAttr>(value)) {
    return ("'" + text.getValue() + "'").str();
  }
  std::string text;
  llvm::raw_string_ostream out(text);
  if (auto real = dyn_cast<FloatAttr>(value)) {
    out << real.getValueAsDouble();
    return text;
  }
  auto integer = cast<IntegerAttr>(value);
  if (frame::isBoolean(type)) {
    return integer.getValue().isZero() ? "false" : "true";
  }
  if (frame::isDate(type)) {
    return "DATE '" + frame::formatDate(integer.getInt()) + "'";
  }
  SmallString<48> digits;
  integer.getValue().abs().toStringUnsigned(digits);
  auto decimal = dyn_cast<frame::DecimalType>(frame::dropNullable(type));
  size_t scale = decimal ? decimal.getScale() : 0;
  if (digits.size() <= scale) { // at least one digit before the point
    digits.insert(digits.begin(), scale + 1 - digits.size(), '0');
  }
  StringRef whole = StringRef(digits).drop_back(scale);
  out << (integer.getValue().isNegative() ? "-" : "") << whole;
  if (scale > 0) {
    out << "." << StringRef(digits).take_back(scale);
  }
  return text;
}

FailureOr<Expression> ExpressionImporter::importLiteral(Node expression, Node literal) {
  FailureOr<ConstantValue> constant =
      headrace::import::substrait::importLiteral(environment.context, literal);
  if (failed(constant)) {
    return failure();
  }
  std::string text = constantText(constant->value, constant->type);
  Value value =
      frame::ConstantOp::create(builder, locate(expression, text), constant->type, constant->value);
  return Expression{value, text};
}

FailureOr<Expression> ExpressionImporter::importCast(Node expression, Node cast) {
  if (cast.get("failureBehavior").string() == StringRef("FAILURE_BEHAVIOR_RETURN_NULL")) {
    return cast.fail("unsupported TRY_CAST");
  }
  Node input = cast.get("input");
  Type target = importType(environment.context, cast.get("type"));
  if (!input || !target) {
    return cast.fail("expected a cast with input and type");
  }
  FailureOr<Expression> operand = importExpression(input);
  if (failed(operand)) {
    return failure();
  }
  Type type = frame::withNullability(target, frame::nullabilityOf(operand->value.getType()));
  std::string text = "CAST(" + operand->text + ")";
  Value value = frame::CastOp::create(builder, locate(expression, text), type, operand->value);
  return Expression{value, text};
}

FailureOr<Expression> ExpressionImporter::importIfThen(Node expression, Node ifThen) {
  SmallVector<Value> conditions;
  SmallVector<Value> values;
  std::string text = "CASE";
  for (Node clause : ifThen.get("ifs").elements()) {
    FailureOr<SmallVector<Expression>> parts = importAll({clause.get("if"), clause.get("then")});
    if (failed(parts)) {
      return failure();
    }
    conditions.push_back((*parts)[0].value);
    values.push_back((*parts)[1].value);
    text += " WHEN " + (*parts)[0].text + " THEN " + (*parts)[1].text;
  }
  if (conditions.empty()) {
    return ifThen.fail("expected at least one condition");
  }
  SmallVector<Type> types(ValueRange(values).getTypes());
  Value otherwise;
  if (Node last = ifThen.get("else")) {
    FailureOr<Expression> value = importExpression(last);
    if (failed(value)) {
      return failure();
    }
    otherwise = value->value;
    types.push_back(otherwise.getType());
    text += " ELSE " + value->text;
  }
  text += " END";
  for (Value condition : conditions) {
    if (!frame::isBoolean(condition.getType())) {
      return ifThen.fail("a condition must be boolean");
    }
  }
  frame::Nullability nullability =
      otherwise ? frame::nullabilityOf(types) : frame::Nullability::kMaybe;
  Type type = frame::withNullability(types.front(), nullability);
  Value value =
      frame::CaseOp::create(builder, locate(expression, text), type, conditions, values, otherwise);
  return Expression{value, text};
}

FailureOr<Expression> ExpressionImporter::importGuarded(Node condition, Node value) {
  FailureOr<Expression> guard = importExpression(condition);
  if (failed(guard)) {
    return failure();
  }
  if (!frame::isBoolean(guard->value.getType())) {
    return condition.fail("the condition must be boolean");
  }
  Expression counted{Value(), "1"};
  if (value) {
    FailureOr<Expression> imported = importExpression(value);
    if (failed(imported)) {
      return failure();
    }
    counted = std::move(*imported);
  } else {
    counted.value = frame::ConstantOp::create(builder, locate(condition, counted.text),
                                              builder.getI64Type(), builder.getI64IntegerAttr(1));
  }
  std::string text = "CASE WHEN " + guard->text + " THEN " + counted.text + " END";
  Type type = frame::addNullable(counted.value.getType());
  Value result = frame::CaseOp::create(builder, locate(condition, text), type, guard->value,
                                       counted.value, Value());
  return Expression{result, text};
}

FailureOr<Expression> ExpressionImporter::importOneOf(Node expression, Node list) {
  FailureOr<Expression> operand = importExpression(list.get("value"));
  if (failed(operand)) {
    return failure();
  }
  SmallVector<Node> options = list.get("options").elements();
  if (options.empty()) {
    return list.fail("expected at least one option");
  }
  Type type = operand->value.getType();
  SmallVector<Attribute> constants;
  for (Node option : options) {
    Node literal = option.get("literal");
    if (!literal) {
      break;
    }
    FailureOr<ConstantValue> constant =
        headrace::import::substrait::importLiteral(environment.context, literal);
    if (failed(constant)) {
      return failure();
    }
    if (!isa<UnitAttr>(constant->value) && frame::isSameValueType(constant->type, type)) {
      constants.push_back(constant->value);
    }
  }
  std::string text = operand->text + " IN (…)";
  if (constants.size() == options.size()) {
    Value value = frame::InOp::create(builder, locate(expression, text), booleanFor(type),
                                      operand->value, builder.getArrayAttr(constants));
    return Expression{value, text};
  }
  // Other lists are chains of comparisons.
  SmallVector<Value> matches;
  for (Node option : options) {
    FailureOr<Expression> value = importExpression(option);
    if (failed(value)) {
      return failure();
    }
    FailureOr<Expression> match =
        importComparison(expression, frame::CompareKind::Eq, {*operand, *value});
    if (failed(match)) {
      return failure();
    }
    matches.push_back(match->value);
  }
  Value value = matches.front();
  if (matches.size() > 1) {
    value = frame::OrOp::create(builder, locate(expression, text),
                                booleanFor(ValueRange(matches).getTypes()), matches);
  }
  return Expression{value, text};
}

FailureOr<Expression> ExpressionImporter::importSubquery(Node expression, Node subquery) {
  if (Node predicate = subquery.get("setPredicate")) {
    return importExists(expression, predicate);
  }
  Node relation = subquery.get("scalar").get("input");
  if (!relation) {
    return subquery.fail("unsupported subquery: " + subquery.keysText());
  }
  FailureOr<Value> value = environment.importScalarSubquery(relation);
  if (failed(value)) {
    return failure();
  }
  return Expression{*value, "(subquery)"};
}

FailureOr<Expression> ExpressionImporter::importExists(Node expression, Node predicate) {
  StringRef kind = predicate.get("predicateOp").string().value_or("");
  if (kind != "PREDICATE_OP_EXISTS" || !predicate.get("tuples")) {
    return predicate.fail("unsupported subquery predicate: " + kind);
  }
  FailureOr<Value> rows = environment.importRowCount(predicate.get("tuples"));
  if (failed(rows)) {
    return failure();
  }
  std::string text = "EXISTS (subquery)";
  Location location = locate(expression, text);
  Type i64 = builder.getI64Type();
  Value zero = frame::ConstantOp::create(builder, location, i64, builder.getI64IntegerAttr(0));
  Value count = frame::CoalesceOp::create(builder, location, i64, ValueRange{*rows, zero});
  Value value = frame::CompareOp::create(builder, location, builder.getI1Type(),
                                         frame::CompareKind::Gt, count, zero);
  return Expression{value, text};
}
