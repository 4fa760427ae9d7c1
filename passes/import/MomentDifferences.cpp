// How far dates, times and timestamps lie apart, and months later.
#include "passes/import/Moments.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::import;
namespace frame = headrace::frame;
using Compare = frame::CompareKind;

static constexpr int64_t kSecond = unitsOfSecond(TimeUnit::kMicrosecond), kDay = 86'400 * kSecond;

static bool isZoned(const Expression &moment) {
  auto timestamp = dyn_cast<frame::TimestampType>(frame::dropNullable(moment.type()));
  return timestamp && timestamp.getZoned();
}

/// Microseconds of a part that always has as many; nothing of months and what is made of them.
static std::optional<int64_t> microsecondsOf(TimePart part) {
  switch (part) {
  case TimePart::kYearWeek:
  case TimePart::kWeek:
    return 7 * kDay;
  case TimePart::kDay:
  case TimePart::kDayOfWeek:
  case TimePart::kIsoDayOfWeek:
  case TimePart::kDayOfYear:
  case TimePart::kJulian:
    return kDay;
  case TimePart::kHour:
    return 3600 * kSecond;
  case TimePart::kMinute:
    return 60 * kSecond;
  case TimePart::kSecond:
  case TimePart::kEpoch:
    return kSecond;
  case TimePart::kMillisecond:
    return kSecond / 1000;
  case TimePart::kMicrosecond:
    return 1;
  default:
    return std::nullopt;
  }
}

static std::optional<int64_t> monthsOf(TimePart part) {
  switch (part) {
  case TimePart::kMillennium:
    return 12'000;
  case TimePart::kCentury:
    return 1200;
  case TimePart::kDecade:
    return 120;
  case TimePart::kYear:
  case TimePart::kIsoYear:
    return 12;
  case TimePart::kQuarter:
    return 3;
  case TimePart::kMonth:
    return 1;
  default:
    return std::nullopt;
  }
}

Expression Moments::monthIndex(const Expression &moment) {
  return minus(plus(times(field(frame::DateField::Year, moment), 12),
                    field(frame::DateField::Month, moment)),
               number(1));
}

Expression Moments::choose(Compare kind, const Expression &a, const Expression &b,
                           const Expression &value, const Expression &otherwise) {
  return *b_.choose(*b_.compare(kind, a, b, at_), value, &otherwise, at_);
}

//===----------------------------------------------------------------------===//
// Beginnings between two moments
//===----------------------------------------------------------------------===//

std::optional<Expression> Moments::index(TimePart part, const Expression &moment) {
  std::optional<int64_t> length = microsecondsOf(part);
  if (length && *length < kDay) {
    return frame::isDate(moment.type()) ? times(units(moment), kDay / *length)
                                        : floorOver(units(moment), *length);
  }
  if (frame::isTime(moment.type())) {
    return std::nullopt;
  }
  if (length) {
    return days(moment);
  }
  if (part == TimePart::kIsoYear) {
    return isoYearOf(days(moment));
  }
  if (part == TimePart::kMonth || part == TimePart::kQuarter) {
    return over(monthIndex(moment), *monthsOf(part));
  }
  std::optional<int64_t> months = monthsOf(part);
  return months ? std::optional(over(field(frame::DateField::Year, moment), *months / 12))
                : std::nullopt;
}

MaybeExpression Moments::boundaries(TimePart part, const Expression &from, const Expression &to) {
  std::optional<Expression> first = index(part, from), last = index(part, to);
  if (!first || !last) {
    return b_.fail(at_, "date_diff has no such part");
  }
  bool ofWeeks = part == TimePart::kWeek || part == TimePart::kYearWeek;
  Expression count = minus(*last, *first);
  return ofWeeks ? over(count, 7) : count; // as DuckDB: of days, whatever day weeks begin on
}

//===----------------------------------------------------------------------===//
// Whole parts that have passed
//===----------------------------------------------------------------------===//

