// Substrait's scalar function calls, by bare name.
#include "dialects/frame/FrameConstants.h"
#include "mlir/IR/Builders.h"
#include "passes/import/ExpressionImporter.h"
#include "passes/import/SubstraitTypes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::substrait;
namespace frame = headrace::frame;

FailureOr<StringRef>
headrace::import::substrait::functionName(const ExpressionEnvironment &environment, Node call) {
  FailureOr<int64_t> anchor = call.get("functionReference").integerOr(0);
  if (failed(anchor)) {
    return failure();
  }
  auto function = environment.functions.find(*anchor);
  if (function == environment.functions.end()) {
    return call.fail("no extension declares the function anchor " + Twine(*anchor));
  }
  return StringRef(function->second);
}

SmallVector<Node> headrace::import::substrait::callArguments(Node call) {
  SmallVector<Node> values;
  for (Node argument : call.get("arguments").elements()) {
    values.push_back(argument.get("value"));
  }
  return values;
}

void headrace::import::substrait::flattenConjunction(const ExpressionEnvironment &environment,
                                                     Node expression,
                                                     SmallVectorImpl<Node> &parts) {
  // A worklist, as conjunctions nest as deeply as the user writes them.
  SmallVector<Node> open = {expression};
  while (!open.empty()) {
    Node node = open.pop_back_val();
    Node call = node.get("scalarFunction");
    auto function = environment.functions.find(call.get("functionReference").integer().value_or(0));
    if (!call || function == environment.functions.end() || function->second != "and") {
      parts.push_back(node);
      continue;
    }
    SmallVector<Node> arguments = callArguments(call);
    open.append(arguments.rbegin(), arguments.rend());
  }
}

static std::optional<frame::CompareKind> compareKind(StringRef name) {
  return llvm::StringSwitch<std::optional<frame::CompareKind>>(name)
      .Case("equal", frame::CompareKind::Eq)
      .Case("not_equal", frame::CompareKind::Ne)
      .Case("lt", frame::CompareKind::Lt)
      .Case("lte", frame::CompareKind::Le)
      .Case("gt", frame::CompareKind::Gt)
      .Case("gte", frame::CompareKind::Ge)
      .Case("is_not_distinct_from", frame::CompareKind::IsNotDistinctFrom)
      .Default(std::nullopt);
}

/// The SQL operator of a comparison or an arithmetic function.
static StringRef symbolOf(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
      .Case("eq", "=")
      .Case("ne", "<>")
      .Case("lt", "<")
      .Case("le", "<=")
      .Case("gt", ">")
      .Case("ge", ">=")
      .Case("is_not_distinct_from", "IS NOT DISTINCT FROM")
      .Case("add", "+")
      .Case("subtract", "-")
      .Case("multiply", "*")
      .Case("divide", "/")
      .Cases({"modulus", "modulo"}, "%")
      .Default(name);
}

FailureOr<Expression> ExpressionImporter::importFunction(Node expression, Node function) {
  FailureOr<StringRef> name = functionName(environment, function);
  if (failed(name)) {
    return failure();
  }
  SmallVector<Node> nodes = callArguments(function);
  if (*name == "and" || *name == "or") {
    return importLogic(expression, *name, function);
  }
  if (*name == "like" || *name == "ilike" || *name == "starts_with") {
    return importLike(expression, *name, nodes);
  }
  if (*name == "left" && nodes.size() == 2) {
    return importLeft(expression, nodes);
  }
  if (*name == "substring" || *name == "substr") {
    return importSubstring(expression, nodes);
  }
  if (*name == "date_part" || *name == "extract") {
    return importDatePart(expression, nodes);
  }
  if (std::optional<FailureOr<Expression>> scalar =
          importScalarFunction(expression, *name, nodes)) {
    return *scalar;
  }
  constexpr StringRef kUnary[] = {"not", "negate", "is_null", "is_not_null"};
  constexpr StringRef kArithmetic[] = {"add",    "subtract", "multiply",
                                       "divide", "modulus",  "modulo"};
  bool unary = llvm::is_contained(kUnary, *name);
  bool arithmetic = llvm::is_contained(kArithmetic, *name);
  std::optional<frame::CompareKind> kind = compareKind(*name);
  if (!unary && !arithmetic && !kind && *name != "is_distinct_from" && *name != "coalesce") {
    return function.fail("unsupported function: " + *name +
                         "; docs/semantics.md lists those that are supported");
  }
  size_t arity = *name == "coalesce" ? nodes.size() : unary ? 1 : 2;
  if (nodes.size() != arity || nodes.empty()) {
    return function.fail("wrong number of arguments of " + *name + ": " + Twine(nodes.size()));
  }
  FailureOr<SmallVector<Expression>> arguments = importAll(nodes);
  if (failed(arguments)) {
    return failure();
  }
  if (unary) {
    return importUnary(expression, *name, *arguments);
  }
  if (arithmetic) {
    return importArithmetic(expression, *name, *arguments);
  }
  if (kind) {
    return importComparison(expression, *kind, *arguments);
  }
  if (*name == "coalesce") {
    return importCoalesce(expression, *arguments);
  }
  FailureOr<Expression> same =
      importComparison(expression, frame::CompareKind::IsNotDistinctFrom, *arguments);
  return failed(same) ? same : importUnary(expression, "not", *same);
}

