// Functions of numbers, strings and dates, by the names that producers of Substrait give them.
#include "dialects/frame/FrameConstants.h"
#include "mlir/IR/Builders.h"
#include "passes/import/ExpressionImporter.h"
#include "passes/import/SubstraitTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::substrait;
namespace frame = headrace::frame;

static std::optional<frame::NumberFunction> numberFunction(StringRef name) {
  using Function = frame::NumberFunction;
  return llvm::StringSwitch<std::optional<Function>>(name)
      .Case("abs", Function::Abs)
      .Case("round", Function::Round)
      .Case("floor", Function::Floor)
      .Cases({"ceil", "ceiling"}, Function::Ceiling)
      .Case("trunc", Function::Truncate)
      .Case("sqrt", Function::Sqrt)
      .Default(std::nullopt);
}

static std::optional<frame::TextFunction> textFunction(StringRef name) {
  using Function = frame::TextFunction;
  return llvm::StringSwitch<std::optional<Function>>(name)
      .Case("upper", Function::Upper)
      .Case("lower", Function::Lower)
      .Cases({"character_length", "char_length", "length"}, Function::Length)
      .Cases({"str_concat", "concat"}, Function::Concat)
      .Cases({"btrim", "trim"}, Function::Trim)
      .Case("ltrim", Function::TrimStart)
      .Case("rtrim", Function::TrimEnd)
      .Case("replace", Function::Replace)
      .Default(std::nullopt);
}

/// The months and days of an interval literal; nothing if it is none, or has a time of day.
static std::optional<std::pair<int64_t, int64_t>> intervalOf(Node node) {
  Node interval = node.get("literal").get("intervalCompound");
  if (!interval) {
    return std::nullopt;
  }
  Node months = interval.get("intervalYearToMonth"), days = interval.get("intervalDayToSecond");
  auto number = [](Node of, StringRef name) { return of.get(name).integer().value_or(0); };
  constexpr int64_t kSecondsOfDay = 86400;
  int64_t seconds = number(days, "seconds");
  int64_t wide = number(months, "years");
  if (seconds % kSecondsOfDay != 0 || number(days, "subseconds") != 0 || std::abs(wide) > 100'000) {
    return std::nullopt;
  }
  return std::pair(wide * 12 + number(months, "months"),
                   number(days, "days") + seconds / kSecondsOfDay);
}

std::optional<FailureOr<Expression>>
ExpressionImporter::importScalarFunction(Node expression, StringRef name, ArrayRef<Node> nodes) {
  if (std::optional<frame::NumberFunction> function = numberFunction(name)) {
    return importNumberFunction(expression, *function, nodes);
  }
  if (std::optional<frame::TextFunction> function = textFunction(name)) {
    return importTextFunction(expression, *function, name, nodes);
  }
  bool moves = (name == "add" || name == "subtract") && nodes.size() == 2;
  Node output = expression.get("scalarFunction").get("outputType");
  bool ofDates = llvm::any_of(
      nodes, [](Node node) { return bool(node.get("literal").get("intervalCompound")); });
  if (moves && (ofDates || output.get("date") || output.get("intervalDay") ||
                output.get("intervalCompound"))) {
    return importDateArithmetic(expression, name, nodes);
  }
  if (name == "is_true" || name == "is_false" || name == "is_not_true" || name == "is_not_false") {
    return importTruthTest(expression, name, nodes);
  }
  if (name == "nullif" || name == "greatest" || name == "least") {
    return importChoice(expression, name, nodes);
  }
  return std::nullopt;
}

FailureOr<Expression> ExpressionImporter::importNumberFunction(Node expression,
                                                               frame::NumberFunction function,
                                                               ArrayRef<Node> nodes) {
  StringRef name = frame::stringifyNumberFunction(function);
  bool takesDigits = function == frame::NumberFunction::Round && nodes.size() == 2;
  if (nodes.size() != 1 && !takesDigits) {
    return expression.fail("wrong number of arguments of " + name + ": " + Twine(nodes.size()));
  }
  FailureOr<Expression> operand = importExpression(nodes[0]);
  if (failed(operand)) {
    return failure();
  }
  Type type = operand->value.getType();
  if (!frame::isNumeric(type)) {
    return expression.fail("the operand of " + name + " must be a number");
  }
  if (Node output = expression.get("scalarFunction").get("outputType")) {
    Type given = importType(environment.context, output);
    if (!given) {
      return failure();
    }
    type = frame::withNullability(given, frame::nullabilityOf(type));
  }
  IntegerAttr digits;
  if (takesDigits) {
    StringRef key;
    std::optional<int64_t> number =
        nodes[1].get("literal").only({"i64", "i32", "i16", "i8"}, key).integer();
    if (!number) {
      return nodes[1].fail("the digits of round must be an integer literal");
    }
    digits = builder.getI64IntegerAttr(*number);
  }
  std::string text = name.upper() + "(" + operand->text +
                     (digits ? ", " + std::to_string(digits.getInt()) : "") + ")";
  Location location = locate(expression, text);
  Value value = operand->value;
  Type from = frame::dropNullable(value.getType()), to = frame::dropNullable(type);
  if (from != to && !(frame::isDecimal(from) &&
                      frame::isDecimal(to))) { // e.g. the ceiling of an integer as a double
    value = frame::CastOp::create(builder, location, type, value);
  }
  return Expression{frame::NumberOp::create(builder, location, type, function, value, digits),
                    text};
}

