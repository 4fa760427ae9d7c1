// Functions of dates, times and timestamps for any front end, made of casts and arithmetic of
// integers.
#ifndef HEADRACE_PASSES_IMPORT_MOMENTS_H
#define HEADRACE_PASSES_IMPORT_MOMENTS_H

#include "passes/import/ExpressionBuilder.h"

namespace headrace::import {

inline constexpr int64_t kMicrosOfSecond = unitsOfSecond(TimeUnit::kMicrosecond);
inline constexpr int64_t kMicrosOfDay = 86'400 * kMicrosOfSecond;
inline constexpr int64_t kDaysOfMonth = 30; ///< where intervals are compared

/// A part of a date or time (time_parts.def).
enum class TimePart {
#define HR_PART(member, names, length, value, text) member,
#include "passes/import/time_parts.def"
#undef HR_PART
};

/// By one of its names, in any case: "year", "yrs", …
std::optional<TimePart> timePart(llvm::StringRef name);

/// A length of time of the calendar. Only one of the three is not 0.
struct TimeLength {
  int64_t months = 0, days = 0, micros = 0;

  /// Of days and the time, which are always as long.
  int64_t fixedMicros() const { return days * kMicrosOfDay + micros; }
};

/// Of a part that counts something: none of eras, zones and what is below a microsecond.
std::optional<TimeLength> lengthOf(TimePart part);

/// Whether it is a timestamp of a moment in every zone.
bool isZoned(const Expression &moment);

/// The parts of an interval: i64s, any of which may be NULL, as the interval then is.
struct Interval {
  Expression months, days, micros;
};

using MaybeInterval = mlir::FailureOr<Interval>;

/// Timestamps are of microseconds unless something else is said.
class Moments {
public:
  Moments(ExpressionBuilder &builder, mlir::Location at) : b_(builder), at_(at) {}

  /// The part of a date, time or timestamp (nanoseconds: of any unit); an i64, of kEpoch and
  /// kJulian an f64. A part that there is not is an error of the rows, here and below.
  MaybeExpression part(TimePart part, const Expression &moment);
  /// The beginning of what a date or timestamp is in, as a timestamp.
  MaybeExpression truncated(TimePart part, const Expression &moment);
  /// How many beginnings of such parts lie between two dates, times or timestamps; an i64.
  MaybeExpression boundaries(TimePart part, const Expression &from, const Expression &to);
  /// How many whole parts have passed between two dates, times or timestamps; an i64.
  MaybeExpression elapsed(TimePart part, const Expression &from, const Expression &to);
  /// How much later a timestamp is than another: in months, days of the last month, and a time.
  Interval age(const Expression &to, const Expression &from);
  /// An interval as a value, and its parts.
  MaybeExpression packed(const Interval &interval);
  MaybeInterval partsOf(const Expression &interval);
  /// Its microseconds, an i64, a month being 30 days; and an interval of days and a time of these.
  MaybeExpression microsOf(const Expression &interval);
  MaybeExpression intervalOf(const Expression &micros);
  /// A timestamp so many months (an i64) later, on the last day of its month if that is shorter.
  Expression monthsLater(const Expression &timestamp, const Expression &months);
  /// The last day of the month of a date or timestamp.
  MaybeExpression lastDay(const Expression &moment);
  /// The beginning of the stretch of `width` microseconds that a timestamp is in; stretches begin
  /// on a Monday.
  MaybeExpression bucket(int64_t width, const Expression &timestamp);
  /// Likewise of so many months that a date is in, of which one begins in the month of `origin`, or
  /// in January 2000.
  MaybeExpression bucketOfMonths(int64_t width, const Expression &date,
                                 const std::optional<Expression> &origin);
  /// A time of integers and seconds (f64); what is none is an error.
  MaybeExpression time(const Expression &hour, const Expression &minute, const Expression &second);
  /// "Monday"; "January"
  MaybeExpression dayName(const Expression &moment);
  MaybeExpression monthName(const Expression &moment);

  /// A date or timestamp as strftime writes it.
  MaybeExpression formatted(llvm::StringRef format, const Expression &moment);

