// Dates, times and timestamps in bodies, and errors that a query raises itself.
#include "passes/form/expressions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace headrace::form {

Value ExpressionTranslator::floorDivide(Value dividend, int64_t divisor) {
  Value by = integer(divisor, 64);
  Value quotient = arith::DivSIOp::create(b_, loc_, dividend, by);
  Value rest =
      arith::SubIOp::create(b_, loc_, dividend, arith::MulIOp::create(b_, loc_, quotient, by));
  Value before = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::slt, rest, integer(0, 64));
  return arith::SubIOp::create(b_, loc_, quotient,
                               arith::ExtUIOp::create(b_, loc_, b_.getI64Type(), before));
}

Scalar ExpressionTranslator::dateOf(const Scalar &timestamp) {
  Scalar out = timestamp;
  out.type = frame::DateType::get(b_.getContext());
  int64_t day = frame::unitsOfDay(timestamp.type);
  // A timestamp of seconds may be on a day that no date is; those of finer units are not.
  Range all = timestamp.range ? *timestamp.range : *typeRange(timestamp.type);
  out.range = Range{all.low / day - 1, all.high / day};
  out.value = floorDivide(timestamp.value, day);
  Range bounds = *typeRange(out.type);
  if (out.range->low < bounds.low || out.range->high > bounds.high) {
    failUnlessFits(out.value, bounds, out.valid);
    out.range = bounds;
  }
  return conform(out, out.range);
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

Scalar ExpressionTranslator::castTemporal(const Scalar &input, Type target) {
  Scalar out = input;
  out.type = target;
  if (frame::isTimestamp(input.type) && frame::isDate(target)) {
    return dateOf(input);
  }
  if (frame::isTimestamp(input.type) && frame::isTime(target)) {
    int64_t day = frame::unitsOfDay(input.type);
    Value midnight =
        arith::MulIOp::create(b_, loc_, floorDivide(input.value, day), integer(day, 64));
    out.value = arith::SubIOp::create(b_, loc_, input.value, midnight);
    out.range = Range{0, day - 1};
    return out;
  }
  if (frame::isDate(input.type) && frame::isTimestamp(target)) {
    int64_t day = frame::unitsOfDay(target);
    std::optional<Range> range =
        multiplyRanges(input.range ? *input.range : *typeRange(input.type), Range{day, day});
    unsigned bits = range ? std::max(64u, bitsFor(*range)) : 128;
    Value wide = arith::MulIOp::create(b_, loc_, toWidth(input.value, bits), integer(day, bits));
    return finiteTimestamp(wide, range, input.valid, target);
  }
  if (frame::isTemporal(input.type) && frame::isTemporal(target)) { // another unit
    if (scaleOf(input.type) == scaleOf(target)) {
      return conform(out, input.range);
    }
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
  // The number of its unit, which has as many bits or fewer.
  Range bounds = *typeRange(target);
  std::optional<Range> range = input.range ? input.range : bounds;
  if (range->low < bounds.low || range->high > bounds.high) {
    failUnlessFits(input.value, bounds, input.valid);
    range = bounds;
  }
  return conform(out, range);
}

Scalar ExpressionTranslator::shiftDate(frame::ShiftDateOp op) {
  Scalar input = scalars_.lookup(op.getOperand());
  auto shift = [&](Value days) -> Value {
    return pipe::ShiftDateOp::create(b_, loc_, b_.getI64Type(), days, op.getMonthsAttr(),
                                     op.getDaysAttr());
  };
  if (!frame::isTimestamp(input.type)) {
    Range bounds = *typeRange(input.type);
    Scalar out = input;
    out.value = shift(input.value);
    failUnlessFits(out.value, bounds, input.valid);
    return conform(out, bounds);
  }
  int64_t day = frame::unitsOfDay(input.type);
  __int128 more = static_cast<int64_t>(op.getMicroseconds());
  if (op.getMonths() == 0) { // so long a time later
    more += static_cast<__int128>(static_cast<int64_t>(op.getDays())) * day;
    Range from = input.range ? *input.range : *typeRange(input.type);
    Range range{from.low + more, from.high + more};
    unsigned bits = std::max(64u, bitsFor(range));
    Value wide = arith::AddIOp::create(b_, loc_, toWidth(input.value, bits), integer(more, bits));
    return finiteTimestamp(wide, range, input.valid, input.type);
  }
  Value days = dateOf(input).value, length = integer(day, 128);
  auto midnight = [&](Value days) -> Value {
    return arith::MulIOp::create(b_, loc_, toWidth(days, 128), length);
  };
  Value timeOfDay = arith::SubIOp::create(b_, loc_, toWidth(input.value, 128), midnight(days));
  Value wide =
      arith::AddIOp::create(b_, loc_, midnight(shift(days)),
                            arith::AddIOp::create(b_, loc_, timeOfDay, integer(more, 128)));
  return finiteTimestamp(wide, std::nullopt, input.valid, input.type);
}

Scalar ExpressionTranslator::makeDate(frame::MakeDateOp op) {
  Scalar year = scalars_.lookup(op.getYear()), month = scalars_.lookup(op.getMonth()),
         day = scalars_.lookup(op.getDay());
  Scalar out;
  out.type = frame::DateType::get(b_.getContext());
  out.valid = andValues(year.valid, andValues(month.valid, day.valid));
  auto number = [&](int64_t value) { return integer(value, 64); };
  auto plus = [&](Value a, Value b) -> Value { return arith::AddIOp::create(b_, loc_, a, b); };
  auto minus = [&](Value a, Value b) -> Value { return arith::SubIOp::create(b_, loc_, a, b); };
  auto times = [&](Value a, int64_t by) -> Value {
    return arith::MulIOp::create(b_, loc_, a, number(by));
  };
  auto quotient = [&](Value a, int64_t by) -> Value {
    return arith::DivSIOp::create(b_, loc_, a, number(by));
  };
  auto isTrueOf = [&](arith::CmpIPredicate predicate, Value a, Value b) -> Value {
    return arith::CmpIOp::create(b_, loc_, predicate, a, b);
  };
  auto oneIf = [&](Value condition) -> Value {
    return arith::ExtUIOp::create(b_, loc_, b_.getI64Type(), condition);
  };
  using Predicate = arith::CmpIPredicate;
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
    Value atLeast = arith::MaxSIOp::create(b_, loc_, wide, number(low));
    return arith::MinSIOp::create(b_, loc_, atLeast, number(high));
  };
  constexpr int64_t kDaysOfAny = 28, kDaysMax = 31;
  Value y = inBounds(year, kYearMin, kYearMax), m = inBounds(month, 1, 12),
        d = inBounds(day, 1, kDaysMax);
  if (!isWithin(day, 1, kDaysOfAny)) {
    auto divides = [&](int64_t by) {
      return isTrueOf(Predicate::eq, times(quotient(y, by), by), y);
    };
    Value leap =
        arith::OrIOp::create(b_, loc_, divides(400), andValues(divides(4), notValue(divides(100))));
    // 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31
    Value half = arith::ShRSIOp::create(b_, loc_, m, number(3));
    Value odd = arith::AndIOp::create(b_, loc_, plus(m, half), number(1));
    Value last = arith::SelectOp::create(b_, loc_, isTrueOf(Predicate::eq, m, number(2)),
                                         plus(number(28), oneIf(leap)), plus(number(30), odd));
    failWhere(andValues(isTrueOf(Predicate::sgt, d, last), out.valid), pipe::DataError::Overflow);
  }
  // runtime/base/civil.h
  Value early = oneIf(isTrueOf(Predicate::sle, m, number(2)));
  Value fromMarch = minus(y, early);
  Value era = floorDivide(fromMarch, 400);
  Value yearOfEra = minus(fromMarch, times(era, 400));
  Value dayOfYear =
      plus(quotient(plus(times(plus(minus(m, number(3)), times(early, 12)), 153), number(2)), 5),
           minus(d, number(1)));
  Value dayOfEra =
      plus(minus(plus(times(yearOfEra, 365), quotient(yearOfEra, 4)), quotient(yearOfEra, 100)),
           dayOfYear);
  Value days = plus(times(era, 146'097), minus(dayOfEra, number(719'468)));
  out.value = days;
  // A year's days at least and at most, rounded outwards.
  Range years = isWithin(year, kYearMin, kYearMax) ? *year.range : Range{kYearMin, kYearMax};
  auto daysOf = [](__int128 years) { return (years - 1970) * 146'097 / 400; };
  Range range{daysOf(years.low) - 400, daysOf(years.high) + 800}, bounds = *typeRange(out.type);
  if (range.low < bounds.low || range.high > bounds.high) {
    failUnlessFits(days, bounds, out.valid);
    range = bounds;
  }
  return conform(out, range);
}

FailureOr<Scalar> ExpressionTranslator::raise(frame::RaiseOp op) {
  bool isUser = op.getKind() == frame::RaiseKind::User;
  if (isUser) {
    loc_ = NameLoc::get(op.getMessageAttr()); // what the user is told
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
