// `fill` as DuckDB computes it, digit for digit: shares in doubles, values rounded as their type
// is.
#include "passes/import/Interpolation.h"

#include "passes/import/Moments.h"

#include <cmath>

using namespace mlir;
using namespace headrace::import;
namespace frame = headrace::frame;

using Arithmetic = ExpressionBuilder::Arithmetic;
using Compare = frame::CompareKind;
using Misfit = ExpressionBuilder::Misfit;

Expression Interpolation::choose(Compare kind, const Real &a, const Real &b,
                                 const Expression &value, const Expression &otherwise) {
  Expression holds = *b_.compare(kind, a.expression(), b.expression(), at_);
  return *b_.choose(holds, value, &otherwise, at_);
}

MaybeExpression Interpolation::isFinite(const Expression &value) {
  Type type = frame::dropNullable(value.type());
  if (isa<FloatType>(type)) {
    FailureOr<Real> real = number(value);
    return failed(real) ? MaybeExpression(failure())
                        : b_.isNotNull(finite(*real).expression(), at_);
  }
  MaybeExpression known = b_.isNotNull(value, at_);
  if (failed(known) || !(frame::isDate(type) || frame::isTimestamp(type)) ||
      !b_.mayBeInfinite(value)) {
    return known;
  }
  Expression infinite = *Moments(b_, at_).isInfinite(value);
  return b_.connect(ExpressionBuilder::Connective::kAnd, {*known, *b_.negation(infinite, at_)},
                    at_);
}

MaybeExpression Interpolation::point() {
  MaybeExpression hasX = isFinite(x_), hasY = isFinite(y_);
  if (failed(hasX) || failed(hasY)) {
    return failure();
  }
  StringAttr unnamed = StringAttr::get(b_.getContext(), "");
  auto type =
      frame::StructType::get(b_.getContext(), {unnamed, unnamed},
                             {frame::dropNullable(x_.type()), frame::dropNullable(y_.type())});
  MaybeExpression both = b_.structOf(type, {x_, y_}, at_);
  MaybeExpression counts = b_.connect(ExpressionBuilder::Connective::kAnd, {*hasX, *hasY}, at_);
  return failed(both) || failed(counts) ? MaybeExpression(failure())
                                        : b_.choose(*counts, *both, nullptr, at_);
}

FailureOr<Real> Interpolation::number(const Expression &value) {
  Type type = frame::dropNullable(value.type());
  auto decimal = dyn_cast<frame::DecimalType>(type);
  if ((decimal && decimal.getPrecision() > 15) || frame::isUnsigned128(type)) {
    return b_.fail(at_, "unsupported fill of decimals of more than 15 digits and of UHUGEINT: cast "
                        "them to double");
  }
  MaybeExpression real = b_.cast(frame::isTemporal(type) ? Moments(b_, at_).units(value) : value,
                                 Float64Type::get(b_.getContext()), at_);
  if (failed(real)) {
    return failure();
  }
  Real found(b_, *real, at_);
  return decimal ? (found * found.constant(std::pow(10.0, decimal.getScale())))
                       .apply(frame::NumberFunction::Round)
                 : found;
}

/// The integer that a value's units are held in.
static Type unitsType(Type type) {
  MLIRContext *context = type.getContext();
  if (auto decimal = dyn_cast<frame::DecimalType>(type)) {
    const unsigned digits = decimal.getPrecision();
    return IntegerType::get(context, digits <= 4 ? 16 : digits <= 9 ? 32 : 64);
  }
  return frame::isTemporal(type) ? Type(IntegerType::get(context, frame::integerBits(type))) : type;
}

MaybeExpression Interpolation::ofUnits(const Expression &units) {
  Type type = frame::dropNullable(y_.type());
  if (auto decimal = dyn_cast<frame::DecimalType>(type)) {
    Real value(b_, *b_.cast(units, Float64Type::get(b_.getContext()), at_), at_);
    Real scale = value.constant(std::pow(10.0, decimal.getScale()));
    return b_.cast((value / scale).expression(), type, at_);
  }
  return frame::isTemporal(type) ? MaybeExpression(Moments(b_, at_).as(units, type)) : units;
}

Expression Interpolation::whereBetween(const Real &share, const Expression &inside,
                                       const Expression &outside) {
  return choose(Compare::Lt, share, share.constant(0), outside,
                choose(Compare::Gt, share, share.constant(1), outside, inside));
}

MaybeExpression Interpolation::wideBetween(const Expression &low, const Expression &high,
                                           const Real &share) {
  Type wide = frame::dropNullable(y_.type());
  auto real = [&](const Expression &value) { return *number(value); };
  auto whole = [&](const Real &value) {
    return *b_.cast(value.apply(frame::NumberFunction::Truncate).expression(), wide, at_,
                    Misfit::kNull);
  };
  Real step = real(*b_.arithmetic(Arithmetic::kSubtract, high, low, wide, at_)) * share;
  Expression inside = *b_.arithmetic(Arithmetic::kAdd, low, whole(step), wide, at_);
  Real line = fused(real(low), share.constant(1) - share, real(high) * share);
  return whereBetween(share, inside, whole(line));
}

