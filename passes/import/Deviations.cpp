// Formulas over exact sums, as expressions.
#include "passes/import/Deviations.h"

#include "runtime/base/math_functions.h"

using namespace mlir;
using namespace headrace::import;
namespace frame = headrace::frame;

using Arithmetic = ExpressionBuilder::Arithmetic;

// All operands are doubles: nothing that is built of them fails.

Real Real::compute(Arithmetic op, const Real &other) const {
  Type f64 = Float64Type::get(builder_->getContext());
  return {*builder_, *builder_->arithmetic(op, value_, other.value_, f64, at_), at_};
}

Real Real::operator+(const Real &other) const { return compute(Arithmetic::kAdd, other); }
Real Real::operator-(const Real &other) const { return compute(Arithmetic::kSubtract, other); }
Real Real::operator-(double other) const { return *this - constant(other); }
Real Real::operator*(const Real &other) const { return compute(Arithmetic::kMultiply, other); }
Real Real::operator/(const Real &other) const { return compute(Arithmetic::kDivide, other); }

Real Real::constant(double value) const {
  Type f64 = Float64Type::get(builder_->getContext());
  return {*builder_, builder_->constant(FloatAttr::get(f64, value), f64, at_), at_};
}

Real Real::apply(frame::NumberFunction function) const {
  Type f64 = Float64Type::get(builder_->getContext());
  return {*builder_, *builder_->number(function, value_, std::nullopt, f64, at_), at_};
}

Real Real::unlessZero(const Real &other, const Real *otherwise) const {
  Expression differs =
      *builder_->compare(frame::CompareKind::Ne, other.value_, constant(0).value_, at_);
  return {*builder_,
          *builder_->choose(differs, value_, otherwise ? &otherwise->value_ : nullptr, at_), at_};
}

namespace headrace::import {

Real sqrt(const Real &value) { return value.apply(frame::NumberFunction::Sqrt); }

Real finite(const Real &value) {
  // What is neither infinite nor NaN is 0 less itself.
  Real zero = value - value;
  Expression isZero = *value.builder_->compare(frame::CompareKind::Eq, zero.value_,
                                               value.constant(0).value_, value.at_);
  return {*value.builder_, *value.builder_->choose(isZero, value.value_, nullptr, value.at_),
          value.at_};
}

Real fused(const Real &a, const Real &b, const Real &addend) {
  ExpressionBuilder &builder = *a.builder_;
  Real product = a * b;
  Real rest(builder,
            *builder.math(*mathFunctionNamed("product_rest"), {a.value_, b.value_},
                          Float64Type::get(builder.getContext()), a.at_),
            a.at_);
  Real sum = product + addend, added = sum - product;
  Real lost = (product - (sum - added)) + (addend - added); // of the sum
  // Where they are not finite there is no rest.
  return {builder, *builder.coalesce({finite(sum + (lost + rest)).value_, sum.value_}, a.at_),
          a.at_};
}

} // namespace headrace::import

Expression Deviations::field(size_t part) const {
  return *builder_.field(firstField_ + static_cast<int64_t>(part), at_);
}

Real Deviations::comoment(int64_t place) const {
  const Expression number =
      builder_.integer(place, IntegerType::get(builder_.getContext(), 64), at_);
  return real(*builder_.element(*comoments_, number, at_));
}

Expression Deviations::rows() const {
  if (!comoments_) {
    return field(parts_ - 1);
  }
  Type i64 = IntegerType::get(builder_.getContext(), 64);
  Expression pairs = *builder_.cast(comoment(1).expression(), i64, at_);
  return *builder_.coalesce({pairs, builder_.integer(0, i64, at_)}, at_);
}

Real Deviations::count() const {
  return real(*builder_.cast(rows(), Float64Type::get(builder_.getContext()), at_));
}

Real Deviations::moment(size_t sum, size_t other, size_t products) const {
  Expression first = field(sum);
  return real(
      builder_.comoment(first, other == sum ? first : field(other), field(products), rows(), at_));
}

Real Deviations::total() const {
  Real exact = finite(real(builder_.nearest(field(0), at_)));
  return real(*builder_.coalesce({exact.expression(), field(2)}, at_));
}

Real Deviations::xx() const {
  return comoments_ ? comoment(4) : parts_ == kPartsOfTwo ? moment(0, 0, 2) : moment(0, 0, 1);
}
Real Deviations::yy() const { return comoments_ ? comoment(5) : moment(1, 1, 3); }
Real Deviations::xy() const { return comoments_ ? comoment(6) : moment(0, 1, 4); }
Real Deviations::meanX() const { return comoments_ ? comoment(2) : real(field(5)) / count(); }
Real Deviations::meanY() const { return comoments_ ? comoment(3) : real(field(6)) / count(); }

Real Deviations::determination() const {
  Real one = count().constant(1), product = xy();
  Real explained = (product * product / (xx() * yy())).unlessZero(yy(), &one);
  return explained.unlessZero(xx(), nullptr);
}

Real Deviations::skew() const {
  Real sum = real(field(2)), squares = real(field(3)), cubes = real(field(4));
  Real mean = sum / count(), variance = xx() / count();
  Real three = mean.constant(3), two = mean.constant(2);
  Real third = (cubes - three * mean * squares + two * mean * mean * sum) / count();
  return (third / (variance * sqrt(variance))).unlessZero(variance, nullptr);
}

Real Deviations::excess() const {
  Real sum = real(field(2)), squares = real(field(3)), cubes = real(field(4));
  Real mean = sum / count(), variance = xx() / count();
  Real six = mean.constant(6), four = mean.constant(4), three = mean.constant(3);
  Real fourth = real(field(5)) - four * mean * cubes + six * mean * mean * squares -
                three * mean * mean * mean * sum;
  return (fourth / count() / (variance * variance) - 3).unlessZero(variance, nullptr);
}