MaybeExpression Moments::elapsed(TimePart part, const Expression &from, const Expression &to) {
  std::optional<int64_t> months = monthsOf(part), length = microsecondsOf(part);
  bool hasPart = frame::isTime(from.type()) ? length && *length < kDay : months || length;
  if (!hasPart) {
    return b_.fail(at_, "date_sub has no such part");
  }
  auto moment = [&](const Expression &value) {
    return frame::isDate(value.type()) ? *b_.cast(value, timestampType(), at_) : value;
  };
  if (months) {
    return over(monthsElapsed(moment(from), moment(to)), *months);
  }
  Expression first = units(moment(from)), last = units(moment(to));
  if (isZoned(from) && *length >= 3600 * kSecond) { // ICU, which DuckDB asks, counts milliseconds
    first = floorOver(first, 1000);
    last = over(last, 1000);
    length = *length / 1000;
  }
  return over(minus(last, first), *length);
}

Expression Moments::inMonth(const Expression &moment, const Expression &other) {
  Expression day = field(frame::DateField::Day, moment);
  Expression last = field(frame::DateField::Day, *lastDay(other));
  day = choose(Compare::Lt, last, day, last, day);
  return plus(times(day, kDay), timeOfDay(moment));
}

Expression Moments::monthsElapsed(const Expression &from, const Expression &to) {
  auto one = [&](Compare kind, const Expression &a, const Expression &b) {
    return choose(kind, a, b, number(1), number(0));
  };
  // A month has passed with the same day and time, or on the last day if the month is shorter.
  auto forward = [&](const Expression &first, const Expression &last) {
    return minus(minus(monthIndex(last), monthIndex(first)),
                 one(Compare::Gt, inMonth(first, last), inMonth(last, last)));
  };
  if (!isZoned(from)) {
    return choose(Compare::Le, from, to, forward(from, to), times(forward(to, from), -1));
  }
  // ICU goes from the one to the other, also backwards, by milliseconds.
  auto coarse = [&](const Expression &milliseconds) {
    return as(times(milliseconds, 1000), frame::dropNullable(from.type()));
  };
  Expression first = coarse(floorOver(units(from), 1000)), last = coarse(over(units(to), 1000));
  Expression backward = plus(minus(monthIndex(last), monthIndex(first)),
                             one(Compare::Lt, inMonth(first, last), inMonth(last, last)));
  return choose(Compare::Le, first, last, forward(first, last), backward);
}

Expression Moments::monthsLater(const Expression &timestamp, const Expression &months) {
  Type type = frame::dropNullable(timestamp.type());
  Expression index = plus(monthIndex(timestamp), months), year = floorOver(index, 12);
  Expression first = begin(year, plus(minus(index, times(year, 12)), number(1)));
  // Of days: the beginning of the month may be before all timestamps.
  Expression day = minus(over(inMonth(timestamp, first), kDay), number(1));
  Expression date = as(plus(units(first), day), frame::DateType::get(b_.getContext()));
  return as(plus(units(*b_.cast(date, type, at_)), timeOfDay(timestamp)), type);
}

Interval Moments::age(const Expression &to, const Expression &from) {
  // From the earlier to the later, each field borrowing from the next; then with its sign.
  auto is = [&](const Expression &value, const Expression &otherwise) {
    return choose(Compare::Lt, to, from, value, otherwise);
  };
  Expression early = is(to, from), late = is(from, to);
  auto borrowed = [&](const Expression &value) {
    return choose(Compare::Lt, value, number(0), number(1), number(0));
  };
  Expression micros = minus(timeOfDay(late), timeOfDay(early));
  Expression day = borrowed(micros);
  micros = plus(micros, times(day, kDay));
  Expression days =
      minus(minus(field(frame::DateField::Day, late), field(frame::DateField::Day, early)), day);
  Expression months = minus(monthIndex(late), monthIndex(early));
  Expression length = field(frame::DateField::Day, *lastDay(early));
  for (int most = 0; most < 2; ++most) { // a month of 28 days may not be enough
    Expression month = borrowed(days);
    days = plus(days, choose(Compare::Lt, days, number(0), length, number(0)));
    months = minus(months, month);
  }
  auto directed = [&](const Expression &value) { return is(times(value, -1), value); };
  return {directed(months), directed(days), directed(micros)};
}
