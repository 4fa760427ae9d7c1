// Dates, times and timestamps in bodies, and errors that a query raises itself.
#include "passes/form/calendar.h"
#include "passes/form/expressions.h"

#include "dialects/frame/FrameConstants.h"
#include "passes/analysis/expression_ranges.h"
#include "runtime/base/moment_text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>

using namespace mlir;

namespace headrace::form {

Scalar ExpressionTranslator::dateOf(const Scalar &timestamp) {
  Scalar out = timestamp;
  out.type = frame::DateType::get(b_.getContext());
  int64_t day = frame::unitsOfDay(timestamp.type);
  // A timestamp of seconds may be on a day that no date is; those of finer units are not.
  Range all = timestamp.range ? *timestamp.range : *typeRange(timestamp.type);
  out.range = Range{all.low / day - 1, all.high / day};
  out.value = Calendar(b_, loc_).floorDivide(timestamp.value, day);
  return finiteDate(out);
}

Scalar ExpressionTranslator::finiteDate(Scalar wide) {
  constexpr Range kBounds{1 - kInfiniteDate, kInfiniteDate - 1};
  if (wide.range->low < kBounds.low || wide.range->high > kBounds.high) {
    failUnlessFits(wide.value, kBounds, wide.valid);
    wide.range = kBounds;
  }
  return conform(wide, wide.range);
}

Scalar ExpressionTranslator::finiteTimestamp(Value wide, std::optional<Range> range, Value valid,
                                             Type type) {
  auto [least, greatest] = frame::finiteTimestamps(type);
  Range bounds{least, greatest};
  Scalar out;
  out.type = type;
  out.valid = valid;
  out.value = wide;
  if (!range || range->low < bounds.low || range->high > bounds.high) {
    failUnlessFits(wide, bounds, valid);
    range = bounds;
  }
  return conform(out, range);
}

Value ExpressionTranslator::isInfinite(const Scalar &input, bool later) {
  std::optional<int64_t> infinity = frame::infinityOf(input.type);
  const Range range = input.range ? *input.range : *typeRange(input.type);
  const int64_t value = infinity ? (later ? *infinity : -*infinity) : 0;
  if (!infinity || value < range.low || value > range.high) {
    return {};
  }
  return arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::eq, input.value,
                               integer(value, widthOf(input.value)));
}

Scalar ExpressionTranslator::keepInfinite(const Scalar &input, Type target,
                                          function_ref<Scalar(const Scalar &)> convert) {
  Value later = isInfinite(input, true), earlier = isInfinite(input, false);
  if (!later && !earlier) {
    return convert(input);
  }
  auto choose = [&](Value condition, __int128 value, Value otherwise) -> Value {
    return condition ? selectValue(condition, integer(value, widthOf(otherwise)), otherwise)
                     : otherwise;
  };
  const int64_t infinity = *frame::infinityOf(input.type), result = *frame::infinityOf(target);
  // In their place 0, of which everything has a value.
  const Range all = input.range ? *input.range : *typeRange(input.type);
  Scalar finite = input;
  finite.value = choose(later, 0, choose(earlier, 0, input.value));
  finite.range = Range{std::clamp<__int128>(all.low, 1 - infinity, 0),
                       std::clamp<__int128>(all.high, 0, infinity - 1)};
  Scalar out = convert(finite);
  const Range range = out.range ? *out.range : *typeRange(target);
  out = conform(out, Range{std::min<__int128>(range.low, earlier ? -result : range.low),
                           std::max<__int128>(range.high, later ? result : range.high)});
  out.value = choose(later, result, choose(earlier, -result, out.value));
  return out;
}