FailureOr<Expression> ExpressionImporter::importTextFunction(Node expression,
                                                             frame::TextFunction function,
                                                             StringRef name, ArrayRef<Node> nodes) {
  FailureOr<SmallVector<Expression>> arguments = importAll(nodes);
  if (failed(arguments)) {
    return failure();
  }
  std::string text = name.upper() + "(";
  SmallVector<Value> operands;
  for (const Expression &argument : *arguments) {
    if (!frame::isString(argument.value.getType())) {
      return expression.fail("an operand of " + name + " must be a string; cast it to VARCHAR");
    }
    text += (operands.empty() ? "" : ", ") + argument.text;
    operands.push_back(argument.value);
  }
  text += ")";
  Location location = locate(expression, text);
  auto string = frame::StringType::get(environment.context);
  auto constant = [&](StringRef value) -> Value {
    return frame::ConstantOp::create(builder, location, string, builder.getStringAttr(value));
  };
  using Function = frame::TextFunction;
  bool trims = function == Function::Trim || function == Function::TrimStart ||
               function == Function::TrimEnd;
  if (trims && operands.size() == 1) {
    operands.push_back(constant(" "));
  }
  bool one =
      function == Function::Upper || function == Function::Lower || function == Function::Length;
  size_t wanted = one                             ? 1
                  : trims                         ? 2
                  : function == Function::Replace ? 3
                                                  : std::max<size_t>(operands.size(), 1);
  if (operands.size() != wanted) {
    return expression.fail("wrong number of arguments of " + name + ": " + Twine(nodes.size()));
  }
  if (name == "concat") { // a NULL adds nothing; of || it makes NULL
    for (Value &operand : operands) {
      if (frame::isNullable(operand.getType())) {
        operand =
            frame::CoalesceOp::create(builder, location, string, ValueRange{operand, constant("")});
      }
    }
  }
  Type result = function == Function::Length ? Type(builder.getI32Type()) : Type(string);
  if (Node output = expression.get("scalarFunction").get("outputType");
      output.get("i64") && function == Function::Length) {
    result = builder.getI64Type();
  }
  result = frame::withNullability(result, frame::nullabilityOf(ValueRange(operands).getTypes()));
  return Expression{frame::TextOp::create(builder, location, result, function, operands), text};
}

FailureOr<Expression> ExpressionImporter::importDateArithmetic(Node expression, StringRef name,
                                                               ArrayRef<Node> nodes) {
  bool subtract = name == "subtract";
  SmallVector<Node> operands(nodes);
  if (!subtract && intervalOf(operands[0])) {
    std::swap(operands[0], operands[1]);
  }
  std::optional<std::pair<int64_t, int64_t>> interval = intervalOf(operands[1]);
  if (!interval) {
    return expression.fail(
        "unsupported interval: only years, months and days, as a literal, can be added to a date");
  }
  FailureOr<Expression> date = importExpression(operands[0]);
  if (failed(date)) {
    return failure();
  }
  if (!frame::isDate(date->value.getType())) {
    return expression.fail("an interval can be added to a date only; cast the operand to DATE");
  }
  auto [months, days] = *interval;
  std::string text = "(" + date->text + (subtract ? " - " : " + ") + "INTERVAL)";
  int64_t sign = subtract ? -1 : 1;
  Value value = frame::ShiftDateOp::create(builder, locate(expression, text), date->value.getType(),
                                           date->value, builder.getI64IntegerAttr(sign * months),
                                           builder.getI64IntegerAttr(sign * days));
  return Expression{value, text};
}

