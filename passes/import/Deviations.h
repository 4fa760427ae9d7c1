// Variances, covariances and regressions: formulas over what exact sums say of one or two columns.
#ifndef HEADRACE_PASSES_IMPORT_DEVIATIONS_H
#define HEADRACE_PASSES_IMPORT_DEVIATIONS_H

#include "passes/import/ExpressionBuilder.h"

namespace headrace::import {

/// An expression of type f64 that formulas are written with.
class Real {
public:
  Real(ExpressionBuilder &builder, Expression value, mlir::Location at)
      : builder_(&builder), value_(std::move(value)), at_(at) {}

  const Expression &expression() const { return value_; }
  Real operator+(const Real &other) const;
  Real operator-(const Real &other) const;
  Real operator-(double other) const;
  Real operator*(const Real &other) const;
  Real operator/(const Real &other) const;
  Real constant(double value) const;
  Real apply(frame::NumberFunction function) const;
  /// This where the other is not 0; `otherwise`, or NULL, where it is.
  Real unlessZero(const Real &other, const Real *otherwise) const;

  friend Real sqrt(const Real &value);
  /// NULL where it is infinite or NaN.
  friend Real finite(const Real &value);
  /// a · b + addend, rounded once as DuckDB's builds do.
  friend Real fused(const Real &a, const Real &b, const Real &addend);

private:
  Real compute(ExpressionBuilder::Arithmetic op, const Real &other) const;

  ExpressionBuilder *builder_;
  Expression value_;
  mlir::Location at_;
};

/// What a formula may ask for: `count` rows in which no argument is NULL, the means, and the sums
/// of products of deviations from them. Nothing that is not asked for is computed.
class Deviations {
public:
  /// Of what `list_comoments` gives of pairs: of two columns.
  Deviations(ExpressionBuilder &builder, Expression comoments, mlir::Location at)
      : builder_(builder), firstField_(0), parts_(kPartsOfTwo), comoments_(std::move(comoments)),
        at_(at) {}

  /// The parts of a measure, in the order of its fields: sums of x, y, x², y², xy (exact), of x and
  /// y as doubles, and the count. Of one column there are the sums of x and x², and the count; with
  /// powers those of x, x², x³ and x⁴ as doubles stand before the count.
  static constexpr size_t kPartsOfOne = 3, kPartsOfTwo = 8, kPartsOfPowers = 7;

  /// `parts`: one of these numbers.
  Deviations(ExpressionBuilder &builder, int64_t firstField, size_t parts, mlir::Location at)
      : builder_(builder), firstField_(firstField), parts_(parts), at_(at) {}

  Real count() const;
  Real meanX() const;
  Real meanY() const;
  Real xx() const;
  Real yy() const;
  Real xy() const;
  /// xy² / (xx · yy), as SQL defines it where one of them is 0.
  Real determination() const;
  /// The third and fourth moments of standardized values, the fourth less that of a normal
  /// distribution; NULL where x does not vary. With powers.
  Real skew() const;
  Real excess() const;
  /// The sum of x, rounded once; the sum of doubles where that is not finite. With powers.
  Real total() const;
  /// How many rows there are, as an i64.
  Expression rows() const;

private:
  Expression field(size_t part) const;
  /// From 1.
  Real comoment(int64_t place) const;
  Real real(Expression value) const { return {builder_, std::move(value), at_}; }
  Real moment(size_t sum, size_t other, size_t products) const;

  ExpressionBuilder &builder_;
  int64_t firstField_;
  size_t parts_;
  std::optional<Expression> comoments_ = {};
  mlir::Location at_;
};

} // namespace headrace::import

#endif // HEADRACE_PASSES_IMPORT_DEVIATIONS_H
