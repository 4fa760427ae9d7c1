// Calls of scalar functions of numbers, and operators, in DuckDB's plans, by name.
#include "dialects/frame/FrameConstants.h"
#include "passes/import/ConstantCasts.h"
#include "passes/import/Deviations.h"
#include "passes/import/Histograms.h"
#include "passes/import/Moments.h"
#include "passes/import/duckdb/expressions.h"
#include "passes/import/duckdb/round_by_column.h"
#include "passes/import/duckdb/round_even.h"
#include "runtime/base/version.h"

#include <cmath>
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

LogicalResult ExpressionImporter::unsupportedCollation(StringRef name, Location at) {
  return context.fail(at, "unsupported collation: " + name +
                              ", of ICU; NOCASE, NOACCENT and NFC are supported");
}

MaybeExpression ExpressionImporter::importCall(ExpressionBuilder &b, Node expression, Location at,
                                               int64_t fieldsBefore) {
  StringRef name = nameOf(expression);
  if (isLambda(expression)) {
    return importLambda(b, expression, at, fieldsBefore);
  }
  if (name == "invoke") {
    return importInvoked(b, expression, at, fieldsBefore);
  }
  if (name.consume_front("collate_")) {
    return unsupportedCollation(name, at); // a key of ICU's
  }
  const std::string zone = '"' + (options.timeZone.empty() ? "UTC" : options.timeZone) + '"';
  if (failed(expectCall(expression, name, {{"function_data", Use::kRead}}, context, at)) ||
      failed(expectFields(expression.get("function_data"), name,
                          {{"check_overflow", Use::kHarmless}, // frame always checks
                           {"return_type", Use::kHarmless},
                           {"arguments", Use::kHarmless},
                           {"bind_data", Use::kHarmless}, // of an aggregate, which its name says
                           {"child_type", Use::kHarmless},
                           {"alias", Use::kRead},
                           {"variable_return_type", Use::kHarmless},
                           {"field_indexes", Use::kHarmless}, // of fields that have names, too
                           {"order_type", Use::kRead},
                           {"null_order", Use::kRead},
                           {"default_collation", Use::kDefault, "\"\""},
                           {"sort_key", Use::kHarmless},   // the element
                           {"stype", Use::kHarmless},      // what it gives
                           {"part_codes", Use::kHarmless}, // the names of its fields
                           {"tz_setting", Use::kDefault, zone},
                           {"cal_setting", Use::kDefault, "\"gregorian\""},
                           {"is_grade_up", Use::kRead}},
                          context, at))) {
    return failure();
  }
  Call call{expression, name, {}, at};
  call.type = importType(context, expression.get("return_type"), at);
  if (!call.type) {
    return failure();
  }
  if (std::optional<MaybeExpression> moment = importWithInterval(b, call, fieldsBefore)) {
    return *moment;
  }
  FailureOr<SmallVector<Expression>> arguments =
      importAll(b, expression.get("children").elements(), at, fieldsBefore);
  if (failed(arguments)) {
    return failure();
  }
  for (auto import :
       {&ExpressionImporter::importOfAnyType, &ExpressionImporter::importJsonFunction,
        &ExpressionImporter::importStructFunction, &ExpressionImporter::importMapFunction,
        &ExpressionImporter::importListFunction, &ExpressionImporter::importOperator,
        &ExpressionImporter::importRandom, &ExpressionImporter::importNumberFunction,
        &ExpressionImporter::importPattern, &ExpressionImporter::importCut,
        &ExpressionImporter::importFormat, &ExpressionImporter::importBar,
        &ExpressionImporter::importTextFunction, &ExpressionImporter::importDateFunction}) {
    if (std::optional<MaybeExpression> result = (this->*import)(b, call, *arguments)) {
      return *result;
    }
  }
  return context.fail(at, "unsupported function: " + name +
                              "; docs/semantics.md lists those that are supported");
}

/// What an ENUM's list says, whatever the value.
static std::optional<MaybeExpression> ofList(ExpressionBuilder &b, StringRef name,
                                             frame::EnumType type, Location at) {
  Type string = frame::StringType::get(b.getContext());
  auto values = llvm::map_to_vector(
      type.getValues(), [&](StringAttr value) { return b.constant(value, string, at); });
  return name == "enum_first"   ? std::optional(MaybeExpression(values.front()))
         : name == "enum_last"  ? std::optional(MaybeExpression(values.back()))
         : name == "enum_range" ? std::optional(b.list(string, values, at))
                                : std::nullopt;
}

