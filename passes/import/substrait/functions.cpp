// Substrait's scalar function calls, by bare name.
#include "passes/import/Moments.h"
#include "passes/import/substrait/expressions.h"
#include "passes/import/substrait/types.h"

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::substrait;
namespace frame = headrace::frame;

using Arithmetic = ExpressionBuilder::Arithmetic;

Type ExpressionImporter::outputType(const Call &call, Type otherwise) const {
  Node output = call.expression.get("scalarFunction").get("outputType");
  return output ? importType(context.getContext(), output) : otherwise;
}

MaybeExpression ExpressionImporter::importFunction(ExpressionBuilder &b, Node expression,
                                                   Node function, FieldShift shift) {
  FailureOr<StringRef> name = functionName(function);
  if (failed(name)) {
    return failure();
  }
  Call call{expression, *name, expression.location(), shift};
  if (*name == "and" || *name == "or") {
    return importLogic(b, call);
  }
  SmallVector<Node> nodes = callArguments(function);
  if (std::optional<MaybeExpression> date = importInterval(b, call, nodes)) {
    return *date;
  }
  FailureOr<SmallVector<Expression>> arguments = importAll(b, nodes, shift);
  if (failed(arguments)) {
    return failure();
  }
  for (auto import : {&ExpressionImporter::importArithmetic, &ExpressionImporter::importTruth,
                      &ExpressionImporter::importNumber, &ExpressionImporter::importPattern,
                      &ExpressionImporter::importText, &ExpressionImporter::importDatePart}) {
    if (std::optional<MaybeExpression> result = (this->*import)(b, call, *arguments)) {
      return *result;
    }
  }
  return function.refuse("unsupported function: " + *name + " of " + Twine(arguments->size()) +
                         " arguments; docs/semantics.md lists those that are supported");
}

MaybeExpression ExpressionImporter::importLogic(ExpressionBuilder &b, const Call &call) {
  FailureOr<SmallVector<Node>> parts = flatten(call.expression, call.name);
  if (failed(parts)) {
    return failure();
  }
  FailureOr<SmallVector<Expression>> operands = importAll(b, *parts, call.shift);
  if (failed(operands)) {
    return failure();
  }
  auto connective =
      call.name == "and" ? ExpressionBuilder::Connective::kAnd : ExpressionBuilder::Connective::kOr;
  return b.connect(connective, *operands, call.at);
}

std::optional<MaybeExpression>
ExpressionImporter::importArithmetic(ExpressionBuilder &b, const Call &call, Arguments arguments) {
  auto op = llvm::StringSwitch<std::optional<Arithmetic>>(call.name)
                .Case("add", Arithmetic::kAdd)
                .Case("subtract", Arithmetic::kSubtract)
                .Case("multiply", Arithmetic::kMultiply)
                .Case("divide", Arithmetic::kDivide)
                .Cases({"modulus", "modulo"}, Arithmetic::kModulus)
                .Default(std::nullopt);
  if (call.name == "negate" && arguments.size() == 1) {
    return b.negate(arguments[0], call.at);
  }
  if (!op || arguments.size() != 2) {
    return std::nullopt;
  }
  const Expression &lhs = arguments[0], &rhs = arguments[1];
  if (*op == Arithmetic::kSubtract && frame::isDate(lhs.type()) && frame::isDate(rhs.type())) {
    Moments moments(b, call.at);
    return MaybeExpression(moments.minus(moments.units(lhs), moments.units(rhs)));
  }
  bool stated = bool(call.expression.get("scalarFunction").get("outputType"));
  if (!stated && frame::isDecimal(lhs.type())) {
    return MaybeExpression(refuse(call, "decimal arithmetic needs an outputType"));
  }
  Type type = outputType(call, lhs.type());
  return type ? b.arithmetic(*op, lhs, rhs, type, call.at) : MaybeExpression(failure());
}