/// The operand as a decimal of the given scale.
static Value rescale(OpBuilder &builder, Location location, Value value, unsigned scale) {
  auto decimal = cast<frame::DecimalType>(frame::dropNullable(value.getType()));
  if (decimal.getScale() == scale) {
    return value;
  }
  unsigned precision = std::min(38u, decimal.getPrecision() + scale - decimal.getScale());
  Type type =
      frame::withNullability(frame::DecimalType::get(builder.getContext(), precision, scale),
                             frame::nullabilityOf(value.getType()));
  return frame::CastOp::create(builder, location, type, value);
}

FailureOr<Expression> ExpressionImporter::importComparison(Node expression, frame::CompareKind kind,
                                                           ArrayRef<Expression> arguments) {
  Value lhs = arguments[0].value;
  Value rhs = arguments[1].value;
  std::string text = arguments[0].text + " " + symbolOf(frame::stringifyCompareKind(kind)).str() +
                     " " + arguments[1].text;
  Location location = locate(expression, text);
  if (frame::isDecimal(lhs.getType()) && frame::isDecimal(rhs.getType())) {
    unsigned scale = 0;
    for (Value value : {lhs, rhs}) {
      auto type = cast<frame::DecimalType>(frame::dropNullable(value.getType()));
      scale = std::max(scale, type.getScale());
    }
    lhs = rescale(builder, location, lhs, scale);
    rhs = rescale(builder, location, rhs, scale);
  } else if (!frame::isSameValueType(lhs.getType(), rhs.getType())) {
    return expression.fail("comparison of values of different types");
  }
  Type type = kind == frame::CompareKind::IsNotDistinctFrom
                  ? Type(builder.getI1Type())
                  : booleanFor({lhs.getType(), rhs.getType()});
  Value value = frame::CompareOp::create(builder, location, type, kind, lhs, rhs);
  return Expression{value, text};
}

FailureOr<Expression> ExpressionImporter::importArithmetic(Node expression, StringRef name,
                                                           ArrayRef<Expression> arguments) {
  Value lhs = arguments[0].value;
  Value rhs = arguments[1].value;
  if (name == "subtract" && frame::isDate(lhs.getType()) &&
      frame::isDate(rhs.getType())) { // in days
    for (Value *operand : {&lhs, &rhs}) {
      for (Type type : {builder.getI32Type(), builder.getI64Type()}) {
        type = frame::withNullability(type, frame::nullabilityOf(operand->getType()));
        *operand = frame::CastOp::create(builder, locate(expression, "days"), type, *operand);
      }
    }
  }
  if (!frame::isNumeric(lhs.getType()) || !frame::isNumeric(rhs.getType())) {
    return expression.fail("unsupported operands of " + name + " (only numbers)");
  }
  Type type = lhs.getType();
  if (Node output = expression.get("scalarFunction").get("outputType")) {
    type = importType(environment.context, output);
    if (!type) {
      return failure();
    }
  } else if (frame::isDecimal(type)) {
    return expression.fail("decimal arithmetic needs an outputType");
  }
  frame::Nullability nullability = frame::nullabilityOf({lhs.getType(), rhs.getType()});
  type = frame::withNullability(type, nullability);
  std::string text =
      "(" + arguments[0].text + " " + symbolOf(name).str() + " " + arguments[1].text + ")";
  Location location = locate(expression, text);
  Value value;
  if (name == "add") {
    value = frame::AddOp::create(builder, location, type, lhs, rhs);
  } else if (name == "subtract") {
    value = frame::SubtractOp::create(builder, location, type, lhs, rhs);
  } else if (name == "multiply") {
    value = frame::MultiplyOp::create(builder, location, type, lhs, rhs);
  } else if (name == "divide") {
    value = frame::DivideOp::create(builder, location, type, lhs, rhs);
  } else {
    value = frame::ModulusOp::create(builder, location, type, lhs, rhs);
  }
  return Expression{value, text};
}