MaybeExpression Interpolation::wholeBetween(const Expression &low, const Expression &high,
                                            const Real &share) {
  FailureOr<Real> from = number(low), to = number(high);
  if (failed(from) || failed(to)) {
    return failure();
  }
  Type units = unitsType(frame::dropNullable(y_.type()));
  auto whole = [&](const Real &value) {
    return *b_.cast(value.expression(), units, at_, Misfit::kNull);
  };
  Expression inside =
      whole(fused(*to - *from, share, *from).apply(frame::NumberFunction::Truncate));
  // Beyond the points from the lesser value on, by an offset that the type must hold as well.
  Type wide = IntegerType::get(b_.getContext(), 128);
  auto exact = [&](const Expression &value) {
    Type type = frame::dropNullable(value.type());
    Expression number = frame::isTemporal(type)         ? Moments(b_, at_).units(value)
                        : isa<frame::DecimalType>(type) ? whole(*this->number(value))
                                                        : value;
    return *b_.cast(number, wide, at_);
  };
  Real zero = share.constant(0), one = share.constant(1);
  Real along(b_, choose(Compare::Gt, *from, *to, (one - share).expression(), share.expression()),
             at_);
  auto magnitude = [](const Real &value) { return value.apply(frame::NumberFunction::Abs); };
  Expression base = *b_.extreme(ExpressionBuilder::Extreme::kLeast, {exact(low), exact(high)}, at_);
  Expression offset = *b_.cast(whole(magnitude(*to - *from) * magnitude(along)), wide, at_);
  Expression beyond = choose(Compare::Lt, along, zero,
                             *b_.arithmetic(Arithmetic::kSubtract, base, offset, wide, at_),
                             *b_.arithmetic(Arithmetic::kAdd, base, offset, wide, at_));
  Expression outside = *b_.cast(beyond, units, at_, Misfit::kNull);
  return ofUnits(whereBetween(share, inside, outside));
}

MaybeExpression Interpolation::between(const Expression &low, const Expression &high,
                                       const Real &share) {
  Type type = frame::dropNullable(y_.type());
  if (!isa<FloatType>(type)) {
    return frame::integerBits(type) == 128 ? wideBetween(low, high, share)
                                           : wholeBetween(low, high, share);
  }
  Real from = *number(low), to = *number(high);
  Real found =
      type.isF64() ? from * (share.constant(1) - share) + to * share : from + (to - from) * share;
  return b_.cast(found.expression(), type, at_);
}

MaybeExpression Interpolation::filled(ArrayRef<Expression> points) {
  const Expression &before = points[0], &earlier = points[1], &after = points[2];
  const Expression &later = points[3];
  auto either = [&](const Expression &condition, const Expression &value,
                    const Expression &otherwise) {
    return *b_.choose(b_.isNull(condition, at_), value, &otherwise, at_);
  };
  // Without one on a side the two of the other side.
  Expression low = either(before, after, either(after, earlier, before));
  Expression high = either(before, later, either(after, before, after));
  FailureOr<Real> x = number(x_), x0 = number(b_.fieldOf(low, 0, at_)),
                  x1 = number(b_.fieldOf(high, 0, at_));
  MaybeExpression isHere = isFinite(x_);
  if (failed(x) || failed(x0) || failed(x1) || failed(isHere)) {
    return failure();
  }
  Real zero = x->constant(0), apart = *x1 - *x0;
  // Of doubles too far apart for their difference, by the larger of them.
  auto magnitude = [&](const Real &value) { return value.apply(frame::NumberFunction::Abs); };
  Real most(b_,
            *b_.extreme(ExpressionBuilder::Extreme::kGreatest,
                        {magnitude(*x0).expression(), magnitude(*x1).expression()}, at_),
            at_);
  Real scaled = (*x / most - *x0 / most) / (*x1 / most - *x0 / most);
  Real share(
      b_, *b_.coalesce({((*x - *x0) / finite(apart)).expression(), scaled.expression()}, at_), at_);
  share = share.unlessZero(apart, &zero);
  Expression y0 = b_.fieldOf(low, 1, at_), y1 = b_.fieldOf(high, 1, at_);
  MaybeExpression mixed = between(y0, y1, share);
  if (failed(mixed)) {
    return failure();
  }
  Expression made = either(low, y1, either(high, y0, *mixed));
  return b_.coalesce({y_, *b_.choose(*isHere, made, nullptr, at_)}, at_);
}