std::optional<MaybeExpression>
ExpressionImporter::importTruth(ExpressionBuilder &b, const Call &call, Arguments arguments) {
  auto kind = llvm::StringSwitch<std::optional<frame::CompareKind>>(call.name)
                  .Case("equal", frame::CompareKind::Eq)
                  .Case("not_equal", frame::CompareKind::Ne)
                  .Case("lt", frame::CompareKind::Lt)
                  .Case("lte", frame::CompareKind::Le)
                  .Case("gt", frame::CompareKind::Gt)
                  .Case("gte", frame::CompareKind::Ge)
                  .Case("is_not_distinct_from", frame::CompareKind::IsNotDistinctFrom)
                  .Default(std::nullopt);
  if (kind && arguments.size() == 2) {
    return b.compare(*kind, arguments[0], arguments[1], call.at);
  }
  if (call.name == "is_distinct_from" && arguments.size() == 2) {
    return b.isDistinct(arguments[0], arguments[1], call.at);
  }
  if (call.name == "nullif" && arguments.size() == 2) {
    return b.nullIf(arguments[0], arguments[1], call.at);
  }
  if (call.name == "coalesce") {
    return b.coalesce(arguments, call.at);
  }
  if (call.name == "greatest" || call.name == "least") {
    auto which = call.name == "greatest" ? ExpressionBuilder::Extreme::kGreatest
                                         : ExpressionBuilder::Extreme::kLeast;
    return b.extreme(which, arguments, call.at);
  }
  if (arguments.size() != 1) {
    return std::nullopt;
  }
  if (call.name == "not") {
    return b.negation(arguments[0], call.at);
  }
  if (call.name == "is_null") {
    return MaybeExpression(b.isNull(arguments[0], call.at));
  }
  if (call.name == "is_not_null") {
    return b.isNotNull(arguments[0], call.at);
  }
  StringRef test = call.name;
  bool holds = !(test.consume_front("is_not_") || !test.consume_front("is_"));
  if (call.name.starts_with("is_") && (test == "true" || test == "false")) {
    Type boolean = IntegerType::get(context.getContext(), 1);
    Expression wanted =
        b.constant(BoolAttr::get(context.getContext(), test == "true"), boolean, call.at);
    return holds ? b.compare(frame::CompareKind::IsNotDistinctFrom, arguments[0], wanted, call.at)
                 : b.isDistinct(arguments[0], wanted, call.at);
  }
  return std::nullopt;
}

std::optional<MaybeExpression>
ExpressionImporter::importNumber(ExpressionBuilder &b, const Call &call, Arguments arguments) {
  using Function = frame::NumberFunction;
  auto function = llvm::StringSwitch<std::optional<Function>>(call.name)
                      .Case("abs", Function::Abs)
                      .Case("round", Function::Round)
                      .Case("floor", Function::Floor)
                      .Cases({"ceil", "ceiling"}, Function::Ceiling)
                      .Case("trunc", Function::Truncate)
                      .Case("sqrt", Function::Sqrt)
                      .Default(std::nullopt);
  if (const MathFunction *math = mathFunctionOfSubstrait(call.name, arguments.size())) {
    Type type = outputType(call, arguments[0].type());
    return type ? b.math(*math, arguments, type, call.at) : MaybeExpression(failure());
  }
  bool takesDigits = function == Function::Round && arguments.size() == 2;
  if (!function || (arguments.size() != 1 && !takesDigits)) {
    return std::nullopt;
  }
  std::optional<int64_t> digits =
      takesDigits ? ExpressionBuilder::integerOf(arguments[1]) : std::nullopt;
  if (takesDigits && !digits) {
    return MaybeExpression(refuse(call, "the digits of round must be an integer literal"));
  }
  Type type = outputType(call, arguments[0].type());
  return type ? b.number(*function, arguments[0], digits, type, call.at)
              : MaybeExpression(failure());
}

std::optional<MaybeExpression>
ExpressionImporter::importPattern(ExpressionBuilder &b, const Call &call, Arguments arguments) {
  using Part = ExpressionBuilder::Part;
  bool like = call.name == "like" || call.name == "ilike";
  auto part = llvm::StringSwitch<std::optional<Part>>(call.name)
                  .Case("starts_with", Part::kStart)
                  .Case("ends_with", Part::kEnd)
                  .Case("contains", Part::kAnywhere)
                  .Default(std::nullopt);
  if ((!like && !part) || arguments.size() < 2 || arguments.size() > (like ? 3 : 2)) {
    return std::nullopt;
  }
  if (part) {
    std::optional<StringRef> text = ExpressionBuilder::stringOf(arguments[1]);
    return text ? std::optional(b.contains(*part, arguments[0], *text, call.at)) : std::nullopt;
  }
  std::optional<StringRef> pattern = ExpressionBuilder::stringOf(arguments[1]), escape;
  if (ExpressionBuilder::isNullConstant(arguments[1])) {
    return MaybeExpression(refuse(call, "unsupported LIKE NULL"));
  }
  if (!pattern) {
    return MaybeExpression(refuse(call, "the pattern of like must be a string literal"));
  }
  if (arguments.size() == 3 && !ExpressionBuilder::isNullConstant(arguments[2])) {
    escape = ExpressionBuilder::stringOf(arguments[2]);
    if (!escape) {
      return MaybeExpression(refuse(call, "the escape of like must be a string literal"));
    }
  }
  return call.name == "like" ? b.like(arguments[0], *pattern, escape, call.at)
                             : b.likeAnyCase(arguments[0], *pattern, escape, call.at);
}