/// Functions whose arguments are of any type.
std::optional<MaybeExpression>
ExpressionImporter::importOfAnyType(ExpressionBuilder &b, const Call &call, Arguments arguments) {
  auto text = [&](StringRef value) {
    return MaybeExpression(b.constant(StringAttr::get(b.getContext(), value), call.type, call.at));
  };
  if (call.name == "current_schema" || call.name == "current_database") {
    return text(call.name == "current_schema" ? "main" : "memory");
  }
  if (call.name == "alias") {
    return text(call.node.get("function_data").get("alias").string().value_or(""));
  }
  if (call.name == "typeof" && arguments.size() == 1 &&
      ExpressionBuilder::isNullConstant(arguments[0])) { // of all else the binder says it
    return text("\"NULL\"");
  }
  if (call.name == "is_histogram_other_bin" && arguments.size() == 1) {
    return isOtherBin(b, arguments[0], call.at);
  }
  if (arguments.size() == 1 && frame::isEnum(arguments[0].type())) {
    auto type = cast<frame::EnumType>(frame::dropNullable(arguments[0].type()));
    if (std::optional<MaybeExpression> found = ofList(b, call.name, type, call.at)) {
      return found;
    }
  }
  if (call.name == "constant_or_null" && !arguments.empty()) {
    return MaybeExpression(
        Moments(b, call.at).unlessNull(arguments.drop_front(), arguments.front()));
  }
  return std::nullopt;
}

