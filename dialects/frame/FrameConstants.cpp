// Literals of `frame` scalars: parsing, printing, and which attribute keeps them.
#include "dialects/frame/FrameConstants.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"

#include <charconv>
#include <chrono>

using namespace mlir;
using namespace headrace::frame;

//===----------------------------------------------------------------------===//
// Dates
//===----------------------------------------------------------------------===//

static constexpr StringRef kBeforeChrist = " (BC)"; // behind a year that counts from 1 backwards
/// The calendar repeats every 400 years, and std::chrono's years end at 32,767.
static constexpr int64_t kEraDays = 146'097, kEraYears = 400;

/// Takes a number of 1 to `digitsMax` digits from the front.
static std::optional<int64_t> takeNumber(StringRef &text, size_t digitsMax) {
  StringRef digits = text.take_while(llvm::isDigit);
  int64_t number = 0;
  if (digits.size() > digitsMax || digits.getAsInteger(10, number)) {
    return std::nullopt;
  }
  text = text.drop_front(digits.size());
  return number;
}

/// Takes a year, month and day from the front, with one of four characters between them, and
/// perhaps " (BC)"; as days since 1970-01-01.
static std::optional<int64_t> takeDate(StringRef &text) {
  bool negative = text.consume_front("-");
  std::optional<int64_t> year = takeNumber(text, 7);
  StringRef between = text.take_front();
  if (!year || between.empty() || !StringRef("-/ \\").contains(between) ||
      !text.consume_front(between)) {
    return std::nullopt;
  }
  std::optional<int64_t> month = takeNumber(text, 2);
  if (!month || !text.consume_front(between)) {
    return std::nullopt;
  }
  std::optional<int64_t> day = takeNumber(text, 2);
  bool beforeChrist = text.consume_front_insensitive(kBeforeChrist);
  if (!day || (beforeChrist && (negative || *year == 0))) {
    return std::nullopt;
  }
  year = beforeChrist ? 1 - *year : negative ? -*year : *year;
  int64_t era = *year / kEraYears;
  std::chrono::year_month_day date{
      std::chrono::year(static_cast<int>(*year % kEraYears)),
      std::chrono::month(static_cast<unsigned>(*month)), std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) {
    return std::nullopt;
  }
  return std::chrono::sys_days(date).time_since_epoch().count() + era * kEraDays;
}

std::string headrace::frame::formatDate(int32_t days) {
  int64_t era = days / kEraDays;
  std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(days % kEraDays))};
  int64_t year = static_cast<int>(date.year()) + kEraYears * era;
  char text[40];
  snprintf(text, sizeof(text), "%04d-%02u-%02u", static_cast<int>(year > 0 ? year : 1 - year),
           static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  return text + (year > 0 ? StringRef() : kBeforeChrist).str();
}

//===----------------------------------------------------------------------===//
// Timestamps
//===----------------------------------------------------------------------===//

constexpr int64_t kSecond = 1'000'000;
constexpr int64_t kDay = 86'400 * kSecond;

/// Microseconds of "HH:MM[:SS[.ffffff]]"; nothing if it is no time of a day.
static std::optional<int64_t> parseTimeOfDay(StringRef text) {
  auto [hours, rest] = text.split(':');
  auto [minutes, seconds] = rest.split(':');
  auto [whole, fraction] = seconds.split('.');
  bool hasSeconds = rest.contains(':');
  unsigned h = 0, m = 0, s = 0, f = 0;
  if (hours.size() != 2 || hours.getAsInteger(10, h) || h > 23 || minutes.size() != 2 ||
      minutes.getAsInteger(10, m) || m > 59) {
    return std::nullopt;
  }
  if (hasSeconds && (whole.size() != 2 || whole.getAsInteger(10, s) || s > 59)) {
    return std::nullopt;
  }
  if (seconds.contains('.')) {
    if (fraction.empty() || fraction.size() > 6 || fraction.getAsInteger(10, f)) {
      return std::nullopt;
    }
    for (size_t digits = fraction.size(); digits < 6; ++digits) {
      f *= 10;
    }
  }
  return ((h * 60 + m) * 60 + s) * kSecond + f;
}

namespace {
/// A day and a time of it.
struct Moment {
  int64_t days = 0, microseconds = 0;
};
} // namespace