Scalar ExpressionTranslator::castTemporal(const Scalar &input, Type target) {
  Scalar out = input;
  out.type = target;
  const bool isMoment = frame::infinityOf(input.type) && frame::infinityOf(target);
  if (isMoment && scaleOf(input.type) == scaleOf(target) &&
      frame::isDate(input.type) == frame::isDate(target)) {
    return conform(out, input.range);
  }
  if (isMoment) {
    return keepInfinite(input, target, [&](const Scalar &finite) {
      return frame::isDate(target)       ? dateOf(finite)
             : frame::isDate(input.type) ? midnightOf(finite, target)
                                         : inUnitOf(finite, target);
    });
  }
  if (frame::isTimestamp(input.type) && frame::isTime(target)) {
    for (bool later : {true, false}) {
      if (Value infinite = isInfinite(input, later)) {
        failWhere(andValues(infinite, input.valid), pipe::DataError::InvalidCast);
      }
    }
    int64_t day = frame::unitsOfDay(input.type);
    Value midnight = arith::MulIOp::create(
        b_, loc_, Calendar(b_, loc_).floorDivide(input.value, day), integer(day, 64));
    out.value = arith::SubIOp::create(b_, loc_, input.value, midnight);
    out.range = Range{0, day - 1};
    return out;
  }
  if (frame::isTemporal(input.type) && frame::isTemporal(target)) {
    return inUnitOf(input, target);
  }
  // The number of its unit, which has as many bits or fewer.
  Range bounds = *typeRange(target);
  std::optional<Range> range = input.range ? input.range : bounds;
  if (range->low < bounds.low || range->high > bounds.high) {
    failUnlessFits(input.value, bounds, input.valid);
    range = bounds;
  }
  return conform(out, range);
}

Scalar ExpressionTranslator::midnightOf(const Scalar &date, Type timestamp) {
  int64_t day = frame::unitsOfDay(timestamp);
  std::optional<Range> range =
      multiplyRanges(date.range ? *date.range : *typeRange(date.type), Range{day, day});
  unsigned bits = range ? std::max(64u, bitsFor(*range)) : 128;
  Value wide = arith::MulIOp::create(b_, loc_, toWidth(date.value, bits), integer(day, bits));
  return finiteTimestamp(wide, range, date.valid, timestamp);
}

Scalar ExpressionTranslator::inUnitOf(const Scalar &input, Type target) {
  // Of a decimal, a number that does not fit the unit is still there to be refused.
  Type number = frame::DecimalType::get(b_.getContext(), 38, 0);
  Scalar exact = input;
  constexpr int64_t kFar = INT64_MAX / 2; // beyond it, what rounding adds may not fit
  Range all = input.range ? *input.range : *typeRange(input.type);
  if (all.low < -kFar || all.high > kFar) {
    exact.value = toWidth(exact.value, 128);
  }
  Scalar wide = rescale(exact, scaleOf(input.type), scaleOf(target), number);
  if (frame::isTimestamp(target)) {
    return finiteTimestamp(wide.value, wide.range, wide.valid, target);
  }
  wide.type = target;
  return conform(wide, wide.range);
}

/// What a range is months and days later.
static Range laterBy(const Range &range, __int128 months, __int128 days) {
  analysis::Range later = analysis::daysLater(months, days);
  return {range.low + later.low, range.high + later.high};
}

Scalar ExpressionTranslator::shiftDate(frame::ShiftDateOp op) {
  Scalar input = scalars_.lookup(op.getOperand());
  return keepInfinite(input, input.type,
                      [&](const Scalar &finite) { return shiftFinite(op, finite); });
}

