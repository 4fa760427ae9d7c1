// The value of one scalar op of `frame` on known operands.
#include "passes/analysis/scalar_evaluation.h"
#include "dialects/frame/FrameConstants.h"
#include "dialects/frame/LogicalTypes.h"
#include "passes/analysis/double_double.h"
#include "passes/analysis/number_text.h"
#include "passes/analysis/text_evaluation.h"
#include "passes/analysis/value_range.h"
#include "runtime/base/byte_types.h"
#include "runtime/base/list_functions.h"
#include "runtime/base/moment_text.h"
#include "llvm/ADT/TypeSwitch.h"

#include <chrono>
#include <cmath>

using namespace mlir;
using namespace headrace;
using namespace headrace::analysis;
using namespace headrace::frame;

namespace {

Evaluated ok(Scalar value) { return {std::move(value), {}}; }
Evaluated ok(Int128 value) { return {Scalar{value}, {}}; }
Evaluated fail(const Twine &message) { return {{}, message.str()}; }

// Wide enough for a product of two decimals and for a dividend scaled by 10^76.
constexpr unsigned kWideBits = 512;

APInt wide(Int128 value) {
  APInt bits(128, {static_cast<uint64_t>(value), static_cast<uint64_t>(value >> 64)});
  return bits.sext(kWideBits);
}

APInt powerOfTen(unsigned exponent) {
  APInt result(kWideBits, 1);
  for (unsigned i = 0; i < exponent; ++i) {
    result *= 10;
  }
  return result;
}

// The calendar repeats every 400 years, and std::chrono's years end at 32,767.
constexpr Int128 kEraDays = 146'097;

Int128 floorDivided(Int128 value, Int128 divisor) {
  return value / divisor - (value % divisor < 0 ? 1 : 0);
}

Evaluated fittedWide(const APInt &value, Type type) {
  if (value.getSignificantBits() > 128) {
    return fail(isDecimal(type) ? "overflow of a decimal" : "overflow of an integer");
  }
  APInt narrow = value.trunc(128);
  auto bits = (static_cast<unsigned __int128>(narrow.extractBitsAsZExtValue(64, 64)) << 64) |
              narrow.extractBitsAsZExtValue(64, 0);
  return fitted(static_cast<Int128>(bits), type);
}

/// A date, if results may be it.
Evaluated finiteDate(Int128 days) {
  bool isFinite = days > -kInfiniteDate && days < kInfiniteDate;
  return isFinite ? ok(days) : fail("overflow of a date");
}

/// A timestamp, likewise.
Evaluated finite(Int128 value, Type type) {
  auto [least, greatest] = finiteTimestamps(type);
  return value >= least && value <= greatest ? ok(value) : fail("overflow of a timestamp");
}

Evaluated finiteWide(const APInt &value, Type type) {
  Evaluated result = fittedWide(value, type);
  return result.failed() || !isTimestamp(type) ? result : finite(result.value.integer(), type);
}

Evaluated roundedTo(double value, Type type) {
  return ok(
      Scalar{dropNullable(type).isF32() ? static_cast<double>(static_cast<float>(value)) : value});
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Evaluated floatArithmetic(Operation *op, double a, double b) {
  Type type = op->getResult(0).getType();
  return llvm::TypeSwitch<Operation *, Evaluated>(op)
      .Case([&](AddOp) { return roundedTo(a + b, type); })
      .Case([&](SubtractOp) { return roundedTo(a - b, type); })
      .Case([&](MultiplyOp) { return roundedTo(a * b, type); })
      .Case([&](DivideOp) { return roundedTo(a / b, type); })
      .Case([&](ModulusOp) { return roundedTo(std::fmod(a, b), type); })
      .Default([](Operation *) {
        return fail("unknown arithmetic"); // no test: there is no other arithmetic
      });
}

Evaluated exactArithmetic(Operation *op, Int128 a, Int128 b) {
  Type type = op->getResult(0).getType();
  unsigned scale = scaleOf(type);
  unsigned scaleA = scaleOf(op->getOperand(0).getType());
  unsigned scaleB = scaleOf(op->getOperand(1).getType());
  APInt x = wide(a);
  APInt y = wide(b);
  if (isa<MultiplyOp>(op)) {
    return fittedWide(x * y, type);
  }
  if (isa<DivideOp>(op)) {
    if (y.isZero()) {
      return fail("division by zero");
    }
    // (a / 10^scaleA) / (b / 10^scaleB) at 10^scale.
    x *= powerOfTen(scale + scaleB);
    y *= powerOfTen(scaleA);
    return fittedWide(x.sdiv(y), type);
  }
  x *= powerOfTen(scale - scaleA);
  y *= powerOfTen(scale - scaleB);
  if (isa<AddOp>(op)) {
    return fittedWide(x + y, type);
  }
  if (isa<SubtractOp>(op)) {
    return fittedWide(x - y, type);
  }
  if (y.isZero()) {
    return fail("division by zero");
  }
  return fittedWide(x.srem(y), type);
}

/// The mean of a sum: what is exact in doubles is divided once.
Evaluated meanOf(DivideOp op, Int128 sum, Int128 count) {
  double power = std::pow(10.0, scaleOf(op.getLhs().getType()));
  return ok(Scalar{static_cast<double>(sum) / (static_cast<double>(count) * power)});
}

double realOf(Int128 value, Type type) { return nearestReal(value, scaleOf(type)); }

/// A number as text, exactly; decimals with all digits of their scale.
std::string exactText(Int128 value, Type type) {
  if (isBoolean(type)) {
    return value ? "true" : "false";
  }
  if (isTemporal(type)) {
    return formatTemporal(static_cast<int64_t>(value), type);
  }
  std::string digits = integerText(value);
  const bool isNegative = value < 0;
  digits.erase(0, isNegative ? 1 : 0);
  if (unsigned scale = scaleOf(type)) {
    auto decimal = dyn_cast<DecimalType>(dropNullable(type));
    const bool isFraction = decimal && decimal.getPrecision() == scale; // has no digit in front
    if (digits.size() <= scale) {
      digits.insert(0, scale + (isFraction ? 0 : 1) - digits.size(), '0');
    }
    digits.insert(digits.size() - scale, ".");
  }
  return (isNegative ? "-" : "") + digits;
}

Evaluated exactOfReal(double value, Type type) {
  if (isBoolean(type)) {
    return ok(Scalar::boolean(value != 0));
  }
  double scaled = value * std::pow(10.0, scaleOf(type));
  // To the nearest: integers to the even one between two, decimals away from zero.
  double whole = isDecimal(type) ? std::round(scaled) : std::nearbyint(scaled);
  const double beyond =
      isDecimal(type) ? static_cast<double>(rangeOfType(type)->high) + 1 : 0x1p127;
  if (!(std::abs(whole) < beyond)) {
    return fail("value does not fit the type of a cast");
  }
  return fitted(static_cast<Int128>(whole), type);
}

Evaluated rescaled(Int128 value, Type from, Type to) {
  if (isBoolean(to)) {
    return ok(Scalar::boolean(value != 0));
  }
  if (isTemporal(from) != isTemporal(to)) {
    return fitted(value, to); // the number of its unit
  }
  if (isInfinite(value, from)) {
    std::optional<int64_t> infinity = infinityOf(to);
    return infinity ? ok(value > 0 ? *infinity : -*infinity)
                    : fail("an infinite timestamp has no time of day");
  }
  if (isDate(from) && isTimestamp(to)) {
    return finite(value * unitsOfDay(to), to);
  }
  if (isTimestamp(from) && !isTimestamp(to)) { // its date, or its time of day
    Int128 day = unitsOfDay(from), days = floorDivided(value, day);
    return isDate(to) ? finiteDate(days) : ok(value - days * day);
  }
  APInt x = wide(value);
  unsigned fromScale = scaleOf(from);
  unsigned toScale = scaleOf(to);
  if (toScale >= fromScale) {
    return finiteWide(x * powerOfTen(toScale - fromScale), to);
  }
  APInt divisor = powerOfTen(fromScale - toScale);
  APInt quotient = x.sdiv(divisor);
  APInt remainder = x.srem(divisor).abs();
  if ((remainder * 2).uge(divisor)) {
    quotient += x.isNegative() ? APInt::getAllOnes(kWideBits) : APInt(kWideBits, 1);
  }
  return finiteWide(quotient, to);
}

Evaluated castOfText(StringRef text, Type to) {
  StringRef whole = text;
  if (isHeldAsBytes(to)) {
    std::optional<std::string> bytes = bytesOfText(text, to);
    const char *wanted = byteTypeOf(logicalType(dropNullable(to)).kind)->named;
    return bytes ? ok(Scalar{std::move(*bytes)})
                 : fail("text is not " + Twine(wanted) + ": " + text);
  }
  text = text.trim();
  if (isTemporal(to)) {
    std::optional<int64_t> moment = parseTemporal(text, to);
    StringRef what = isDate(to) ? "date" : isTime(to) ? "time" : "timestamp";
    return moment ? ok(Int128(*moment)) : fail("text is not a " + what + ": " + text);
  }
  if (isBoolean(to)) {
    auto isAnyOf = [&](std::initializer_list<StringRef> words) {
      return llvm::any_of(words, [&](StringRef word) { return whole.equals_insensitive(word); });
    };
    bool truth = isAnyOf({"true", "t", "yes", "y", "1"});
    bool known = truth || isAnyOf({"false", "f", "no", "n", "0"});
    return known ? ok(Scalar::boolean(truth)) : fail("text is not a boolean: " + whole);
  }
  if (isFloat(to)) {
    std::optional<double> value = realOfText(text, dropNullable(to).isF32());
    return value ? ok(Scalar{*value}) : fail("text is not a number: " + text);
  }
  std::optional<NumberText> number = numberOfText(text);
  if (!number) {
    return fail("text is not a number: " + text);
  }
  constexpr int64_t kDigitsMax = 100; // more than any type has
  int64_t wanted = number->exponent + static_cast<int64_t>(scaleOf(to));
  StringRef digits = StringRef(number->digits);
  if (wanted < 0 || digits.empty()) {
    return ok(Int128(0));
  }
  if (wanted > kDigitsMax) {
    return fittedWide(powerOfTen(kDigitsMax), to);
  }
  std::string kept = "0" + digits.take_front(static_cast<size_t>(wanted)).str();
  kept.append(static_cast<size_t>(wanted) + 1 - kept.size(), '0');
  APInt value(kWideBits, kept, 10);
  StringRef rest = digits.drop_front(std::min<size_t>(static_cast<size_t>(wanted), digits.size()));
  value += !rest.empty() && rest.front() >= '5';
  return fittedWide(number->negative ? -value : value, to);
}

Evaluated evaluateCast(CastOp op, const Scalar &operand) {
  Type from = op.getOperand().getType();
  Type to = op.getResult().getType();
  if (isSameValueType(from, to) || isNested(from)) {
    return ok(operand);
  }
  if (isString(from)) {
    return castOfText(operand.text(), to);
  }
  if (isHeldAsBytes(from)) {
    return ok(Scalar{textOfBytes(operand.text(), from)});
  }
  if (isFloat(from)) {
    if (isString(to)) {
      return ok(Scalar{textOf(operand, from)});
    }
    if (!isFloat(to)) {
      return exactOfReal(operand.real(), to);
    }
    Evaluated rounded = roundedTo(operand.real(), to);
    bool overflows = std::isinf(rounded.value.real()) && !std::isinf(operand.real());
    return overflows ? fail("value does not fit the type of a cast") : rounded;
  }
  if (isString(to)) {
    return ok(Scalar{exactText(operand.integer(), from)});
  }
  if (isFloat(to)) {
    return roundedTo(realOf(operand.integer(), from), to);
  }
  return rescaled(operand.integer(), from, to);
}

/// The quotient rounded to an integer as the function says.
APInt roundedQuotient(NumberFunction function, const APInt &value, const APInt &divisor) {
  APInt quotient = value.sdiv(divisor), remainder = value.srem(divisor);
  APInt one(kWideBits, 1);
  switch (function) {
  case NumberFunction::Floor:
    return remainder.isNegative() ? quotient - one : quotient;
  case NumberFunction::Ceiling:
    return remainder.isStrictlyPositive() ? quotient + one : quotient;
  case NumberFunction::Round:
    if ((remainder.abs() * 2).uge(divisor)) {
      return value.isNegative() ? quotient - one : quotient + one;
    }
    return quotient;
  default:
    return quotient;
  }
}

Evaluated evaluateReal(NumberOp op, double x) {
  Type type = op.getResult().getType();
  switch (op.getFunction()) {
  case NumberFunction::Abs:
    return ok(Scalar{std::abs(x)});
  case NumberFunction::Floor:
    return ok(Scalar{std::floor(x)});
  case NumberFunction::Ceiling:
    return ok(Scalar{std::ceil(x)});
  case NumberFunction::Truncate:
    return ok(Scalar{std::trunc(x)});
  case NumberFunction::Sqrt:
    return roundedTo(std::sqrt(x), type);
  case NumberFunction::Round: {
    auto digits = static_cast<int64_t>(op.getDigits().value_or(0));
    double power = std::pow(10.0, static_cast<double>(std::min<int64_t>(std::abs(digits), 308)));
    if (digits <= 0) { // a power below 1 is not exact: by its inverse
      return roundedTo(std::round(x / power) * power, type);
    }
    bool hasDigits = !std::isinf(x * power);
    return roundedTo(hasDigits ? std::round(x * power) / power : x, type);
  }
  }
  llvm_unreachable("unknown function");
}

Evaluated evaluateNumber(NumberOp op, const Scalar &operand) {
  Type from = op.getOperand().getType(), to = op.getResult().getType();
  if (isFloat(from)) {
    return evaluateReal(op, operand.real());
  }
  APInt value = wide(operand.integer());
  int64_t scale = scaleOf(from), digits = scale, target = scaleOf(to);
  if (op.getFunction() == NumberFunction::Abs) {
    value = value.abs();
  } else {
    digits = std::clamp<int64_t>(static_cast<int64_t>(op.getDigits().value_or(0)), -38, scale);
    value =
        roundedQuotient(op.getFunction(), value, powerOfTen(static_cast<unsigned>(scale - digits)));
  }
  // `value` counts units of 10^-digits.
  if (target >= digits) {
    return fittedWide(value * powerOfTen(static_cast<unsigned>(target - digits)), to);
  }
  return fittedWide(roundedQuotient(NumberFunction::Round, value,
                                    powerOfTen(static_cast<unsigned>(digits - target))),
                    to);
}

/// Room for a text in the compiler, which makes no large ones.
class ConstantRoom final : public TextRoom {
public:
  bool isTooSmall() const { return isTooSmall_; }

private:
  char *take(uint64_t bytes) override {
    constexpr uint64_t kMost = 1 << 20;
    isTooSmall_ = bytes > kMost;
    memory_.resize(isTooSmall_ ? 0 : bytes);
    return isTooSmall_ ? nullptr : memory_.data();
  }

  std::string memory_;
  bool isTooSmall_ = false;
};

Evaluated evaluateText(TextOp op, ArrayRef<Scalar> operands) {
  const TextFunction &function = *textFunctionNamed(op.getFunction());
  SmallVector<TextValue> given(operands.size());
  for (auto [index, operand] : llvm::enumerate(operands)) {
    if (function.wantsInteger(index)) {
      given[index].number = static_cast<int64_t>(operand.integer());
    } else {
      given[index].text = operand.text();
    }
  }
  ConstantRoom room;
  TextValue value;
  const bool hasValue = function.evaluate(room, given, value);
  if (room.isTooSmall()) {
    return {{}, "a text of more than 1 MiB", /*isTooLarge=*/true};
  }
  if (!hasValue) {
    return fail(StringRef(function.error));
  }
  return function.givesText() ? ok(Scalar{std::string(value.text)}) : ok(Int128(value.number));
}

/// A value as a list has it.
std::optional<std::string> bytesOf(const Scalar &value, Type type) {
  if (value.isNull()) {
    return std::nullopt;
  }
  if (isHeldAsText(type)) {
    return value.text();
  }
  const ElementCode code = elementCode(logicalType(type));
  return std::string((isFloat(type) ? ElementBytes::ofReal(code, value.real())
                                    : ElementBytes::ofInteger(code, value.integer()))
                         .view());
}

Evaluated evaluateShift(ShiftDateOp op, Int128 operand) {
  using namespace std::chrono;
  bool isMoment = isTimestamp(op.getOperand().getType());
  Type type = op.getOperand().getType();
  if (isInfinite(operand, type)) {
    return ok(operand);
  }
  Int128 day = isMoment ? unitsOfDay(type) : 1;
  Int128 days = floorDivided(operand, day), timeOfDay = operand - days * day;
  Int128 era = floorDivided(days, kEraDays);
  year_month_day date{sys_days(std::chrono::days(static_cast<int>(days - era * kEraDays)))};
  int64_t months = std::clamp<int64_t>(static_cast<int64_t>(op.getMonths()), -300'000, 300'000);
  if (months != 0) {
    year_month_day moved = date + std::chrono::months(static_cast<int>(months));
    date = moved.ok() ? moved : year_month_day(moved.year() / moved.month() / last);
  }
  Int128 result = sys_days(date).time_since_epoch().count() + era * kEraDays +
                  static_cast<int64_t>(op.getDays());
  if (isMoment) {
    return finite(result * day + timeOfDay + static_cast<int64_t>(op.getMicroseconds()), type);
  }
  return finiteDate(result);
}

Evaluated makeDate(Int128 year, Int128 month, Int128 day) {
  constexpr Int128 kYears = 400, kFar = 6'000'000; // beyond all dates
  Int128 era = floorDivided(year, kYears);
  bool isNumber = month >= 1 && month <= 12 && day >= 1 && day <= 31 && year > -kFar && year < kFar;
  std::chrono::year_month_day date{
      std::chrono::year(static_cast<int>(isNumber ? year - era * kYears : 0)),
      std::chrono::month(static_cast<unsigned>(month)),
      std::chrono::day(static_cast<unsigned>(day))};
  Int128 days = isNumber && date.ok()
                    ? std::chrono::sys_days(date).time_since_epoch().count() + era * kEraDays
                    : Int128(INT64_MAX);
  return finiteDate(days);
}

//===----------------------------------------------------------------------===//
// Truth
//===----------------------------------------------------------------------===//

bool holds(CompareKind kind, int order) {
  switch (kind) {
  case CompareKind::Eq:
  case CompareKind::IsNotDistinctFrom:
    return order == 0;
  case CompareKind::Ne:
    return order != 0;
  case CompareKind::Lt:
    return order < 0;
  case CompareKind::Le:
    return order <= 0;
  case CompareKind::Gt:
    return order > 0;
  case CompareKind::Ge:
    return order >= 0;
  }
  llvm_unreachable("unknown comparison");
}

/// AND (decisive false) and OR (decisive true) in three-valued logic.
Scalar evaluateLogic(ArrayRef<Scalar> operands, bool decisive) {
  bool anyNull = false;
  for (const Scalar &operand : operands) {
    if (!operand.isNull() && operand.isTrue() == decisive) {
      return Scalar::boolean(decisive);
    }
    anyNull |= operand.isNull();
  }
  return anyNull ? Scalar::null() : Scalar::boolean(!decisive);
}

Scalar extractField(DateField field, Int128 days) {
  Int128 era = floorDivided(days, kEraDays);
  std::chrono::year_month_day date{
      std::chrono::sys_days(std::chrono::days(static_cast<int>(days - era * kEraDays)))};
  switch (field) {
  case DateField::Year:
    return {static_cast<int>(date.year()) + 400 * era};
  case DateField::Month:
    return {Int128(static_cast<unsigned>(date.month()))};
  case DateField::Day:
    return {Int128(static_cast<unsigned>(date.day()))};
  }
  llvm_unreachable("unknown field");
}

/// Ops that give NULL for a NULL operand, on operands that are not.
Evaluated evaluateStrict(Operation *op, ArrayRef<Scalar> operands) {
  return llvm::TypeSwitch<Operation *, Evaluated>(op)
      .Case<AddOp, SubtractOp, MultiplyOp, DivideOp, ModulusOp>([&](auto arithmetic) {
        if (auto mean = dyn_cast<DivideOp>(op);
            mean && !isFloat(mean.getLhs().getType()) && isFloat(mean.getResult().getType())) {
          return meanOf(mean, operands[0].integer(), operands[1].integer());
        }
        if (isFloat(arithmetic.getResult().getType())) {
          return floatArithmetic(op, operands[0].real(), operands[1].real());
        }
        return exactArithmetic(op, operands[0].integer(), operands[1].integer());
      })
      .Case([&](NegateOp negate) {
        return isFloat(negate.getResult().getType())
                   ? ok(Scalar{-operands[0].real()})
                   : fittedWide(-wide(operands[0].integer()), negate.getResult().getType());
      })
      .Case([&](CastOp cast) {
        Evaluated value = evaluateCast(cast, operands[0]);
        return value.failed() && cast.getOrNull() ? ok(Scalar::null()) : value;
      })
      .Case([&](NumberOp number) { return evaluateNumber(number, operands[0]); })
      .Case([&](MathOp math) {
        const MathFunction &function = *mathFunctionNamed(math.getFunction());
        const Scalar &first = operands.front(), &last = operands.back();
        if (function.values == MathFunction::Values::kDoubles) {
          return ok(Scalar{evaluateMath(function.number, first.real(), last.real())});
        }
        const bool isWide = integerBits(math.getResult().getType()) > 64;
        std::optional<Int128> value =
            isWide ? evaluateIntegerMath(function.number, first.integer(), last.integer())
                   : std::optional<Int128>(
                         evaluateIntegerMath(function.number, static_cast<int64_t>(first.integer()),
                                             static_cast<int64_t>(last.integer())));
        return value ? ok(Scalar{*value}) : fail("overflow of " + StringRef(function.name));
      })
      .Case([&](ExactProductOp) {
        return ok(Scalar{packed(productOf(Computing(), operands[0].real(), operands[1].real()))});
      })
      .Case([&](NearestOp) { return ok(Scalar{unpacked(operands[0].integer()).high}); })
      .Case([&](ComomentOp moment) {
        auto count = static_cast<double>(operands[3].integer());
        auto sum = [&](size_t operand) { return unpacked(operands[operand].integer()); };
        auto [scaled, least] = deviationsOf(Computing(), sum(0), sum(1), sum(2), count);
        double size = moment.isOfSquares() ? scaled : std::abs(scaled); // no square is negative
        return ok(Scalar{(size < std::abs(least) ? 0 : scaled) / count});
      })
      .Case([&](TextOp text) { return evaluateText(text, operands); })
      .Case([&](ElementOp element) {
        return ok(elementOf(operands[0], operands[1].integer(), element.getResult().getType()));
      })
      .Case([&](FieldOp field) {
        return ok(
            elementOf(operands[0], Int128(field.getIndex()) + 1, field.getResult().getType()));
      })
      .Case([&](RaiseOp raise) { return fail(raise.getMessage()); })
      .Case([&](ShiftDateOp shift) { return evaluateShift(shift, operands[0].integer()); })
      .Case([&](CompareOp compare) {
        return ok(
            Scalar::boolean(holds(compare.getKind(), compareScalars(operands[0], operands[1]))));
      })
      .Case([&](NotOp) { return ok(Scalar::boolean(!operands[0].isTrue())); })
      .Case([&](InOp in) {
        bool found = llvm::any_of(in.getValues(), [&](Attribute value) {
          return compareScalars(operands[0], scalarOf(value, in.getOperand().getType())) == 0;
        });
        return ok(Scalar::boolean(found));
      })
      .Case([&](LikeOp like) {
        return ok(Scalar::boolean(
            matchesLike(operands[0].text(), like.getPattern(), like.getEscape().value_or(""))));
      })
      .Case([&](SubstringOp) {
        std::optional<int64_t> length;
        if (operands.size() > 2) {
          length = static_cast<int64_t>(operands[2].integer());
        }
        return ok(Scalar{
            substringOf(operands[0].text(), static_cast<int64_t>(operands[1].integer()), length)});
      })
      .Case([&](MakeDateOp) {
        return makeDate(operands[0].integer(), operands[1].integer(), operands[2].integer());
      })
      .Case([&](ExtractOp extract) {
        return ok(extractField(extract.getField(), operands[0].integer()));
      })
      .Default([](Operation *other) {
        // no test: every scalar op of frame is above
        return fail("no scalar op: " + other->getName().getStringRef());
      });
}

} // namespace

Evaluated headrace::analysis::fitted(Int128 value, Type type) {
  std::optional<Range> all = rangeOfType(type);
  if (value < all->low || value > all->high) {
    return fail(isDecimal(type)    ? "overflow of a decimal"
                : isTemporal(type) ? "overflow of a date or time"
                                   : "overflow of an integer");
  }
  return ok(value);
}

Evaluated headrace::analysis::parseText(StringRef text, Type type) {
  return castOfText(text, type);
}

Scalar headrace::analysis::elementOf(const Scalar &list, Int128 position, Type type) {
  const ListView view(list.text());
  Int128 place = position < 0 ? position + view.size() : position - 1;
  const auto index = static_cast<uint32_t>(place);
  if (position == 0 || place < 0 || place >= view.size() || !view.isValid(index)) {
    return Scalar::null();
  }
  type = dropNullable(type);
  std::string_view bytes = view.bytes(index);
  return isHeldAsText(type) ? Scalar{std::string(bytes)}
         : isFloat(type)    ? Scalar{realIn(view.code(index), bytes)}
                            : Scalar{Int128(integerIn(view.code(index), bytes))};
}

Scalar headrace::analysis::packedList(ListType list, ArrayRef<Scalar> values) {
  Type type = list.getElementType();
  const ElementCode code = elementCode(logicalType(type));
  uint64_t textBytes = 0;
  SmallVector<std::optional<std::string>> elements;
  for (const Scalar &value : values) {
    elements.push_back(bytesOf(value, type));
    textBytes += elements.back() ? elements.back()->size() : 0;
  }
  std::string bytes(ListWriter::bytesOf(code, elements.size(), textBytes), '\0');
  ListWriter writer(bytes.data(), code, static_cast<uint32_t>(elements.size()));
  for (const std::optional<std::string> &element : elements) {
    writer.add(element ? std::optional<std::string_view>(*element) : std::nullopt);
  }
  return {std::move(bytes)};
}

Scalar headrace::analysis::joinedLists(ArrayRef<Scalar> lists) {
  uint64_t size = 0, textBytes = 0;
  ElementCode code = 0;
  for (const Scalar &list : lists) {
    const ListView view(list.text());
    size += view.size();
    textBytes += view.textBytes();
    code = view.size() == 0 ? code : view.code();
  }
  std::string bytes(ListWriter::bytesOf(code, size, textBytes), '\0');
  ListWriter writer(bytes.data(), code, static_cast<uint32_t>(size));
  for (const Scalar &list : lists) {
    const ListView view(list.text());
    for (uint32_t index = 0; index < view.size(); ++index) {
      writer.add(view.element(index));
    }
  }
  return {std::move(bytes)};
}

Scalar headrace::analysis::packedFields(StructType type, ArrayRef<Scalar> values) {
  SmallVector<std::optional<std::string>> fields;
  SmallVector<FieldBytes> parts;
  for (auto [value, field] : llvm::zip_equal(values, type.getFieldTypes())) {
    fields.push_back(bytesOf(value, field));
    parts.push_back({elementCode(logicalType(field)), std::nullopt});
  }
  for (auto [part, field] : llvm::zip_equal(parts, fields)) { // none of them moves any more
    part.bytes = field ? std::optional<std::string_view>(*field) : std::nullopt;
  }
  return {packedStruct(parts)};
}

std::string headrace::analysis::printedNested(const Scalar &value, Type type) {
  return nestedText(value.text(), shapeOf(logicalType(dropNullable(type))));
}

std::string headrace::analysis::textOf(const Scalar &value, Type type) {
  return isFloat(type) ? realText(value.real(), dropNullable(type).isF32())
                       : exactText(value.integer(), type);
}

Evaluated headrace::analysis::evaluateOp(Operation *op, ArrayRef<Scalar> operands) {
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    return ok(scalarOf(constant.getValue(), constant.getResult().getType()));
  }
  if (isa<RunSeedOp>(op)) {
    return ok(Scalar{Int128(0)}); // of the interpreter's runs
  }
  if (isa<AndOp, OrOp>(op)) {
    return ok(evaluateLogic(operands, /*decisive=*/isa<OrOp>(op)));
  }
  if (auto list = dyn_cast<ListOp>(op)) {
    return ok(packedList(cast<ListType>(list.getResult().getType()), operands));
  }
  if (auto made = dyn_cast<StructOp>(op)) {
    return ok(packedFields(cast<StructType>(made.getResult().getType()), operands));
  }
  if (isa<IsNullOp>(op)) {
    return ok(Scalar::boolean(operands[0].isNull()));
  }
  if (isa<CoalesceOp>(op)) {
    auto present = llvm::find_if(operands, [](const Scalar &value) { return !value.isNull(); });
    return ok(present == operands.end() ? Scalar::null() : *present);
  }
  if (auto compare = dyn_cast<CompareOp>(op); compare &&
                                              compare.getKind() == CompareKind::IsNotDistinctFrom &&
                                              (operands[0].isNull() || operands[1].isNull())) {
    return ok(Scalar::boolean(operands[0].isNull() && operands[1].isNull()));
  }
  if (llvm::any_of(operands, [](const Scalar &value) { return value.isNull(); })) {
    return ok(Scalar::null());
  }
  return evaluateStrict(op, operands);
}

