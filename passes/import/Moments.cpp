// Functions of dates, times and timestamps.
#include "passes/import/Moments.h"

#include "dialects/frame/FrameConstants.h"
#include "runtime/base/name_list.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::import;
namespace frame = headrace::frame;
using Arithmetic = ExpressionBuilder::Arithmetic;

/// 1970-01-01 was a Thursday.
static constexpr int64_t kEpochIsoDay = 4;

namespace {

struct PartLine {
  TimePart part;
  StringRef names;
  std::optional<TimeLength> length;
};

constexpr TimeLength ofMonths(int64_t months) { return {.months = months}; }
constexpr TimeLength ofDays(int64_t days) { return {.days = days}; }
constexpr TimeLength ofMicros(int64_t micros) { return {.micros = micros}; }
constexpr TimeLength ofSeconds(int64_t seconds) { return ofMicros(seconds * kMicrosOfSecond); }

constexpr PartLine kParts[] = {
#define HR_PART(member, names, length, value, text) {TimePart::member, names, length},
#include "passes/import/time_parts.def"
#undef HR_PART
};

} // namespace

std::optional<TimePart> headrace::import::timePart(StringRef name) {
  std::string lower = name.lower();
  const auto *found =
      llvm::find_if(kParts, [&](const PartLine &line) { return listsName(line.names, lower); });
  return found == std::end(kParts) ? std::nullopt : std::optional(found->part);
}

std::optional<TimeLength> headrace::import::lengthOf(TimePart part) {
  return kParts[static_cast<size_t>(part)].length;
}

