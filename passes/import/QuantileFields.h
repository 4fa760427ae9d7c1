// Expressions for quantiles, over what windows say of each row.
#ifndef HEADRACE_PASSES_IMPORT_QUANTILEFIELDS_H
#define HEADRACE_PASSES_IMPORT_QUANTILEFIELDS_H

#include "passes/import/Deviations.h"
#include "passes/import/RelationBuilder.h"

namespace headrace::import {

/// Fields of a row: its number in the order (from 1), how many values its group has, and the value
/// of the next row where quantiles interpolate.
class QuantileFields {
public:
  QuantileFields(const Quantile &quantile, int64_t firstField, mlir::Location at)
      : quantile_(quantile), firstField_(firstField), at_(at) {}

  /// Whether the row is the one of the quantile, or in front of it.
  MaybeExpression isAt(ExpressionBuilder &b) const;
  /// For that row: between its `value` and the next one's, as DuckDB computes it. `type` is a float
  /// a decimal of at most 15 digits, an interval, or what has units between which it is rounded.
  MaybeExpression between(ExpressionBuilder &b, const Expression &value, mlir::Type type) const;

private:
  /// From an interval this share of the way to the next row's.
  MaybeExpression stepped(ExpressionBuilder &b, const Expression &value, const Real &share) const;
  /// Where the quantile lies: from 0, with a fraction if it interpolates.
  Real place(ExpressionBuilder &b) const;

  Quantile quantile_;
  int64_t firstField_;
  mlir::Location at_;
};

/// A share as SQL has it: a negative one counts from the other end.
struct SignedShare {
  headrace::QuantileShare share;
  bool isNegative;
};
/// The share that a constant says; nothing if it is none from -1 to 1.
std::optional<SignedShare> shareOf(mlir::Attribute constant, mlir::Type type);

/// What a quantile of values of this type is, of which not all have values between them.
QuantileKind quantileKind(QuantileKind wanted, mlir::Type type);
/// Of values of this type the one in the middle, or between the two there.
Quantile medianOf(mlir::Type type);
/// The median of how far a list's elements, numbers, times or timestamps of microseconds, are from
/// their median, as `type`, a number or an interval; NULL of none.
MaybeExpression deviationOfList(ExpressionBuilder &b, const Expression &list, mlir::Type type,
                                mlir::Location at);

/// The quantile of a list's elements, as `type`; NULL of none.
MaybeExpression quantileOfList(ExpressionBuilder &b, const Expression &list,
                               const Quantile &quantile, mlir::Type type, mlir::Location at);
/// Likewise a list, of this type, of several.
MaybeExpression quantilesOfList(ExpressionBuilder &b, const Expression &list,
                                llvm::ArrayRef<Quantile> quantiles, mlir::Type type,
                                mlir::Location at);

} // namespace headrace::import

#endif // HEADRACE_PASSES_IMPORT_QUANTILEFIELDS_H
