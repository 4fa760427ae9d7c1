// The window function `fill`: what is missing lies on the line through the points beside it.
#ifndef HEADRACE_PASSES_IMPORT_INTERPOLATION_H
#define HEADRACE_PASSES_IMPORT_INTERPOLATION_H

#include "passes/import/Deviations.h"

#include <array>

namespace headrace::import {

/// Of one column: `y`, by the window's key `x`, numbers or dates, times and timestamps both.
class Interpolation {
public:
  /// The points that a row may need: before it the next and the one before that, likewise behind.
  static constexpr std::array<int64_t, 4> kPlaces = {-1, -2, 1, 2};

  Interpolation(ExpressionBuilder &builder, Expression x, Expression y, mlir::Location at)
      : b_(builder), x_(std::move(x)), y_(std::move(y)), at_(at) {}

  /// The row as a point (x, y); NULL if one of them is missing or not finite.
  MaybeExpression point();
  /// y, or where it is NULL what lies between the points at `kPlaces`, or in line with them.
  MaybeExpression filled(llvm::ArrayRef<Expression> points);

private:
  MaybeExpression isFinite(const Expression &value);
  /// What distances are of: doubles; of dates, decimals and the like their units.
  mlir::FailureOr<Real> number(const Expression &value);
  /// From `low` this share of the way to `high`, both values of y.
  MaybeExpression between(const Expression &low, const Expression &high, const Real &share);
  MaybeExpression wholeBetween(const Expression &low, const Expression &high, const Real &share);
  /// Likewise of integers of 128 bits.
  MaybeExpression wideBetween(const Expression &low, const Expression &high, const Real &share);
  /// `inside` of shares from 0 to 1.
  Expression whereBetween(const Real &share, const Expression &inside, const Expression &outside);
  /// The units of y as a value.
  MaybeExpression ofUnits(const Expression &units);
  Expression choose(frame::CompareKind kind, const Real &a, const Real &b, const Expression &value,
                    const Expression &otherwise);

  ExpressionBuilder &b_;
  Expression x_, y_;
  mlir::Location at_;
};

} // namespace headrace::import

#endif // HEADRACE_PASSES_IMPORT_INTERPOLATION_H