FailureOr<Expression> ExpressionImporter::importComputedDatePart(Node expression, StringRef part,
                                                                 Node node) {
  FailureOr<Expression> operand = importExpression(node);
  if (failed(operand)) {
    return failure();
  }
  if (!frame::isDate(operand->value.getType())) {
    return expression.fail("the operand of date_part must be a date");
  }
  std::string text = "EXTRACT(" + part.str() + " FROM " + operand->text + ")";
  Location location = locate(expression, text);
  Type type =
      frame::withNullability(builder.getI32Type(), frame::nullabilityOf(operand->value.getType()));
  auto number = [&](int64_t value) -> Value {
    return frame::ConstantOp::create(builder, location, builder.getI32Type(),
                                     builder.getI32IntegerAttr(value));
  };
  if (part == "quarter") {
    Value month =
        frame::ExtractOp::create(builder, location, type, frame::DateField::Month, operand->value);
    Value third = frame::AddOp::create(builder, location, type, month, number(2));
    return Expression{frame::DivideOp::create(builder, location, type, third, number(3)), text};
  }
  // 1970-01-01 was a Thursday (4); days before it have negative remainders.
  Value days = frame::CastOp::create(builder, location, type, operand->value);
  Value rest = frame::ModulusOp::create(builder, location, type, days, number(7));
  Value shifted = frame::AddOp::create(builder, location, type, rest, number(11));
  return Expression{frame::ModulusOp::create(builder, location, type, shifted, number(7)), text};
}

FailureOr<Expression> ExpressionImporter::importTruthTest(Node expression, StringRef name,
                                                          ArrayRef<Node> nodes) {
  FailureOr<SmallVector<Expression>> arguments = importAll(nodes);
  if (failed(arguments)) {
    return failure();
  }
  if (arguments->size() != 1 || !frame::isBoolean(arguments->front().value.getType())) {
    return expression.fail("the operand of " + name + " must be one boolean");
  }
  const Expression &operand = arguments->front();
  std::string text = name.upper() + "(" + operand.text + ")";
  Location location = locate(expression, text);
  Type boolean = builder.getI1Type();
  Value wanted = frame::ConstantOp::create(builder, location, boolean,
                                           frame::literalAttr(name.ends_with("true"), boolean));
  Value value = frame::CompareOp::create(
      builder, location, boolean, frame::CompareKind::IsNotDistinctFrom, operand.value, wanted);
  if (name.starts_with("is_not")) {
    value = frame::NotOp::create(builder, location, boolean, value);
  }
  return Expression{value, text};
}

FailureOr<Expression> ExpressionImporter::importChoice(Node expression, StringRef name,
                                                       ArrayRef<Node> nodes) {
  FailureOr<SmallVector<Expression>> arguments = importAll(nodes);
  if (failed(arguments)) {
    return failure();
  }
  if (arguments->empty() || (name == "nullif" && arguments->size() != 2)) {
    return expression.fail("wrong number of arguments of " + name + ": " +
                           Twine(arguments->size()));
  }
  std::string text = name.upper() + "(";
  for (auto [index, argument] : llvm::enumerate(*arguments)) {
    if (!frame::isSameValueType(argument.value.getType(), arguments->front().value.getType())) {
      return expression.fail("the operands of " + name + " must have one type; cast them");
    }
    text += (index == 0 ? "" : ", ") + argument.text;
  }
  text += ")";
  Location location = locate(expression, text);
  auto compare = [&](frame::CompareKind kind, Value a, Value b) -> Value {
    return frame::CompareOp::create(builder, location, booleanFor({a.getType(), b.getType()}), kind,
                                    a, b);
  };
  Value best = arguments->front().value;
  if (name == "nullif") {
    Value other = (*arguments)[1].value, equal = compare(frame::CompareKind::Eq, best, other);
    Value null = frame::ConstantOp::create(builder, location, frame::addNullable(best.getType()),
                                           UnitAttr::get(environment.context));
    return Expression{frame::CaseOp::create(builder, location, null.getType(), equal, null, best),
                      text};
  }
  // A NULL is passed over: the other is taken where the best so far is NULL or loses.
  auto wins = name == "greatest" ? frame::CompareKind::Gt : frame::CompareKind::Lt;
  for (const Expression &argument : llvm::drop_begin(*arguments)) {
    Value other = argument.value;
    Type both = frame::withNullability(frame::dropNullable(best.getType()),
                                       frame::nullabilityOf({best.getType(), other.getType()}));
    Value missing = frame::IsNullOp::create(builder, location, builder.getI1Type(), best);
    best = frame::CaseOp::create(builder, location, both,
                                 ValueRange{missing, compare(wins, other, best)},
                                 ValueRange{other, other}, best);
  }
  return Expression{best, text};
}
