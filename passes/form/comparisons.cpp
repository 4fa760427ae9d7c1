// Comparisons of values, and values chosen by conditions.
#include "passes/form/expressions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>

using namespace mlir;

namespace headrace::form {

Value ExpressionTranslator::compareValues(frame::CompareKind kind, const Scalar &a,
                                          const Scalar &b) {
  using Kind = frame::CompareKind;
  if (frame::isHeldAsText(a.type)) {
    using Predicate = pipe::StringPredicate;
    Predicate predicate = kind == Kind::Ne   ? Predicate::Ne
                          : kind == Kind::Lt ? Predicate::Lt
                          : kind == Kind::Le ? Predicate::Le
                          : kind == Kind::Gt ? Predicate::Gt
                          : kind == Kind::Ge ? Predicate::Ge
                                             : Predicate::Eq;
    return pipe::StringCompareOp::create(b_, loc_, b_.getI1Type(), predicate, a.value, b.value);
  }
  if (frame::isFloat(a.type)) {
    // NaN equals itself and is the largest: a < b is ordered less, or only b is NaN.
    auto compare = [&](arith::CmpFPredicate predicate, Value x, Value y) -> Value {
      return arith::CmpFOp::create(b_, loc_, predicate, x, y);
    };
    auto isNan = [&](Value x) { return compare(arith::CmpFPredicate::UNO, x, x); };
    auto less = [&](Value x, Value y) -> Value {
      Value onlyY = arith::AndIOp::create(b_, loc_, isNan(y), notValue(isNan(x)));
      return arith::OrIOp::create(b_, loc_, compare(arith::CmpFPredicate::OLT, x, y), onlyY);
    };
    auto equal = [&]() -> Value {
      Value both = arith::AndIOp::create(b_, loc_, isNan(a.value), isNan(b.value));
      return arith::OrIOp::create(b_, loc_, compare(arith::CmpFPredicate::OEQ, a.value, b.value),
                                  both);
    };
    switch (kind) {
    case Kind::Eq:
    case Kind::IsNotDistinctFrom:
      return equal();
    case Kind::Ne:
      return notValue(equal());
    case Kind::Lt:
      return less(a.value, b.value);
    case Kind::Le:
      return notValue(less(b.value, a.value));
    case Kind::Gt:
      return less(b.value, a.value);
    case Kind::Ge:
      return notValue(less(a.value, b.value));
    }
  }
  bool isBool = frame::isBoolean(a.type);
  unsigned bits = isBool ? 1 : std::max(widthOf(a.value), widthOf(b.value));
  Value x = isBool ? a.value : toWidth(a.value, bits),
        y = isBool ? b.value : toWidth(b.value, bits);
  auto predicate = [&] {
    switch (kind) {
    case Kind::Eq:
    case Kind::IsNotDistinctFrom:
      return arith::CmpIPredicate::eq;
    case Kind::Ne:
      return arith::CmpIPredicate::ne;
    case Kind::Lt:
      return isBool ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
    case Kind::Le:
      return isBool ? arith::CmpIPredicate::ule : arith::CmpIPredicate::sle;
    case Kind::Gt:
      return isBool ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::sgt;
    case Kind::Ge:
      return isBool ? arith::CmpIPredicate::uge : arith::CmpIPredicate::sge;
    }
    return arith::CmpIPredicate::eq;
  }();
  return arith::CmpIOp::create(b_, loc_, predicate, x, y);
}

FailureOr<Scalar> ExpressionTranslator::caseWhen(frame::CaseOp op) {
  // Conditions and values are evaluated for all rows; failures.cpp sees to their errors.
  SmallVector<Scalar> values;
  std::optional<Range> range;
  bool first = true;
  auto take = [&](const Scalar &scalar) {
    values.push_back(scalar);
    range = first ? scalar.range : hull(range, scalar.range);
    first = false;
  };
  for (Value value : op.getValues()) {
    take(scalars_.lookup(value));
  }
  Type type = frame::dropNullable(op.getResult().getType());
  Scalar otherwise;
  if (op.getOtherwise()) {
    otherwise = scalars_.lookup(op.getOtherwise());
    take(otherwise);
    values.pop_back();
  } else if (isIntegral(type)) {
    otherwise.type = type;
    otherwise.range = Range{0, 0};
    otherwise.value = integer(0, 32);
    otherwise.valid = i1(false);
    range = hull(range, otherwise.range);
  } else if (frame::isHeldAsText(type)) {
    otherwise = *constant(b_.getStringAttr(""), type);
    otherwise.valid = i1(false);
  } else {
    otherwise.type = type;
    otherwise.value = arith::ConstantOp::create(b_, loc_, b_.getZeroAttr(type));
    otherwise.valid = i1(false);
  }
  bool nullable = frame::isNullable(op.getResult().getType());
  Scalar out = conform(otherwise, range);
  out.type = type;
  if (nullable && !out.valid) {
    out.valid = i1(true);
  }
  for (size_t index = values.size(); index-- > 0;) {
    Scalar value = conform(values[index], range);
    Value condition = isTrue(scalars_.lookup(op.getConditions()[index]));
    out.value = selectValue(condition, value.value, out.value);
    if (nullable) {
      Value valid = value.valid ? value.valid : i1(true);
      out.valid = arith::SelectOp::create(b_, loc_, condition, valid, out.valid);
    }
  }
  return out;
}

} // namespace headrace::form
