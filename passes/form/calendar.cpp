// Days of years and months, in bodies.
#include "passes/form/calendar.h"

#include "dialects/pipe/PipeDialect.h"

using namespace mlir;
using Predicate = arith::CmpIPredicate;

namespace headrace::form {

Value Calendar::number(int64_t value) {
  return arith::ConstantOp::create(b_, loc_, b_.getI64IntegerAttr(value));
}
Value Calendar::plus(Value a, Value b) { return arith::AddIOp::create(b_, loc_, a, b); }
Value Calendar::minus(Value a, Value b) { return arith::SubIOp::create(b_, loc_, a, b); }
Value Calendar::times(Value a, int64_t by) {
  return arith::MulIOp::create(b_, loc_, a, number(by));
}
Value Calendar::over(Value a, int64_t by) {
  return arith::DivSIOp::create(b_, loc_, a, number(by));
}
Value Calendar::is(Predicate predicate, Value a, Value b) {
  return arith::CmpIOp::create(b_, loc_, predicate, a, b);
}
Value Calendar::oneIf(Value condition) {
  return arith::ExtUIOp::create(b_, loc_, b_.getI64Type(), condition);
}

Value Calendar::floorDivide(Value dividend, int64_t divisor) {
  Value quotient = over(dividend, divisor);
  Value rest = minus(dividend, times(quotient, divisor));
  return minus(quotient, oneIf(is(Predicate::slt, rest, number(0))));
}

Value Calendar::daysOfMonth(Value year, Value month) {
  auto divides = [&](int64_t by) { return is(Predicate::eq, times(over(year, by), by), year); };
  Value common = arith::XOrIOp::create(b_, loc_, divides(100),
                                       arith::ConstantOp::create(b_, loc_, b_.getBoolAttr(true)));
  Value leap = arith::OrIOp::create(b_, loc_, divides(400),
                                    arith::AndIOp::create(b_, loc_, divides(4), common));
  // 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31
  Value half = arith::ShRSIOp::create(b_, loc_, month, number(3));
  Value odd = arith::AndIOp::create(b_, loc_, plus(month, half), number(1));
  return arith::SelectOp::create(b_, loc_, is(Predicate::eq, month, number(2)),
                                 plus(number(28), oneIf(leap)), plus(number(30), odd));
}

Value Calendar::daysOf(Value year, Value month, Value day) {
  Value early = oneIf(is(Predicate::sle, month, number(2)));
  Value fromMarch = minus(year, early);
  Value era = floorDivide(fromMarch, 400);
  Value yearOfEra = minus(fromMarch, times(era, 400));
  Value sinceMarch = plus(minus(month, number(3)), times(early, 12));
  Value dayOfYear = plus(over(plus(times(sinceMarch, 153), number(2)), 5), minus(day, number(1)));
  Value leapDays = minus(over(yearOfEra, 4), over(yearOfEra, 100));
  Value dayOfEra = plus(plus(times(yearOfEra, 365), leapDays), dayOfYear);
  return plus(times(era, 146'097), minus(dayOfEra, number(719'468)));
}

Value Calendar::monthsLater(Value date, int64_t months) {
  auto part = [&](pipe::DatePart part) -> Value {
    return pipe::DatePartOp::create(b_, loc_, b_.getI64Type(), part, date);
  };
  Value index = plus(plus(times(part(pipe::DatePart::Year), 12), part(pipe::DatePart::Month)),
                     number(months - 1));
  Value year = floorDivide(index, 12);
  Value month = plus(minus(index, times(year, 12)), number(1));
  Value day = arith::MinSIOp::create(b_, loc_, part(pipe::DatePart::Day), daysOfMonth(year, month));
  return daysOf(year, month, day);
}

} // namespace headrace::form