std::optional<MaybeExpression>
ExpressionImporter::importRandom(ExpressionBuilder &b, const Call &call, Arguments arguments) {
  if (call.name == "setseed") {
    return MaybeExpression(unsupported(call, "SELECT setseed(x) alone, of a session, and the "
                                             "setting random_seed say what random() draws"));
  }
  if (!isRandomFunction(call.name) || !arguments.empty()) {
    return std::nullopt;
  }
  const bool isNumber = call.name == "random";
  auto [known, isNew] = randomCalls.try_emplace(call.node.identity(), randomCallCount);
  if (isNew) {
    randomCallCount += isNumber ? 1 : ExpressionBuilder::kDrawsOfUuid;
  }
  if (call.name != "uuidv7") {
    return isNumber ? b.random(known->second, call.at) : b.randomUuid(known->second, call.at);
  }
  FailureOr<int64_t> micros = momentOfQuery(call.name, call.at);
  constexpr int64_t kMicrosOfMilli = 1000;
  return failed(micros) ? MaybeExpression(failure())
                        : b.timedUuid(known->second, *micros / kMicrosOfMilli, call.at);
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
  if (frame::isDecimal(call.type)) { // DuckDB takes a HUGEINT as it is for one of 38 digits
    SmallVector<Expression> decimals;
    Type whole = frame::DecimalType::get(b.getContext(), 38, 0);
    for (const Expression &argument : arguments) {
      decimals.push_back(frame::isInteger(argument.type()) ? *b.cast(argument, whole, call.at)
                                                           : argument);
    }
    return b.arithmetic(*op, decimals[0], decimals[1], call.type, call.at);
  }
  const Expression &lhs = arguments[0], &rhs = arguments[1];
  if (frame::isDate(lhs.type()) || frame::isDate(rhs.type())) {
    return importDateOperator(b, call, lhs, rhs, *op);
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

/// Of a date and a date, a time or a number of days.
MaybeExpression ExpressionImporter::importDateOperator(ExpressionBuilder &b, const Call &call,
                                                       const Expression &lhs, const Expression &rhs,
                                                       Arithmetic op) {
  Moments moments(b, call.at);
  bool first = frame::isDate(lhs.type());
  const Expression &date = first ? lhs : rhs, &other = first ? rhs : lhs;
  bool adds = op == Arithmetic::kAdd, subtracts = op == Arithmetic::kSubtract && first;
  if (subtracts && frame::isDate(rhs.type())) {
    return moments.minus(moments.units(lhs), moments.units(rhs));
  }
  if (adds && frame::isTime(other.type())) {
    MaybeExpression midnight = b.cast(date, call.type, call.at);
    return failed(midnight) ? midnight
                            : moments.orInfinite(date,
                                                 moments.as(moments.plus(moments.units(*midnight),
                                                                         moments.units(other)),
                                                            call.type),
                                                 other);
  }
  if ((!adds && !subtracts) || !frame::isInteger(other.type())) {
    return unsupported(call, "only days, a time or an interval can be added to a date");
  }
  constexpr int64_t kDaysMax = INT32_MAX;
  std::optional<int64_t> days = ExpressionBuilder::integerOf(other);
  if (days && *days >= -kDaysMax && *days <= kDaysMax) {
    return b.shiftDate(date, 0, adds ? *days : -*days, 0, call.at);
  }
  Expression count = *b.cast(other, IntegerType::get(context.getContext(), 64), call.at);
  Expression moved =
      adds ? moments.plus(moments.units(date), count) : moments.minus(moments.units(date), count);
  // The outermost numbers are no days, but infinite.
  Expression most = moments.number(kDaysMax), least = moments.number(-kDaysMax);
  MaybeExpression above = b.compare(frame::CompareKind::Ge, moved, most, call.at);
  MaybeExpression below = b.compare(frame::CompareKind::Le, moved, least, call.at);
  MaybeExpression error =
      b.raise(frame::RaiseKind::User, "a date out of range", moved.type(), call.at);
  if (failed(above) || failed(below) || failed(error)) {
    return failure();
  }
  MaybeExpression finite = b.choose({*above, *below}, {*error, *error}, &moved, call.at);
  return failed(finite) ? finite : moments.orInfinite(date, moments.as(*finite, call.type), other);
}

std::optional<MaybeExpression> ExpressionImporter::importNumberFunction(ExpressionBuilder &b,
                                                                        const Call &call,
                                                                        Arguments arguments) {
  using Function = frame::NumberFunction;
  if (std::optional<MaybeExpression> result = importUnsigned128(b, call, arguments)) {
    return result;
  }
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
  if (call.name == "version" && arguments.empty()) {
    const std::string text = std::string("headrace ") + headrace::version();
    return MaybeExpression(
        b.constant(StringAttr::get(b.getContext(), text), frame::dropNullable(call.type), call.at));
  }
  if (call.name == "greatest" || call.name == "least") {
    auto which = call.name == "greatest" ? ExpressionBuilder::Extreme::kGreatest
                                         : ExpressionBuilder::Extreme::kLeast;
    return b.extreme(which, arguments, call.at);
  }
  if (call.name == "round_even" && arguments.size() == 2) {
    std::optional<int64_t> digits = ExpressionBuilder::integerOf(arguments[1]);
    return digits ? roundedToEven(b, arguments[0], *digits, call.type, call.at)
                  : MaybeExpression(unsupported(call, "the digits must be a constant"));
  }
  if (call.name == "bit_count" && arguments.size() == 1) {
    return importBitCount(b, call, arguments[0]);
  }
  if ((call.name == "factorial" || call.name == "!__postfix") && arguments.size() == 1) {
    return importFactorial(b, call, arguments[0]);
  }
  if (call.name == "binom" && arguments.size() == 2) {
    return b.onlyElement(*headrace::textFunctionNamed("binom"), arguments, call.type, call.at);
  }
  if (call.name == "nextafter" && frame::dropNullable(call.type).isF32()) {
    return b.math(*headrace::mathFunctionNamed("nextafter_of_float"), arguments, call.type,
                  call.at);
  }
  const bool ofMoments = llvm::any_of(
      arguments, [](const Expression &each) { return frame::isTemporal(each.type()); });
  const MathFunction *math = mathFunctionOfDuckdb(call.name, arguments.size());
  if (math && !ofMoments) {
    return importBits(b, call, *math, arguments);
  }
  if (call.name == "error") {
    std::optional<StringRef> message =
        arguments.size() == 1 ? ExpressionBuilder::stringOf(arguments[0]) : std::nullopt;
    if (!message) {
      return MaybeExpression(unsupported(call, "the message must be a constant"));
    }
    return b.raise(frame::RaiseKind::User, message->split("\n\n").first, call.type, call.at);
  }
  if (!function) {
    return std::nullopt;
  }
  if (*function == Function::Truncate && arguments.size() == 2) {
    if (ExpressionBuilder::isNullConstant(arguments[1])) {
      return MaybeExpression(b.null(call.type, call.at));
    }
    std::optional<int64_t> places = ExpressionBuilder::integerOf(arguments[1]);
    return places ? importTruncated(b, call, arguments[0], *places)
                  : importByColumn(b, *function, call, arguments);
  }
  std::optional<int64_t> digits;
  if (*function == Function::Round && arguments.size() == 2) {
    digits = ExpressionBuilder::integerOf(arguments[1]);
    if (!digits) {
      return importByColumn(b, *function, call, arguments);
    }
  } else if (arguments.size() != 1) {
    return MaybeExpression(
        unsupported(call, "wrong number of arguments: " + Twine(arguments.size())));
  }
  return b.number(*function, arguments[0], digits, call.type, call.at);
}

/// round and trunc to digits that are no constant.
MaybeExpression ExpressionImporter::importByColumn(ExpressionBuilder &b,
                                                   frame::NumberFunction function, const Call &call,
                                                   Arguments arguments) {
  Type type = frame::dropNullable(arguments[0].type());
  if (frame::isUnsigned128(type)) {
    return unsupported(call, "the digits must be a constant for UHUGEINT");
  }
  if (frame::isFloat(type)) {
    return realByColumn(b, function, arguments[0], arguments[1], call.type, call.at);
  }
  return integerByColumn(b, arguments[0], arguments[1], call.type, call.at, [&](int64_t digits) {
    return function == frame::NumberFunction::Truncate
               ? importTruncated(b, call, arguments[0], digits)
               : b.number(function, arguments[0], digits, call.type, call.at);
  });
}

/// How many digits the greatest integer of a type has.
static int64_t placesOf(Type type) {
  const unsigned bits = frame::isUnsigned128(type) ? 128 : frame::integerBits(type);
  const bool isUnsigned = frame::isUnsigned(type) || frame::isUnsigned128(type);
  const llvm::APInt greatest =
      isUnsigned ? llvm::APInt::getMaxValue(bits) : llvm::APInt::getSignedMaxValue(bits);
  return static_cast<int64_t>(llvm::toString(greatest, 10, !isUnsigned).size());
}

/// To so many digits behind the point, or before it.
MaybeExpression ExpressionImporter::importTruncated(ExpressionBuilder &b, const Call &call,
                                                    const Expression &value, int64_t digits) {
  Type type = frame::dropNullable(value.type());
  if (frame::isFloat(type)) {
    Real given(b, *b.cast(value, Float64Type::get(context.getContext()), call.at), call.at);
    Real unit = given.constant(std::pow(10.0, static_cast<double>(std::abs(digits))));
    Real cut = digits < 0 ? (given / unit).apply(frame::NumberFunction::Truncate) * unit
                          : (given * unit).apply(frame::NumberFunction::Truncate) / unit;
    // Where that is no number, it is as it was.
    MaybeExpression known = b.coalesce({finite(cut).expression(), given.expression()}, call.at);
    return failed(known) ? known : b.cast(*known, call.type, call.at);
  }
  auto decimal = dyn_cast<frame::DecimalType>(type);
  const int64_t away = (decimal ? decimal.getScale() : 0) - digits;
  if (away <= 0) {
    return b.cast(value, call.type, call.at);
  }
  const int64_t places = decimal ? decimal.getPrecision() : placesOf(type);
  if (away >= places) { // all of them: 0, or NULL
    MaybeExpression none = b.arithmetic(Arithmetic::kSubtract, value, value, type, call.at);
    return failed(none) ? none : b.cast(*none, call.type, call.at);
  }
  const llvm::APInt unit = powerOfTen(static_cast<unsigned>(away), frame::kLiteralBits);
  Expression whole = b.constant(frame::literalAttr(unit, type), type, call.at);
  MaybeExpression rest = b.arithmetic(Arithmetic::kModulus, value, whole, type, call.at);
  MaybeExpression cut =
      failed(rest) ? rest : b.arithmetic(Arithmetic::kSubtract, value, *rest, type, call.at);
  return failed(cut) ? cut : b.cast(*cut, call.type, call.at);
}

/// One of the products that a HUGEINT holds.
MaybeExpression ExpressionImporter::importFactorial(ExpressionBuilder &b, const Call &call,
                                                    const Expression &value) {
  constexpr int64_t kMost = 33;
  Type type = frame::dropNullable(call.type), i64 = IntegerType::get(context.getContext(), 64);
  SmallVector<Expression> products;
  llvm::APInt product(frame::kLiteralBits, 1);
  for (int64_t n = 0; n <= kMost; ++n) {
    product *= llvm::APInt(frame::kLiteralBits, static_cast<uint64_t>(std::max<int64_t>(n, 1)));
    products.push_back(b.constant(frame::literalAttr(product, type), type, call.at));
  }
  MaybeExpression all = b.list(type, products, call.at);
  MaybeExpression wide = b.cast(value, i64, call.at);
  MaybeExpression place = failed(wide) ? wide
                                       : b.arithmetic(Arithmetic::kAdd, *wide,
                                                      b.integer(1, i64, call.at), i64, call.at);
  if (failed(all) || failed(place)) {
    return failure();
  }
  MaybeExpression isBelow =
      b.compare(frame::CompareKind::Lt, *wide, b.integer(0, i64, call.at), call.at);
  MaybeExpression isAbove =
      b.compare(frame::CompareKind::Gt, *wide, b.integer(kMost, i64, call.at), call.at);
  MaybeExpression error =
      b.raise(frame::RaiseKind::User, "factorial of a number that is not 0 to 33", type, call.at);
  MaybeExpression found = b.element(*all, *place, call.at);
  return failed(isBelow) || failed(isAbove) || failed(error) || failed(found)
             ? MaybeExpression(failure())
             : b.choose({*isBelow, *isAbove}, {*error, *error}, &*found, call.at);
}
