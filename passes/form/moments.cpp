// Dates and timestamps in bodies, and errors that a query raises itself.
#include "passes/form/expressions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace headrace::form {

Scalar ExpressionTranslator::dateOf(const Scalar &timestamp) {
  Scalar out = timestamp;
  out.type = frame::DateType::get(b_.getContext());
  // Towards the past also before 1970.
  Value day = integer(kDayMicroseconds, 64);
  Value days = arith::DivSIOp::create(b_, loc_, timestamp.value, day);
  Value rest = arith::RemSIOp::create(b_, loc_, timestamp.value, day);
  Value before = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::slt, rest, integer(0, 64));
  days = arith::SubIOp::create(b_, loc_, days,
                               arith::ExtUIOp::create(b_, loc_, b_.getI64Type(), before));
  out.range = Range{INT64_MIN / kDayMicroseconds - 1, INT64_MAX / kDayMicroseconds};
  out.value = toWidth(days, 32);
  return out;
}

Scalar ExpressionTranslator::shiftDate(frame::ShiftDateOp op) {
  Scalar input = scalars_.lookup(op.getOperand());
  bool isMoment = frame::isTimestamp(input.type);
  Value days = isMoment ? dateOf(input).value : input.value;
  Value wide = pipe::ShiftDateOp::create(b_, loc_, b_.getI64Type(), days, op.getMonthsAttr(),
                                         op.getDaysAttr());
  Scalar out = input;
  Range bounds = *typeRange(input.type);
  if (isMoment) {
    Value day = integer(kDayMicroseconds, 128);
    auto midnight = [&](Value days) -> Value {
      return arith::MulIOp::create(b_, loc_, toWidth(days, 128), day);
    };
    Value timeOfDay = arith::SubIOp::create(b_, loc_, toWidth(input.value, 128), midnight(days));
    Value more = integer(static_cast<int64_t>(op.getMicroseconds()), 128);
    wide = arith::AddIOp::create(b_, loc_, midnight(wide),
                                 arith::AddIOp::create(b_, loc_, timeOfDay, more));
  }
  failUnlessFits(wide, bounds, input.valid);
  out.value = wide;
  return conform(out, bounds);
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
