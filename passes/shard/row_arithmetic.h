// Expressions over the columns of a row, with the nullability that follows from their operands.
#ifndef HEADRACE_PASSES_SHARD_ROW_ARITHMETIC_H
#define HEADRACE_PASSES_SHARD_ROW_ARITHMETIC_H

#include "dialects/frame/Expression.h"

namespace headrace::shard {

/// Builds ops into an expression region; numbers are i64 where nothing else is said.
class RowArithmetic {
public:
  RowArithmetic(frame::RegionBuilder &inside, mlir::Location location)
      : inside_(inside), b_(inside.builder()), loc_(location) {}

  mlir::Value column(mlir::StringAttr name) { return inside_.column(name); }
  mlir::Value number(int64_t value);
  mlir::Value real(double value);
  mlir::Value real(mlir::Value value);
  /// A column with a number of rows: 0 for NULL.
  mlir::Value count(mlir::StringAttr name);
  mlir::Value plus(mlir::Value a, mlir::Value b) { return apply<frame::AddOp>(a, b); }
  mlir::Value minus(mlir::Value a, mlir::Value b) { return apply<frame::SubtractOp>(a, b); }
  mlir::Value times(mlir::Value a, mlir::Value b) { return apply<frame::MultiplyOp>(a, b); }
  mlir::Value over(mlir::Value a, mlir::Value b) { return apply<frame::DivideOp>(a, b); }
  mlir::Value rest(mlir::Value a, mlir::Value b) { return apply<frame::ModulusOp>(a, b); }
  mlir::Value compare(frame::CompareKind kind, mlir::Value a, mlir::Value b);
  mlir::Value choose(mlir::Value condition, mlir::Value then, mlir::Value otherwise);
  mlir::Value isNot(mlir::Value condition);
  mlir::Value isKnown(mlir::Value value);
  /// The first that is not NULL.
  mlir::Value firstOf(mlir::ValueRange values);
  mlir::Value either(mlir::Value a, mlir::Value b) { return inside_.anyOf(loc_, {a, b}); }
  mlir::Value both(mlir::Value a, mlir::Value b) { return inside_.allOf(loc_, {a, b}); }
  /// What sums, least or greatest of two parts are together; NULL, of a part without values, counts
  /// for nothing.
  mlir::Value fold(frame::AggregateFunction function, mlir::Value a, mlir::Value b);

private:
  /// The type of `like`, nullable if `nullable`.
  static mlir::Type typeLike(mlir::Type like, bool nullable);
  template <typename Op> mlir::Value apply(mlir::Value a, mlir::Value b) {
    bool nullable = frame::isNullable(a.getType()) || frame::isNullable(b.getType());
    return Op::create(b_, loc_, typeLike(a.getType(), nullable), a, b);
  }

  frame::RegionBuilder &inside_;
  mlir::OpBuilder &b_;
  mlir::Location loc_;
};

} // namespace headrace::shard

#endif // HEADRACE_PASSES_SHARD_ROW_ARITHMETIC_H