FailureOr<Expression> ExpressionImporter::importLogic(Node expression, StringRef name,
                                                      Node function) {
  // Chains of one connective become one op.
  SmallVector<Node> parts;
  SmallVector<Node> open = {expression};
  while (!open.empty()) {
    Node node = open.pop_back_val();
    Node call = node.get("scalarFunction");
    FailureOr<StringRef> inner = call ? functionName(environment, call) : StringRef();
    if (failed(inner)) {
      return failure();
    }
    if (*inner != name) {
      parts.push_back(node);
      continue;
    }
    SmallVector<Node> arguments = callArguments(call);
    open.append(arguments.rbegin(), arguments.rend());
  }
  FailureOr<SmallVector<Expression>> operands = importAll(parts);
  if (failed(operands)) {
    return failure();
  }
  if (operands->empty()) {
    return function.fail("wrong number of arguments of " + name + ": 0");
  }
  SmallVector<Value> values;
  std::string text;
  for (const Expression &operand : *operands) {
    if (!frame::isBoolean(operand.value.getType())) {
      return function.fail("an operand of " + name + " must be boolean");
    }
    values.push_back(operand.value);
    text += (text.empty() ? "(" : " " + name.upper() + " ") + operand.text;
  }
  text += ")";
  if (values.size() == 1) {
    return operands->front();
  }
  Type type = booleanFor(ValueRange(values).getTypes());
  Location location = locate(expression, text);
  Value value = name == "and" ? Value(frame::AndOp::create(builder, location, type, values))
                              : Value(frame::OrOp::create(builder, location, type, values));
  return Expression{value, text};
}

FailureOr<Expression> ExpressionImporter::importUnary(Node expression, StringRef name,
                                                      ArrayRef<Expression> arguments) {
  Value operand = arguments.front().value;
  std::string text = name.upper() + "(" + arguments.front().text + ")";
  Location location = locate(expression, text);
  if (name == "is_null" || name == "is_not_null") {
    Type type = builder.getI1Type();
    Value value = frame::IsNullOp::create(builder, location, type, operand);
    if (name == "is_not_null") {
      value = frame::NotOp::create(builder, location, type, value);
    }
    return Expression{value, text};
  }
  if (name == "not" ? !frame::isBoolean(operand.getType()) : !frame::isNumeric(operand.getType())) {
    return expression.fail("wrong type of the operand of " + name);
  }
  Type type = operand.getType();
  Value value = name == "not" ? Value(frame::NotOp::create(builder, location, type, operand))
                              : Value(frame::NegateOp::create(builder, location, type, operand));
  return Expression{value, text};
}

FailureOr<Expression> ExpressionImporter::importCoalesce(Node expression,
                                                         ArrayRef<Expression> arguments) {
  SmallVector<Value> values;
  std::string text;
  for (const Expression &argument : arguments) {
    values.push_back(argument.value);
    text += (text.empty() ? "COALESCE(" : ", ") + argument.text;
  }
  text += ")";
  bool allNullable = llvm::all_of(ValueRange(values).getTypes(), frame::isNullable);
  Type type =
      frame::withNullability(values.front().getType(),
                             allNullable ? frame::Nullability::kMaybe : frame::Nullability::kNever);
  Value value = frame::CoalesceOp::create(builder, locate(expression, text), type, values);
  return Expression{value, text};
}

/// The string of a literal argument; nothing for NULL; fails for anything else.
static FailureOr<std::optional<StringRef>> literalString(Node argument, const Twine &what) {
  Node literal = argument.get("literal");
  if (literal.get("null")) {
    return std::optional<StringRef>();
  }
  std::optional<StringRef> text = literal.get("string").string();
  if (!text) {
    return argument.fail(what + " must be a string literal");
  }
  return text;
}

FailureOr<Expression> ExpressionImporter::importLike(Node expression, StringRef name,
                                                     ArrayRef<Node> arguments) {
  if (arguments.size() < 2 || arguments.size() > 3) {
    return expression.fail("wrong number of arguments of " + name + ": " + Twine(arguments.size()));
  }
  FailureOr<Expression> operand = importExpression(arguments[0]);
  if (failed(operand)) {
    return failure();
  }
  if (!frame::isString(operand->value.getType())) {
    return expression.fail("the operand of like must be a string");
  }
  FailureOr<std::optional<StringRef>> pattern = literalString(arguments[1], "the pattern of like");
  if (failed(pattern)) {
    return failure();
  }
  if (!*pattern) {
    return arguments[1].fail("unsupported LIKE NULL");
  }
  StringAttr escape;
  if (arguments.size() == 3) {
    FailureOr<std::optional<StringRef>> text = literalString(arguments[2], "the escape of like");
    if (failed(text)) {
      return failure();
    }
    escape = *text ? builder.getStringAttr(**text) : StringAttr();
  }
  std::string shown = operand->text + " " + (name == "starts_with" ? "STARTS WITH" : name.upper()) +
                      " '" + (*pattern)->str() + "'";
  std::string wanted = (*pattern)->str();
  Value text = operand->value;
  if (name == "ilike") { // both in lower case
    if (!llvm::all_of(wanted, [](char c) { return static_cast<unsigned char>(c) < 0x80; })) {
      return arguments[1].fail(
          "unsupported ILIKE with letters beyond ASCII; use lower() on both sides");
    }
    wanted = StringRef(wanted).lower();
    text = frame::TextOp::create(builder, locate(expression, shown), text.getType(),
                                 frame::TextFunction::Lower, text);
  } else if (name == "starts_with") { // a pattern of which nothing has a meaning of its own
    std::string plain;
    for (char c : wanted) {
      plain += c == '%' || c == '_' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    }
    escape = plain.size() == wanted.size() ? StringAttr() : builder.getStringAttr("\\");
    wanted = plain + "%";
  }
  Value value =
      frame::LikeOp::create(builder, locate(expression, shown), booleanFor(text.getType()), text,
                            builder.getStringAttr(wanted), escape);
  return Expression{value, shown};
}

