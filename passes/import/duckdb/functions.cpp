// Calls of scalar functions of numbers and dates in DuckDB's plans, by name.
#include "dialects/frame/FrameConstants.h"
#include "passes/import/duckdb/expressions.h"

#include <numbers>

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::duckdb;
using headrace::MathFunction;
using headrace::mathFunctionOfDuckdb;
namespace frame = headrace::frame;

using Use = Field::Use;
using Arithmetic = ExpressionBuilder::Arithmetic;

LogicalResult ExpressionImporter::unsupported(const Call &call, const Twine &why) {
  return context.fail(call.at, "unsupported " + call.name + ": " + why);
}

MaybeExpression ExpressionImporter::importCall(ExpressionBuilder &b, Node expression, Location at,
                                               int64_t fieldsBefore) {
  StringRef name = nameOf(expression);
  if (failed(expectCall(expression, name, {{"function_data", Use::kRead}}, context, at)) ||
      failed(expectFields(expression.get("function_data"), name,
                          {{"check_overflow", Use::kHarmless}, // frame always checks
                           {"return_type", Use::kHarmless},
                           {"arguments", Use::kHarmless}},
                          context, at))) {
    return failure();
  }
  if (std::optional<MaybeExpression> date = importInterval(b, expression, name, at, fieldsBefore)) {
    return *date;
  }
  FailureOr<SmallVector<Expression>> arguments =
      importAll(b, expression.get("children").elements(), at, fieldsBefore);
  if (failed(arguments)) {
    return failure();
  }
  Call call{expression, name, {}, at};
  call.type = importType(context, expression.get("return_type"), at);
  if (!call.type) {
    return failure();
  }
  for (auto import :
       {&ExpressionImporter::importOperator, &ExpressionImporter::importNumberFunction,
        &ExpressionImporter::importPattern, &ExpressionImporter::importCut,
        &ExpressionImporter::importTextFunction, &ExpressionImporter::importDateFunction}) {
    if (std::optional<MaybeExpression> result = (this->*import)(b, call, *arguments)) {
      return *result;
    }
  }
  return context.fail(at, "unsupported function: " + name +
                              "; docs/semantics.md lists those that are supported");
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

std::optional<MaybeExpression>
ExpressionImporter::importOperator(ExpressionBuilder &b, const Call &call, Arguments arguments) {
  if (arguments.size() == 1) {
    return call.name == "-"   ? std::optional(b.negate(arguments[0], call.at))
           : call.name == "+" ? std::optional(MaybeExpression(arguments[0]))
                              : std::nullopt;
  }
  auto op = llvm::StringSwitch<std::optional<Arithmetic>>(call.name)
                .Cases({"+", "add"}, Arithmetic::kAdd)
                .Cases({"-", "subtract"}, Arithmetic::kSubtract)
                .Cases({"*", "multiply"}, Arithmetic::kMultiply)
                .Cases({"/", "//", "divide"}, Arithmetic::kDivide)
                .Cases({"%", "mod"}, Arithmetic::kModulus)
                .Default(std::nullopt);
  if (!op || arguments.size() != 2) {
    return std::nullopt;
  }
  const Expression &lhs = arguments[0], &rhs = arguments[1];
  bool fromDate = frame::isDate(lhs.type()), toDate = frame::isDate(rhs.type());
  if (fromDate && toDate && *op == Arithmetic::kSubtract) {
    return b.daysBetween(lhs, rhs, call.at);
  }
  if (fromDate || toDate) {
    std::optional<int64_t> days = ExpressionBuilder::integerOf(fromDate ? rhs : lhs);
    bool moves = *op == Arithmetic::kAdd || (*op == Arithmetic::kSubtract && fromDate);
    constexpr int64_t kDaysMax = INT32_MAX;
    if (!days || !moves || *days < -kDaysMax || *days > kDaysMax) {
      return MaybeExpression(unsupported(call, "only a constant number of days can be added to a "
                                               "date"));
    }
    int64_t sign = *op == Arithmetic::kSubtract ? -1 : 1;
    return b.shiftDate(fromDate ? lhs : rhs, 0, sign * *days, 0, call.at);
  }
  MaybeExpression result = b.arithmetic(*op, lhs, rhs, call.type, call.at);
  if (failed(result) || call.name != "//" || !frame::isFloat(call.type)) {
    return result;
  }
  // Of doubles it is the plain quotient, but not by zero.
  auto divisor = dyn_cast_or_null<FloatAttr>(ExpressionBuilder::constantOf(rhs));
  if (divisor && !divisor.getValue().isZero()) {
    return result;
  }
  Type real = frame::dropNullable(call.type);
  Expression zero = b.constant(FloatAttr::get(real, 0.0), real, call.at);
  MaybeExpression byZero = b.compare(frame::CompareKind::Eq, rhs, zero, call.at);
  MaybeExpression error = b.raise(frame::RaiseKind::User, "division by zero", real, call.at);
  return failed(byZero) || failed(error) ? byZero : b.choose(*byZero, *error, &*result, call.at);
}

std::optional<MaybeExpression> ExpressionImporter::importNumberFunction(ExpressionBuilder &b,
                                                                        const Call &call,
                                                                        Arguments arguments) {
  using Function = frame::NumberFunction;
  auto function = llvm::StringSwitch<std::optional<Function>>(call.name)
                      .Cases({"abs", "@"}, Function::Abs)
                      .Case("round", Function::Round)
                      .Case("floor", Function::Floor)
                      .Cases({"ceil", "ceiling"}, Function::Ceiling)
                      .Case("trunc", Function::Truncate)
                      .Case("sqrt", Function::Sqrt)
                      .Default(std::nullopt);
  if (call.name == "pi" && arguments.empty()) {
    Type real = Float64Type::get(context.getContext());
    return MaybeExpression(b.constant(FloatAttr::get(real, std::numbers::pi), real, call.at));
  }
  if (call.name == "greatest" || call.name == "least") {
    auto which = call.name == "greatest" ? ExpressionBuilder::Extreme::kGreatest
                                         : ExpressionBuilder::Extreme::kLeast;
    return b.extreme(which, arguments, call.at);
  }
  if (const MathFunction *math = mathFunctionOfDuckdb(call.name, arguments.size())) {
    return b.math(*math, arguments, call.type, call.at);
  }
  if (!function) {
    return std::nullopt;
  }
  std::optional<int64_t> digits;
  if (*function == Function::Round && arguments.size() == 2) {
    digits = ExpressionBuilder::integerOf(arguments[1]);
    if (!digits) {
      return MaybeExpression(unsupported(call, "the digits must be a constant"));
    }
  } else if (arguments.size() != 1) {
    return MaybeExpression(
        unsupported(call, "wrong number of arguments: " + Twine(arguments.size())));
  }
  return b.number(*function, arguments[0], digits, call.type, call.at);
}

//===----------------------------------------------------------------------===//
// Dates
//===----------------------------------------------------------------------===//

std::optional<MaybeExpression> ExpressionImporter::importDateFunction(ExpressionBuilder &b,
                                                                      const Call &call,
                                                                      Arguments arguments) {
  auto part = llvm::StringSwitch<StringRef>(call.name)
                  .Cases({"year", "quarter", "month", "day", "isodow"}, call.name)
                  .Case("dayofmonth", "day")
                  .Cases({"dayofweek", "weekday"}, "dow")
                  .Default("");
  if (!part.empty() && arguments.size() == 1) {
    MaybeExpression value = b.datePart(part, arguments[0], call.at);
    return failed(value) ? value : b.cast(*value, call.type, call.at);
  }
  if (call.name == "error") {
    std::optional<StringRef> message =
        arguments.size() == 1 ? ExpressionBuilder::stringOf(arguments[0]) : std::nullopt;
    if (!message) {
      return MaybeExpression(unsupported(call, "the message must be a constant"));
    }
    return b.raise(frame::RaiseKind::User, message->split("\n\n").first, call.type, call.at);
  }
  bool date = call.name == "current_date" || call.name == "today";
  bool moment = call.name == "now" || call.name == "get_current_timestamp" ||
                call.name == "transaction_timestamp" || call.name == "current_localtimestamp";
  if (date || moment) {
    if (!options.nowMicroseconds) {
      return MaybeExpression(unsupported(call, "the moment of the query is not given"));
    }
    Expression now = b.integer(*options.nowMicroseconds,
                               frame::TimestampType::get(context.getContext()), call.at);
    return b.cast(now, call.type, call.at); // zones are UTC
  }
  return std::nullopt;
}

std::optional<MaybeExpression> ExpressionImporter::importInterval(ExpressionBuilder &b,
                                                                  Node expression, StringRef name,
                                                                  Location at,
                                                                  int64_t fieldsBefore) {
  SmallVector<Node> children = expression.get("children").elements();
  if ((name != "+" && name != "-") || children.size() != 2) {
    return std::nullopt;
  }
  auto intervalOf = [](Node node) {
    Node value = node.get("value");
    bool interval = value.get("type").get("id").string() == StringRef("INTERVAL");
    return interval ? value.get("value") : node.get("no interval");
  };
  bool first = name == "+" && intervalOf(children[0]);
  Node interval = intervalOf(children[first ? 0 : 1]);
  if (!interval) {
    return std::nullopt;
  }
  std::optional<int64_t> months = interval.get("months").integer(),
                         days = interval.get("days").integer(),
                         micros = interval.get("micros").integer();
  constexpr int64_t kMax = 1'000'000'000;
  if (!months || !days || !micros || std::abs(*months) > kMax || std::abs(*days) > kMax ||
      *micros == INT64_MIN) {
    return interval.fail("expected months, days and microseconds");
  }
  Type type = importType(context, expression.get("return_type"), at);
  MaybeExpression date = import(b, children[first ? 1 : 0], at, fieldsBefore);
  MaybeExpression moment = type && succeeded(date) ? b.cast(*date, type, at) : date;
  if (!type || failed(moment)) {
    return MaybeExpression(failure());
  }
  int64_t sign = name == "-" ? -1 : 1;
  return b.shiftDate(*moment, sign * *months, sign * *days, sign * *micros, at);
}