Evaluated headrace::analysis::evaluateCase(CaseOp op,
                                           llvm::function_ref<Evaluated(Value)> operand) {
  for (auto [condition, value] : llvm::zip_equal(op.getConditions(), op.getValues())) {
    Evaluated truth = operand(condition);
    if (truth.failed()) {
      return truth;
    }
    if (truth.value.isTrue()) {
      return operand(value);
    }
  }
  return op.getOtherwise() ? operand(op.getOtherwise()) : ok(Scalar::null());
}

int headrace::analysis::compareScalars(const Scalar &a, const Scalar &b) {
  if (const auto *x = std::get_if<double>(&a.value)) {
    double y = b.real();
    if (std::isnan(*x) || std::isnan(y)) {
      return static_cast<int>(std::isnan(*x)) - static_cast<int>(std::isnan(y));
    }
    return *x < y ? -1 : *x > y ? 1 : 0;
  }
  if (const auto *x = std::get_if<std::string>(&a.value)) {
    int order = x->compare(b.text()); // char_traits<char> compares as unsigned bytes
    return order < 0 ? -1 : order > 0 ? 1 : 0;
  }
  return a.integer() < b.integer() ? -1 : a.integer() > b.integer() ? 1 : 0;
}

Scalar headrace::analysis::scalarOf(Attribute literal, Type type) {
  if (auto text = dyn_cast<StringAttr>(literal)) {
    return {text.getValue().str()};
  }
  if (auto real = dyn_cast<FloatAttr>(literal)) {
    return {real.getValueAsDouble()};
  }
  auto integer = dyn_cast<IntegerAttr>(literal);
  if (!integer) {
    return Scalar::null();
  }
  if (isBoolean(type)) {
    return Scalar::boolean(!integer.getValue().isZero());
  }
  APInt bits = integer.getValue().sext(128);
  return {static_cast<Int128>(
      (static_cast<unsigned __int128>(bits.extractBitsAsZExtValue(64, 64)) << 64) |
      bits.extractBitsAsZExtValue(64, 0))};
}

Attribute headrace::analysis::literalOf(const Scalar &value, Type type) {
  if (value.isNull()) {
    return literalAttr(std::monostate(), type);
  }
  if (const auto *text = std::get_if<std::string>(&value.value)) {
    return literalAttr(*text, type);
  }
  if (const auto *real = std::get_if<double>(&value.value)) {
    return literalAttr(*real, type);
  }
  if (isBoolean(type)) {
    return literalAttr(value.isTrue(), type);
  }
  Int128 integer = value.integer();
  APInt bits(128, {static_cast<uint64_t>(integer), static_cast<uint64_t>(integer >> 64)});
  return literalAttr(bits.sext(kLiteralBits), type);
}

std::string headrace::analysis::integerText(Int128 value) {
  SmallString<48> digits;
  wide(value).toStringSigned(digits);
  return digits.str().str();
}