bool headrace::import::isZoned(const Expression &moment) {
  auto timestamp = dyn_cast<frame::TimestampType>(frame::dropNullable(moment.type()));
  return timestamp && timestamp.getZoned();
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

Expression Moments::number(int64_t value) {
  return b_.integer(value, IntegerType::get(b_.getContext(), 64), at_);
}

Expression Moments::plus(const Expression &a, const Expression &b) {
  return *b_.arithmetic(Arithmetic::kAdd, a, b, a.type(), at_);
}
Expression Moments::minus(const Expression &a, const Expression &b) {
  return *b_.arithmetic(Arithmetic::kSubtract, a, b, a.type(), at_);
}
Expression Moments::times(const Expression &a, int64_t by) {
  return *b_.arithmetic(Arithmetic::kMultiply, a, number(by), a.type(), at_);
}
Expression Moments::over(const Expression &a, int64_t by) {
  return by == 1 ? a : *b_.arithmetic(Arithmetic::kDivide, a, number(by), a.type(), at_);
}
Expression Moments::modulo(const Expression &a, int64_t by) {
  return *b_.arithmetic(Arithmetic::kModulus, a, number(by), a.type(), at_);
}
Expression Moments::floorOver(const Expression &a, int64_t by) {
  if (by == 1) {
    return a;
  }
  return minus(over(a, by),
               choose(frame::CompareKind::Lt, modulo(a, by), number(0), number(1), number(0)));
}

//===----------------------------------------------------------------------===//
// Dates and times
//===----------------------------------------------------------------------===//

Type Moments::timestampType() const {
  return frame::TimestampType::get(b_.getContext(), TimeUnit::kMicrosecond, /*zoned=*/false);
}

Expression Moments::inMicros(const Expression &moment) {
  auto timestamp = dyn_cast<frame::TimestampType>(frame::dropNullable(moment.type()));
  if (!timestamp || timestamp.getUnit() != TimeUnit::kNanosecond) {
    return moment;
  }
  Type micros =
      frame::TimestampType::get(b_.getContext(), TimeUnit::kMicrosecond, timestamp.getZoned());
  return *orInfinite(moment, as(floorOver(units(moment), 1000), micros));
}

Expression Moments::as(const Expression &units, Type type) {
  bool isDate = frame::isDate(type);
  Expression narrow = isDate ? *b_.cast(units, IntegerType::get(b_.getContext(), 32), at_) : units;
  return *b_.cast(narrow, type, at_);
}

Expression Moments::units(const Expression &moment) {
  Type number = IntegerType::get(b_.getContext(), frame::integerBits(moment.type()));
  return *b_.cast(*b_.cast(moment, number, at_), IntegerType::get(b_.getContext(), 64), at_);
}

MaybeExpression Moments::isInfinite(const Expression &moment) {
  Type type = frame::dropNullable(moment.type());
  const int64_t infinity = *frame::infinityOf(type);
  return b_.oneOf(moment, {b_.integer(infinity, type, at_), b_.integer(-infinity, type, at_)}, at_);
}

std::optional<Expression> Moments::anyInfinite(ArrayRef<Expression> moments) {
  SmallVector<Expression> conditions;
  for (const Expression &moment : moments) {
    if (b_.mayBeInfinite(moment)) {
      conditions.push_back(*isInfinite(moment));
    }
  }
  return conditions.empty()
             ? std::nullopt
             : std::optional(*b_.connect(ExpressionBuilder::Connective::kOr, conditions, at_));
}

Expression Moments::unlessNull(ArrayRef<Expression> others, const Expression &value) {
  SmallVector<Expression> conditions;
  for (const Expression &other : others) {
    if (frame::isNullable(other.type())) {
      conditions.push_back(*b_.isNotNull(other, at_));
    }
  }
  return conditions.empty()
             ? value
             : *b_.choose(*b_.connect(ExpressionBuilder::Connective::kAnd, conditions, at_), value,
                          nullptr, at_);
}

MaybeExpression Moments::ofFinite(ArrayRef<Expression> moments, const MaybeExpression &value) {
  std::optional<Expression> infinite = failed(value) ? std::nullopt : anyInfinite(moments);
  return infinite ? b_.choose(*infinite, b_.null(value->type(), at_), &*value, at_) : value;
}

MaybeExpression Moments::orInfinite(const Expression &moment, const MaybeExpression &value,
                                    ArrayRef<Expression> others) {
  std::optional<Expression> infinite = failed(value) ? std::nullopt : anyInfinite(moment);
  return infinite ? b_.choose(*infinite, unlessNull(others, *b_.cast(moment, value->type(), at_)),
                              &*value, at_)
                  : value;
}

Expression Moments::dateOf(const Expression &moment) {
  return *b_.cast(moment, frame::DateType::get(b_.getContext()), at_);
}

Expression Moments::timeOfDay(const Expression &moment) {
  if (frame::isDate(moment.type())) {
    return times(units(moment), 0);
  }
  if (frame::isTime(moment.type())) { // the parts of a time do not round
    const int64_t perSecond = frame::unitsOfDay(moment.type()) / 86'400;
    return over(units(moment), perSecond / unitsOfSecond(TimeUnit::kMicrosecond));
  }
  Type type = frame::TimeType::get(b_.getContext(), TimeUnit::kMicrosecond);
  return units(*b_.cast(moment, type, at_));
}

Expression Moments::field(frame::DateField field, const Expression &moment) {
  return b_.dateField(field, dateOf(moment), at_);
}

Expression Moments::isoDayOfWeek(const Expression &days) {
  // Days before 1970 have negative rests.
  return plus(modulo(plus(modulo(days, 7), number(7 + kEpochIsoDay - 1)), 7), number(1));
}

Expression Moments::thursday(const Expression &days) {
  return minus(plus(days, number(kEpochIsoDay)), isoDayOfWeek(days));
}

Expression Moments::isoYearOf(const Expression &days) {
  Type date = frame::DateType::get(b_.getContext());
  return b_.dateField(frame::DateField::Year, as(thursday(days), date), at_);
}

Expression Moments::begin(const Expression &year, const Expression &month) {
  return b_.makeDate(year, month, number(1), at_);
}

Expression Moments::weekOf(const Expression &days) {
  Expression first = units(begin(isoYearOf(days), number(1)));
  return plus(over(minus(thursday(days), first), 7), number(1));
}

/// Counted from 1 and, before them, from -1 backwards.
Expression Moments::yearsIn(const Expression &year, int64_t length) {
  Expression after = plus(over(minus(year, number(1)), length), number(1));
  Expression before = minus(over(year, length), number(1));
  MaybeExpression isAfter = b_.compare(frame::CompareKind::Gt, year, number(0), at_);
  return *b_.choose(*isAfter, after, &before, at_);
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

Expression Moments::yearWeekOf(const Expression &days) {
  Expression year = isoYearOf(days), week = weekOf(days), hundred = times(year, 100);
  return choose(frame::CompareKind::Gt, year, number(0), plus(hundred, week), minus(hundred, week));
}

Expression Moments::eraOf(const Expression &year) {
  Expression era = choose(frame::CompareKind::Gt, year, number(0), number(1), number(0));
  return plus(era, times(year, 0)); // NULL of NULL
}

Expression Moments::nanosecondsOf(const Expression &moment) {
  if (frame::isDate(moment.type())) {
    return timeOfDay(moment);
  }
  bool isFine = frame::unitsOfDay(moment.type()) == 86'400 * unitsOfSecond(TimeUnit::kNanosecond);
  Type type = frame::TimeType::get(b_.getContext(), TimeUnit::kNanosecond);
  Expression time = isFine ? units(*b_.cast(moment, type, at_)) : times(timeOfDay(moment), 1000);
  return modulo(time, 60 * unitsOfSecond(TimeUnit::kNanosecond));
}

MaybeExpression Moments::offsetOf(const Expression &moment) {
  return times(days(moment), 0); // UTC
}

MaybeExpression Moments::quotient(const Expression &units, double by) {
  Type f64 = Float64Type::get(b_.getContext());
  Expression divisor = b_.constant(FloatAttr::get(f64, by), f64, at_);
  return b_.arithmetic(Arithmetic::kDivide, *b_.cast(units, f64, at_), divisor, f64, at_);
}

MaybeExpression Moments::secondsOf(const Expression &moment) {
  if (frame::isDate(moment.type())) {
    return quotient(times(units(moment), 86'400), 1.0);
  }
  if (frame::isTime(moment.type())) {
    return quotient(timeOfDay(moment), static_cast<double>(kMicrosOfSecond));
  }
  return quotient(units(moment), static_cast<double>(frame::unitsOfDay(moment.type()) / 86'400));
}

MaybeExpression Moments::julianDayOf(const Expression &moment) {
  constexpr int64_t kEpochDay = 2'440'588;
  Type f64 = Float64Type::get(b_.getContext());
  MaybeExpression day = b_.cast(plus(days(moment), number(kEpochDay)), f64, at_);
  MaybeExpression time = quotient(timeOfDay(moment), static_cast<double>(kMicrosOfDay));
  return b_.arithmetic(Arithmetic::kAdd, *day, *time, f64, at_);
}

MaybeExpression Moments::noSuchPart(StringRef message) {
  return b_.raise(frame::RaiseKind::User, message, IntegerType::get(b_.getContext(), 64), at_);
}

Expression Moments::yearOfEra(const Expression &moment) {
  Expression year = field(frame::DateField::Year, moment);
  return isZoned(moment)
             ? choose(frame::CompareKind::Gt, year, number(0), year, minus(number(1), year))
             : year;
}

MaybeExpression Moments::part(TimePart part, const Expression &moment) {
  bool isOfTime = part >= TimePart::kHour && part <= TimePart::kNanosecond;
  if (!frame::isTemporal(moment.type()) ||
      (frame::isTime(moment.type()) && !isOfTime && part != TimePart::kEpoch)) {
    return noSuchPart("the operand of date_part has no such part");
  }
  if (frame::isDate(moment.type()) && part >= TimePart::kTimezone) {
    return noSuchPart("a date has no time zone");
  }
  auto year = [&] { return field(frame::DateField::Year, moment); };
  auto month = [&] { return field(frame::DateField::Month, moment); };
  switch (part) {
#define HR_PART(member, names, length, value, text)                                                \
  case TimePart::member:                                                                           \
    return ofFinite(moment, value);
#include "passes/import/time_parts.def"
#undef HR_PART
  }
  llvm_unreachable("unknown part");
}

MaybeExpression Moments::truncated(TimePart part, const Expression &moment) {
  if (!frame::isDate(moment.type()) && !frame::isTimestamp(moment.type())) {
    // no test: no binder has such a date_trunc
    return b_.fail(at_, "the operand of date_trunc must be a date or a timestamp");
  }
  auto year = [&] { return field(frame::DateField::Year, moment); };
  auto ofYears = [&](int64_t length) {
    Expression first = times(over(yearOfEra(moment), length), length);
    if (isZoned(moment)) { // before the year 1 they are counted from it
      first = choose(frame::CompareKind::Gt, year(), number(0), first, minus(number(1), first));
    }
    return begin(first, number(1));
  };
  auto ofTime = [&](int64_t length) -> MaybeExpression {
    Type type = frame::dropNullable(moment.type());
    if (frame::isDate(type)) {
      return b_.cast(moment, timestampType(), at_);
    }
    return orInfinite(moment, as(minus(units(moment), modulo(timeOfDay(moment), length)), type));
  };
  Type date = frame::DateType::get(b_.getContext());
  auto ofDate = [&](const Expression &begin) {
    Type type = frame::isDate(moment.type()) ? timestampType() : moment.type();
    return orInfinite(moment, b_.cast(begin, type, at_));
  };
  std::optional<TimeLength> length = lengthOf(part);
  if (!length) {
    return b_.raise(frame::RaiseKind::User, "date_trunc has no such part", timestampType(), at_);
  }
  if (length->micros > 0) {
    return ofTime(length->micros);
  }
  switch (part) {
  case TimePart::kIsoYear: {
    Expression first = units(begin(isoYearOf(days(moment)), number(1)));
    Expression monday = minus(thursday(plus(first, number(3))), number(3));
    // The first week is that of the fourth of January.
    return ofDate(as(monday, date));
  }
  case TimePart::kQuarter: {
    Expression month = field(frame::DateField::Month, moment);
    Expression first = plus(times(over(minus(month, number(1)), 3), 3), number(1));
    return ofDate(begin(year(), first));
  }
  case TimePart::kMonth: {
    Expression day = field(frame::DateField::Day, moment);
    return ofDate(as(minus(days(moment), minus(day, number(1))), date));
  }
  case TimePart::kYearWeek:
  case TimePart::kWeek:
    return ofDate(as(minus(thursday(days(moment)), number(3)), date));
  default:
    return ofDate(length->days > 0 ? dateOf(moment) : ofYears(length->months / 12));
  }
}

//===----------------------------------------------------------------------===//
// Days of months, stretches
//===----------------------------------------------------------------------===//

MaybeExpression Moments::endOfMonth(const Expression &moment) {
  Expression date = dateOf(moment), day = b_.dateField(frame::DateField::Day, date, at_);
  Expression first =
      as(minus(units(date), minus(day, number(1))), frame::DateType::get(b_.getContext()));
  return b_.shiftDate(first, 1, -1, 0, at_);
}

MaybeExpression Moments::lastDay(const Expression &moment) {
  return ofFinite(moment, endOfMonth(moment));
}

MaybeExpression Moments::bucket(int64_t width, const Expression &timestamp) {
  constexpr int64_t kMonday = 10'959 * kMicrosOfDay; // 2000-01-03
  // Of the rests of the width, so that nothing overflows.
  Expression since = minus(modulo(units(timestamp), width), number(kMonday % width));
  Expression rest = modulo(plus(modulo(since, width), number(width)), width);
  return orInfinite(timestamp,
                    as(minus(units(timestamp), rest), frame::dropNullable(timestamp.type())));
}

MaybeExpression Moments::bucketOfMonths(int64_t width, const Expression &date,
                                        const std::optional<Expression> &origin) {
  constexpr int64_t kMonthsOfYear = 12, kYear = 2000;
  Expression from = origin ? monthIndex(*origin) : number(kYear * kMonthsOfYear);
  Expression index = plus(from, times(floorOver(minus(monthIndex(date), from), width), width));
  Expression year = floorOver(index, kMonthsOfYear);
  MaybeExpression first = begin(year, plus(minus(index, times(year, kMonthsOfYear)), number(1)));
  return origin ? ofFinite(*origin, orInfinite(date, first, *origin)) : orInfinite(date, first);
}

//===----------------------------------------------------------------------===//
// Made of numbers, and names
//===----------------------------------------------------------------------===//

MaybeExpression Moments::time(const Expression &hour, const Expression &minute,
                              const Expression &second) {
  Type f64 = Float64Type::get(b_.getContext()), i64 = IntegerType::get(b_.getContext(), 64);
  Expression million =
      b_.constant(FloatAttr::get(f64, static_cast<double>(kMicrosOfSecond)), f64, at_);
  MaybeExpression scaled = b_.arithmetic(Arithmetic::kMultiply, second, million, f64, at_);
  MaybeExpression micros = failed(scaled) ? scaled : b_.cast(*scaled, i64, at_);
  if (failed(micros)) {
    return failure();
  }
  Expression whole =
      plus(plus(times(hour, 3600 * kMicrosOfSecond), times(minute, 60 * kMicrosOfSecond)), *micros);
  auto within = [&](const Expression &value, int64_t most) {
    return *b_.connect(ExpressionBuilder::Connective::kAnd,
                       {*b_.compare(frame::CompareKind::Ge, value, number(0), at_),
                        *b_.compare(frame::CompareKind::Le, value, number(most), at_)},
                       at_);
  };
  MaybeExpression isTime =
      b_.connect(ExpressionBuilder::Connective::kAnd,
                 {within(hour, 24), within(minute, 59), within(*micros, 60 * kMicrosOfSecond),
                  within(whole, kMicrosOfDay)},
                 at_);
  // Where a part is NULL, so is the whole, whatever the others are.
  MaybeExpression isKnown = b_.isNotNull(whole, at_), isNone = b_.negation(*isTime, at_);
  MaybeExpression isWrong =
      b_.connect(ExpressionBuilder::Connective::kAnd, {*isKnown, *isNone}, at_);
  MaybeExpression error = b_.raise(frame::RaiseKind::User, "time out of range", i64, at_);
  MaybeExpression checked = b_.choose(*isWrong, *error, &whole, at_);
  if (failed(checked)) {
    return failure();
  }
  return as(*checked, frame::TimeType::get(b_.getContext(), TimeUnit::kMicrosecond));
}

MaybeExpression Moments::named(const Expression &number, ArrayRef<StringRef> names) {
  Type string = frame::StringType::get(b_.getContext());
  SmallVector<Expression> conditions, values;
  for (auto [index, name] : llvm::enumerate(names)) {
    conditions.push_back(*b_.compare(frame::CompareKind::Eq, number,
                                     this->number(static_cast<int64_t>(index) + 1), at_));
    values.push_back(b_.constant(StringAttr::get(b_.getContext(), name), string, at_));
  }
  return b_.choose(conditions, values, nullptr, at_);
}

MaybeExpression Moments::dayName(const Expression &moment) {
  return ofFinite(moment,
                  named(isoDayOfWeek(days(moment)), {"Monday", "Tuesday", "Wednesday", "Thursday",
                                                     "Friday", "Saturday", "Sunday"}));
}

MaybeExpression Moments::monthName(const Expression &moment) {
  return ofFinite(moment, named(field(frame::DateField::Month, moment),
                                {"January", "February", "March", "April", "May", "June", "July",
                                 "August", "September", "October", "November", "December"}));
}