/// A date, or a date and a time behind a space or a T.
static std::optional<Moment> parseMoment(StringRef text) {
  if (text.equals_insensitive("epoch")) {
    return Moment();
  }
  std::optional<int64_t> days = takeDate(text);
  if (!days || text.empty()) {
    return days ? std::optional(Moment{*days, 0}) : std::nullopt;
  }
  bool isBehind = text.consume_front(" ") || text.consume_front("T");
  std::optional<int64_t> time = isBehind ? parseTimeOfDay(text) : std::nullopt;
  return time ? std::optional(Moment{*days, *time}) : std::nullopt;
}

std::optional<int32_t> headrace::frame::parseDate(StringRef text) {
  std::optional<Moment> moment = parseMoment(text);
  bool fits = moment && moment->days >= INT32_MIN && moment->days <= INT32_MAX;
  return fits ? std::optional(static_cast<int32_t>(moment->days)) : std::nullopt;
}

std::optional<int64_t> headrace::frame::parseTimestamp(StringRef text) {
  std::optional<Moment> moment = parseMoment(text);
  if (!moment) {
    return std::nullopt;
  }
  __int128 result = static_cast<__int128>(moment->days) * kDay + moment->microseconds;
  bool fits = result >= INT64_MIN && result <= INT64_MAX;
  return fits ? std::optional(static_cast<int64_t>(result)) : std::nullopt;
}