Scalar ExpressionTranslator::shiftFinite(frame::ShiftDateOp op, const Scalar &input) {
  constexpr int64_t kFar = int64_t{1} << 40; // farther than any date from any other
  int64_t months = std::clamp(static_cast<int64_t>(op.getMonths()), -kFar, kFar);
  int64_t moreDays = std::clamp(static_cast<int64_t>(op.getDays()), -kFar, kFar);
  auto later = [&](const Scalar &date) -> Value {
    Value days = months == 0 ? toWidth(date.value, 64)
                             : Calendar(b_, loc_).monthsLater(toWidth(date.value, 32), months);
    return arith::AddIOp::create(b_, loc_, days, integer(moreDays, 64));
  };
  auto rangeOf = [](const Scalar &date) {
    return date.range ? *date.range : *typeRange(date.type);
  };
  if (!frame::isTimestamp(input.type)) {
    Scalar out = input;
    out.value = later(input);
    out.range = laterBy(rangeOf(input), months, moreDays);
    return finiteDate(out);
  }
  int64_t day = frame::unitsOfDay(input.type);
  __int128 more = static_cast<int64_t>(op.getMicroseconds());
  if (months == 0) { // so long a time later
    more += static_cast<__int128>(moreDays) * day;
    Range from = rangeOf(input);
    Range range{from.low + more, from.high + more};
    unsigned bits = std::max(64u, bitsFor(range));
    Value wide = arith::AddIOp::create(b_, loc_, toWidth(input.value, bits), integer(more, bits));
    return finiteTimestamp(wide, range, input.valid, input.type);
  }
  Scalar date = dateOf(input);
  Range days = laterBy(rangeOf(date), months, moreDays);
  Range range{days.low * day + more, (days.high + 1) * day + more};
  unsigned bits = std::max(64u, bitsFor(range));
  auto midnight = [&](Value days, unsigned bits) -> Value {
    return arith::MulIOp::create(b_, loc_, toWidth(days, bits), integer(day, bits));
  };
  Value timeOfDay = arith::SubIOp::create(b_, loc_, input.value, midnight(date.value, 64));
  Value time = arith::AddIOp::create(b_, loc_, toWidth(timeOfDay, bits), integer(more, bits));
  Value wide = arith::AddIOp::create(b_, loc_, midnight(later(date), bits), time);
  return finiteTimestamp(wide, range, input.valid, input.type);
}

Scalar ExpressionTranslator::makeDate(frame::MakeDateOp op) {
  Scalar year = scalars_.lookup(op.getYear()), month = scalars_.lookup(op.getMonth()),
         day = scalars_.lookup(op.getDay());
  Scalar out;
  out.type = frame::DateType::get(b_.getContext());
  out.valid = andValues(year.valid, andValues(month.valid, day.valid));
  // Years that dates have, so that nothing below overflows.
  constexpr int64_t kYearMin = -5'877'641, kYearMax = 5'881'580;
  auto isWithin = [](const Scalar &scalar, int64_t low, int64_t high) {
    return scalar.range && scalar.range->low >= low && scalar.range->high <= high;
  };
  auto inBounds = [&](const Scalar &scalar, int64_t low, int64_t high) -> Value {
    Value wide = toWidth(scalar.value, 64);
    if (isWithin(scalar, low, high)) {
      return wide;
    }
    Range bounds{low, high};
    failUnlessFits(wide, bounds, out.valid);
    Value atLeast = arith::MaxSIOp::create(b_, loc_, wide, integer(low, 64));
    return arith::MinSIOp::create(b_, loc_, atLeast, integer(high, 64));
  };
  Calendar calendar(b_, loc_);
  constexpr int64_t kDaysOfAny = 28, kDaysMax = 31;
  Value y = inBounds(year, kYearMin, kYearMax), m = inBounds(month, 1, 12),
        d = inBounds(day, 1, kDaysMax);
  if (!isWithin(day, 1, kDaysOfAny)) {
    Value isBeyond =
        arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::sgt, d, calendar.daysOfMonth(y, m));
    failWhere(andValues(isBeyond, out.valid), pipe::DataError::Overflow);
  }
  out.value = calendar.daysOf(y, m, d);
  // A year's days at least and at most, rounded outwards.
  Range years = isWithin(year, kYearMin, kYearMax) ? *year.range : Range{kYearMin, kYearMax};
  auto daysOf = [](__int128 years) { return (years - 1970) * 146'097 / 400; };
  out.range = Range{daysOf(years.low) - 400, daysOf(years.high) + 800};
  return finiteDate(out);
}

FailureOr<Scalar> ExpressionTranslator::raise(frame::RaiseOp op) {
  bool isUser = op.getKind() == frame::RaiseKind::User;
  if (isUser) {
    loc_ = NameLoc::get(op.getMessageAttr(), loc_); // what the user is told
  }
  failWhere(i1(true), isUser ? pipe::DataError::Raised : pipe::DataError::MoreThanOneRow);
  Type type = op.getResult().getType();
  std::optional<Range> none;
  if (typeRange(type)) {
    none = Range{0, 0};
  }
  Scalar out = nullOf(type, none);
  if (!frame::isNullable(type)) {
    out.valid = Value();
  }
  return out;
}

} // namespace headrace::form
