// How far dates, times and timestamps lie apart, and months later.
#include "passes/import/Moments.h"

#include "runtime/base/interval_values.h"
#include "runtime/base/text_functions.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::import;
namespace frame = headrace::frame;
using Compare = frame::CompareKind;

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
  std::optional<TimeLength> length = lengthOf(part);
  if (length && length->micros > 0) {
    return frame::isDate(moment.type()) ? times(units(moment), kMicrosOfDay / length->micros)
                                        : floorOver(units(moment), length->micros);
  }
  if (!length || frame::isTime(moment.type())) {
    return std::nullopt;
  }
  if (length->days > 0) {
    return days(moment);
  }
  if (part == TimePart::kIsoYear) {
    return isoYearOf(days(moment));
  }
  if (part == TimePart::kMonth || part == TimePart::kQuarter) {
    return over(monthIndex(moment), length->months);
  }
  return over(field(frame::DateField::Year, moment), length->months / 12);
}

/// Parts whose beginnings ICU, which DuckDB asks about zoned timestamps, finds first, and counts
/// then what has passed between them.
static bool countsBeginnings(TimePart part) {
  return part == TimePart::kMillennium || part == TimePart::kCentury || part == TimePart::kDecade ||
         part == TimePart::kQuarter || part == TimePart::kYearWeek;
}

MaybeExpression Moments::boundaries(TimePart part, const Expression &start, const Expression &end) {
  const Expression from = inMicros(start), to = inMicros(end);
  if (isZoned(from) && countsBeginnings(part)) {
    MaybeExpression first = truncated(part, from), last = truncated(part, to);
    return failed(first) || failed(last) ? MaybeExpression(failure())
                                         : elapsed(part, *first, *last);
  }
  std::optional<Expression> first = index(part, from), last = index(part, to);
  if (!first || !last) {
    return noSuchPart("date_diff has no such part");
  }
  bool ofWeeks = part == TimePart::kWeek || part == TimePart::kYearWeek;
  Expression count = minus(*last, *first);
  // As DuckDB: of days, whatever day weeks begin on.
  return ofFinite({from, to}, ofWeeks ? over(count, 7) : count);
}

//===----------------------------------------------------------------------===//
// Whole parts that have passed
//===----------------------------------------------------------------------===//

MaybeExpression Moments::elapsed(TimePart part, const Expression &from, const Expression &to) {
  std::optional<TimeLength> length = lengthOf(part);
  if (!length || (frame::isTime(from.type()) && length->micros == 0)) {
    return noSuchPart("date_sub has no such part");
  }
  auto moment = [&](const Expression &value) {
    return frame::isDate(value.type()) ? *b_.cast(value, timestampType(), at_) : value;
  };
  if (length->months > 0) {
    return ofFinite({from, to}, over(monthsElapsed(moment(from), moment(to)), length->months));
  }
  Expression first = units(moment(from)), last = units(moment(to));
  int64_t micros = length->fixedMicros();
  if (isZoned(from) &&
      micros >= 3600 * kMicrosOfSecond) { // ICU, which DuckDB asks, counts milliseconds
    first = floorOver(first, 1000);
    last = over(last, 1000);
    micros /= 1000;
  }
  return ofFinite({from, to}, over(minus(last, first), micros));
}

Expression Moments::inMonth(const Expression &moment, const Expression &other) {
  Expression day = field(frame::DateField::Day, moment);
  Expression last = field(frame::DateField::Day, *endOfMonth(other));
  day = choose(Compare::Lt, last, day, last, day);
  return plus(times(day, kMicrosOfDay), timeOfDay(moment));
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
  Expression day = minus(over(inMonth(timestamp, first), kMicrosOfDay), number(1));
  Expression date = as(plus(units(first), day), frame::DateType::get(b_.getContext()));
  return as(plus(units(*b_.cast(date, type, at_)), timeOfDay(timestamp)), type);
}

//===----------------------------------------------------------------------===//
// Intervals
//===----------------------------------------------------------------------===//

MaybeExpression Moments::packed(const Interval &interval) {
  return b_.text(*textFunctionNamed("interval_make"),
                 {interval.months, interval.days, interval.micros},
                 frame::IntervalType::get(b_.getContext()), at_);
}

MaybeInterval Moments::partsOf(const Expression &interval) {
  if (auto bytes = dyn_cast_or_null<StringAttr>(ExpressionBuilder::constantOf(interval))) {
    const IntervalParts parts = intervalParts(bytes.getValue());
    return Interval{number(parts.months), number(parts.days), number(parts.micros)};
  }
  Type i64 = IntegerType::get(b_.getContext(), 64);
  auto part = [&](StringRef name) { return b_.text(*textFunctionNamed(name), interval, i64, at_); };
  MaybeExpression months = part("interval_months"), days = part("interval_days"),
                  micros = part("interval_micros");
  return failed(months) || failed(days) || failed(micros)
             ? MaybeInterval(failure())
             : MaybeInterval(Interval{*months, *days, *micros});
}

MaybeExpression Moments::microsOf(const Expression &interval) {
  MaybeInterval parts = partsOf(interval);
  if (failed(parts)) {
    return failure();
  }
  Expression days = plus(times(parts->months, kDaysOfMonth), parts->days);
  return plus(times(days, kMicrosOfDay), parts->micros);
}

MaybeExpression Moments::intervalOf(const Expression &micros) {
  return packed({number(0), over(micros, kMicrosOfDay), modulo(micros, kMicrosOfDay)});
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
  micros = plus(micros, times(day, kMicrosOfDay));
  Expression days =
      minus(minus(field(frame::DateField::Day, late), field(frame::DateField::Day, early)), day);
  Expression months = minus(monthIndex(late), monthIndex(early));
  Expression length = field(frame::DateField::Day, *endOfMonth(early));
  for (int most = 0; most < 2; ++most) { // a month of 28 days may not be enough
    Expression month = borrowed(days);
    days = plus(days, choose(Compare::Lt, days, number(0), length, number(0)));
    months = minus(months, month);
  }
  auto directed = [&](const Expression &value) {
    return *ofFinite({from, to}, is(times(value, -1), value));
  };
  return {directed(months), directed(days), directed(micros)};
}