  /// Of i64s.
  Expression number(int64_t value);
  Expression plus(const Expression &a, const Expression &b);
  Expression minus(const Expression &a, const Expression &b);
  Expression times(const Expression &a, int64_t by);
  /// Towards zero, and its rest.
  Expression over(const Expression &a, int64_t by);
  Expression modulo(const Expression &a, int64_t by);
  /// Towards the past.
  Expression floorOver(const Expression &a, int64_t by);

  /// An i64 as a date, time or timestamp, and back.
  Expression as(const Expression &units, mlir::Type type);
  Expression units(const Expression &moment);
  Expression dateOf(const Expression &moment);
  /// Microseconds since midnight, an i64; of a date 0.
  Expression timeOfDay(const Expression &moment);
  mlir::Type timestampType() const;
  /// A timestamp of nanoseconds as one of the microseconds that have passed; else what it is.
  Expression inMicros(const Expression &moment);

  /// Whether a date or timestamp is infinite.
  MaybeExpression isInfinite(const Expression &moment);
  /// Whether one of some is; nothing where none can be.
  std::optional<Expression> anyInfinite(llvm::ArrayRef<Expression> moments);
  /// The value, but NULL where one of `others` is.
  Expression unlessNull(llvm::ArrayRef<Expression> others, const Expression &value);
  /// What is made of dates and timestamps; NULL of infinite ones.
  MaybeExpression ofFinite(llvm::ArrayRef<Expression> moments, const MaybeExpression &value);
  /// A date, timestamp or text that is made of a date or timestamp, which it is if that is
  /// infinite, and of others.
  MaybeExpression orInfinite(const Expression &moment, const MaybeExpression &value,
                             llvm::ArrayRef<Expression> others = {});

private:
  Expression days(const Expression &moment) { return units(dateOf(moment)); }
  Expression field(frame::DateField field, const Expression &moment);
  /// The last day of the month of what is finite.
  MaybeExpression endOfMonth(const Expression &moment);
  Expression isoDayOfWeek(const Expression &days);
  Expression yearsIn(const Expression &year, int64_t length);
  Expression begin(const Expression &year, const Expression &month);
  /// Days of the Thursday of the week, which says what year the week is of.
  Expression thursday(const Expression &days);
  Expression weekOf(const Expression &days);
  Expression isoYearOf(const Expression &days);
  /// The year of the week and its number, with two digits.
  Expression yearWeekOf(const Expression &days);
  Expression eraOf(const Expression &year);
  /// The year; of zoned timestamps that of its era, which has no year 0.
  Expression yearOfEra(const Expression &moment);
  Expression nanosecondsOf(const Expression &moment);
  MaybeExpression offsetOf(const Expression &moment);
  MaybeExpression noSuchPart(llvm::StringRef message);
  /// f64s.
  MaybeExpression quotient(const Expression &units, double by);
  MaybeExpression secondsOf(const Expression &moment);
  MaybeExpression julianDayOf(const Expression &moment);
  MaybeExpression named(const Expression &number, llvm::ArrayRef<llvm::StringRef> names);
  /// Where it is in a count of such parts that has no gap; nothing if there is none.
  std::optional<Expression> index(TimePart part, const Expression &moment);
  /// A number that is not negative, with zeros in front of it.
  Expression digits(const Expression &value, unsigned width);
  Expression yearText(const Expression &year);
  /// What a specifier of strftime stands for; nothing if there is no such specifier.
  std::optional<Expression> formattedDate(char specifier, bool padded, const Expression &moment);
  std::optional<Expression> formattedTime(char specifier, bool padded, const Expression &moment);
  Expression monthIndex(const Expression &moment);
  Expression monthsElapsed(const Expression &from, const Expression &to);
  /// Microseconds from the beginning of the month, plus a day; not behind the days that the month
  /// of `other` has.
  Expression inMonth(const Expression &moment, const Expression &other);

protected:
  Expression choose(frame::CompareKind kind, const Expression &a, const Expression &b,
                    const Expression &value, const Expression &otherwise);

  ExpressionBuilder &b_;
  mlir::Location at_;
  /// What strftime writes for %z and, of what has a zone, for %Z; nothing: UTC's.
  std::optional<Expression> offsetText_;
  std::string zoneName_ = "UTC";
};

} // namespace headrace::import

#endif // HEADRACE_PASSES_IMPORT_MOMENTS_H