std::string headrace::frame::formatTimestamp(int64_t microseconds) {
  int64_t days = microseconds / kDay - (microseconds % kDay < 0 ? 1 : 0);
  int64_t rest = microseconds - days * kDay;
  int64_t seconds = rest / kSecond, fraction = rest % kSecond;
  char time[40];
  snprintf(time, sizeof(time), " %02d:%02d:%02d", static_cast<int>(seconds / 3600),
           static_cast<int>(seconds / 60 % 60), static_cast<int>(seconds % 60));
  std::string text = formatDate(static_cast<int32_t>(days)) + time;
  if (fraction != 0) {
    snprintf(time, sizeof(time), ".%06d", static_cast<int>(fraction));
    text += StringRef(time).rtrim('0');
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

ParseResult headrace::frame::parseLiteral(OpAsmParser &parser, Literal &literal) {
  if (succeeded(parser.parseOptionalKeyword("null"))) {
    literal = std::monostate();
    return success();
  }
  if (succeeded(parser.parseOptionalKeyword("true"))) {
    literal = true;
    return success();
  }
  if (succeeded(parser.parseOptionalKeyword("false"))) {
    literal = false;
    return success();
  }
  std::string text;
  if (succeeded(parser.parseOptionalString(&text))) {
    literal = std::move(text);
    return success();
  }
  bool negative = succeeded(parser.parseOptionalMinus());
  llvm::APInt integer;
  SMLoc location = parser.getCurrentLocation();
  OptionalParseResult parsed = parser.parseOptionalInteger(integer);
  if (parsed.has_value()) {
    if (failed(*parsed)) {
      return failure();
    }
    // The parser gives as many bits as the digits need; the sign bit stays clear.
    if (integer.getBitWidth() > kLiteralBits && integer.getActiveBits() >= kLiteralBits) {
      return parser.emitError(location, "integer literal is too large");
    }
    integer = integer.zextOrTrunc(kLiteralBits);
    literal = negative ? -integer : integer;
    return success();
  }
  double real = 0;
  if (parser.parseFloat(real)) {
    return failure();
  }
  literal = negative ? -real : real;
  return success();
}

void headrace::frame::printLiteral(OpAsmPrinter &printer, Attribute value, Type type) {
  if (isa<UnitAttr>(value)) {
    printer << "null";
  } else if (auto text = dyn_cast<StringAttr>(value)) {
    printer.printString(text.getValue());
  } else if (auto real = dyn_cast<FloatAttr>(value)) {
    if (real.getValue().isFinite()) {
      printer.printFloat(real.getValue());
    } else {
      printer.printString(real.getValue().isNaN()        ? "nan"
                          : real.getValue().isNegative() ? "-inf"
                                                         : "inf");
    }
  } else if (auto integer = dyn_cast<IntegerAttr>(value)) {
    if (isBoolean(type)) {
      printer << (integer.getValue().isZero() ? "false" : "true");
      return;
    }
    if (isDate(type)) {
      printer.printString(formatDate(static_cast<int32_t>(integer.getInt())));
      return;
    }
    if (isTimestamp(type)) {
      printer.printString(formatTimestamp(integer.getInt()));
      return;
    }
    SmallString<40> digits;
    integer.getValue().toStringSigned(digits);
    printer << digits;
  } else {
    printer << value; // not a literal: the verifier says so
  }
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

IntegerAttr headrace::frame::decimalAttr(MLIRContext *context, const APInt &scaled) {
  return IntegerAttr::get(IntegerType::get(context, 128), scaled.sextOrTrunc(128));
}

/// Whether |value| < 10^digits.
static bool hasAtMostDigits(const APInt &value, unsigned digits) {
  SmallString<64> text;
  value.abs().toStringUnsigned(text);
  return value.isZero() || text.size() <= digits;
}

static Attribute integerLiteral(const APInt &integer, Type value) {
  MLIRContext *context = value.getContext();
  if (auto decimal = dyn_cast<DecimalType>(value)) {
    return hasAtMostDigits(integer, decimal.getPrecision()) ? decimalAttr(context, integer)
                                                            : Attribute();
  }
  if (isDate(value)) {
    return integer.isSignedIntN(32)
               ? IntegerAttr::get(IntegerType::get(context, 32), integer.trunc(32))
               : Attribute();
  }
  if (isTimestamp(value)) {
    return integer.isSignedIntN(64)
               ? IntegerAttr::get(IntegerType::get(context, 64), integer.trunc(64))
               : Attribute();
  }
  if (isInteger(value)) {
    unsigned bits = value.getIntOrFloatBitWidth();
    return integer.isSignedIntN(bits) ? IntegerAttr::get(value, integer.trunc(bits)) : Attribute();
  }
  return {};
}

static Attribute stringLiteral(StringRef text, Type value) {
  MLIRContext *context = value.getContext();
  if (isString(value)) {
    return StringAttr::get(context, text);
  }
  if (isDate(value)) {
    std::optional<int32_t> days = parseDate(text);
    return days ? IntegerAttr::get(IntegerType::get(context, 32), *days) : Attribute();
  }
  if (isTimestamp(value)) {
    std::optional<int64_t> moment = parseTimestamp(text);
    return moment ? IntegerAttr::get(IntegerType::get(context, 64), *moment) : Attribute();
  }
  if (isFloat(value)) { // what no float literal can write
    const llvm::fltSemantics &semantics = cast<FloatType>(value).getFloatSemantics();
    if (text == "nan") {
      return FloatAttr::get(value, APFloat::getQNaN(semantics));
    }
    if (text == "inf" || text == "-inf") {
      return FloatAttr::get(value, APFloat::getInf(semantics, text.front() == '-'));
    }
  }
  return {};
}

Attribute headrace::frame::literalAttr(const Literal &literal, Type type) {
  MLIRContext *context = type.getContext();
  Type value = dropNullable(type);
  if (std::holds_alternative<std::monostate>(literal)) {
    return isNullable(type) ? UnitAttr::get(context) : Attribute();
  }
  if (const bool *boolean = std::get_if<bool>(&literal)) {
    return isBoolean(value) ? BoolAttr::get(context, *boolean) : Attribute();
  }
  if (const double *real = std::get_if<double>(&literal)) {
    return isFloat(value) ? FloatAttr::get(value, *real) : Attribute();
  }
  if (const std::string *text = std::get_if<std::string>(&literal)) {
    return stringLiteral(*text, value);
  }
  return integerLiteral(std::get<APInt>(literal), value);
}

bool headrace::frame::isLiteralOf(Attribute value, Type type) {
  Type scalar = dropNullable(type);
  if (isa<UnitAttr>(value)) {
    return isNullable(type);
  }
  if (auto text = dyn_cast<StringAttr>(value)) {
    return isString(scalar);
  }
  if (auto real = dyn_cast<FloatAttr>(value)) {
    return real.getType() == scalar;
  }
  auto integer = dyn_cast<IntegerAttr>(value);
  if (!integer) {
    return false;
  }
  if (auto decimal = dyn_cast<DecimalType>(scalar)) {
    return integer.getType().isInteger(128) &&
           hasAtMostDigits(integer.getValue(), decimal.getPrecision());
  }
  if (isTimestamp(scalar)) {
    return integer.getType().isInteger(64);
  }
  return isDate(scalar) ? integer.getType().isInteger(32) : integer.getType() == scalar;
}