/// The first characters of a string.
FailureOr<Expression> ExpressionImporter::importLeft(Node expression, ArrayRef<Node> arguments) {
  FailureOr<Expression> operand = importExpression(arguments[0]);
  if (failed(operand)) {
    return failure();
  }
  StringRef key;
  std::optional<int64_t> length =
      arguments[1].get("literal").only({"i64", "i32", "i16", "i8"}, key).integer();
  if (!frame::isString(operand->value.getType()) || !length || *length < 0) {
    return expression.fail(
        "unsupported operands of left; a string and a number literal are supported");
  }
  std::string text = "LEFT(" + operand->text + ")";
  Value value = frame::SubstringOp::create(
      builder, locate(expression, text), operand->value.getType(), operand->value,
      builder.getI64IntegerAttr(1), builder.getI64IntegerAttr(*length));
  return Expression{value, text};
}

FailureOr<Expression> ExpressionImporter::importSubstring(Node expression,
                                                          ArrayRef<Node> arguments) {
  if (arguments.size() < 2 || arguments.size() > 3) {
    return expression.fail("wrong number of arguments of substring: " + Twine(arguments.size()));
  }
  FailureOr<Expression> operand = importExpression(arguments[0]);
  if (failed(operand)) {
    return failure();
  }
  if (!frame::isString(operand->value.getType())) {
    return expression.fail("the operand of substring must be a string");
  }
  SmallVector<int64_t> positions;
  for (Node argument : arguments.drop_front()) {
    StringRef key;
    std::optional<int64_t> position =
        argument.get("literal").only({"i64", "i32", "i16", "i8"}, key).integer();
    if (!position) {
      return argument.fail("start and length of substring must be integer literals");
    }
    positions.push_back(*position);
  }
  if (positions.size() == 2 && positions[1] < 0) {
    return expression.fail("length of substring must not be negative, got " + Twine(positions[1]));
  }
  std::string text = "SUBSTRING(" + operand->text + ")";
  IntegerAttr length =
      positions.size() == 2 ? builder.getI64IntegerAttr(positions[1]) : IntegerAttr();
  Value value =
      frame::SubstringOp::create(builder, locate(expression, text), operand->value.getType(),
                                 operand->value, builder.getI64IntegerAttr(positions[0]), length);
  return Expression{value, text};
}

FailureOr<Expression> ExpressionImporter::importDatePart(Node expression,
                                                         ArrayRef<Node> arguments) {
  if (arguments.size() != 2) {
    return expression.fail("wrong number of arguments of date_part: " + Twine(arguments.size()));
  }
  FailureOr<std::optional<StringRef>> part = literalString(arguments[0], "the field of date_part");
  if (failed(part)) {
    return failure();
  }
  std::string name = part->value_or("NULL").lower();
  std::optional<frame::DateField> field = frame::symbolizeDateField(name);
  if (!field && (name == "quarter" || name == "dow")) {
    return importComputedDatePart(expression, name, arguments[1]);
  }
  if (!field) {
    return arguments[0].fail("unsupported date field: " + name +
                             "; year, quarter, month, day and dow are supported");
  }
  FailureOr<Expression> operand = importExpression(arguments[1]);
  if (failed(operand)) {
    return failure();
  }
  if (!frame::isDate(operand->value.getType())) {
    return expression.fail("the operand of date_part must be a date");
  }
  Type type =
      frame::withNullability(builder.getI32Type(), frame::nullabilityOf(operand->value.getType()));
  std::string text = "EXTRACT(" + name + " FROM " + operand->text + ")";
  Value value =
      frame::ExtractOp::create(builder, locate(expression, text), type, *field, operand->value);
  return Expression{value, text};
}