std::optional<MaybeExpression>
ExpressionImporter::importText(ExpressionBuilder &b, const Call &call, Arguments arguments) {
  bool left = call.name == "left";
  if (left || call.name == "substring" || call.name == "substr") {
    if (arguments.size() < 2 || arguments.size() > (left ? 2 : 3)) {
      return std::nullopt;
    }
    Expression first = b.integer(1, IntegerType::get(b.getContext(), 64), call.at);
    bool cuts = left || arguments.size() == 3;
    return b.substring(arguments[0], left ? first : arguments[1],
                       cuts ? std::optional(arguments.back()) : std::nullopt, call.at);
  }
  const TextFunction *function = textFunctionOfSubstrait(call.name, arguments.size());
  if (!function) {
    return std::nullopt;
  }
  Type type = function->givesText() ? frame::StringType::get(context.getContext())
                                    : outputType(call, IntegerType::get(context.getContext(), 64));
  return type ? b.text(*function, arguments, type, call.at) : MaybeExpression(failure());
}

std::optional<MaybeExpression>
ExpressionImporter::importDatePart(ExpressionBuilder &b, const Call &call, Arguments arguments) {
  if ((call.name != "date_part" && call.name != "extract") || arguments.size() != 2) {
    return std::nullopt;
  }
  std::optional<StringRef> part = ExpressionBuilder::stringOf(arguments[0]);
  if (!part) {
    return MaybeExpression(refuse(call, "the field of date_part must be a string literal"));
  }
  std::optional<TimePart> known = timePart(*part);
  if (!known) {
    return MaybeExpression(refuse(call, "date_part has no such part: " + *part));
  }
  MaybeExpression value = Moments(b, call.at).part(*known, arguments[1]);
  return failed(value) || frame::isFloat(value->type())
             ? value
             : b.cast(*value, IntegerType::get(context.getContext(), 32), call.at);
}

/// The months and days of an interval literal; nothing if it is none, or has a time of day.
static std::optional<std::pair<int64_t, int64_t>> intervalOf(Node node) {
  Node interval = node.get("literal").get("intervalCompound");
  if (!interval) {
    return std::nullopt;
  }
  Node months = interval.get("intervalYearToMonth"), days = interval.get("intervalDayToSecond");
  constexpr int64_t kMax = 1'000'000'000, kSecondsOfDay = 86400;
  bool small = true;
  auto number = [&](Node of, StringRef name) {
    int64_t value = of.get(name).integer().value_or(0);
    small &= value > -kMax && value < kMax;
    return small ? value : 0;
  };
  constexpr int64_t kYearsMax = 100'000; // a date has 5.8 million
  int64_t seconds = number(days, "seconds"), subseconds = number(days, "subseconds");
  int64_t years = number(months, "years");
  small &= std::abs(years) <= kYearsMax;
  int64_t allMonths = years * 12 + number(months, "months");
  int64_t allDays = number(days, "days") + seconds / kSecondsOfDay;
  if (!small || seconds % kSecondsOfDay != 0 || subseconds != 0) {
    return std::nullopt;
  }
  return std::pair(allMonths, allDays);
}

std::optional<MaybeExpression>
ExpressionImporter::importInterval(ExpressionBuilder &b, const Call &call, ArrayRef<Node> nodes) {
  bool subtract = call.name == "subtract";
  if ((!subtract && call.name != "add") || nodes.size() != 2) {
    return std::nullopt;
  }
  bool any = llvm::any_of(
      nodes, [](Node node) { return bool(node.get("literal").get("intervalCompound")); });
  if (!any) {
    return std::nullopt;
  }
  bool first = !subtract && intervalOf(nodes[0]);
  std::optional<std::pair<int64_t, int64_t>> interval = intervalOf(nodes[first ? 0 : 1]);
  if (!interval) {
    return MaybeExpression(refuse(
        call,
        "unsupported interval: only years, months and days, as a literal, can be added to a date"));
  }
  MaybeExpression date = import(b, nodes[first ? 1 : 0], call.shift);
  int64_t sign = subtract ? -1 : 1;
  return failed(date)
             ? date
             : b.shiftDate(*date, sign * interval->first, sign * interval->second, 0, call.at);
}
