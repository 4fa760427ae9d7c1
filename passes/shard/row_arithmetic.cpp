// Ops of `frame` with result types as their verifiers want them.
#include "passes/shard/row_arithmetic.h"

using namespace mlir;
using namespace headrace::frame;

namespace headrace::shard {

Type RowArithmetic::typeLike(Type like, bool nullable) {
  Type plain = dropNullable(like);
  return nullable ? addNullable(plain) : plain;
}

Value RowArithmetic::number(int64_t value) {
  return ConstantOp::create(b_, loc_, b_.getI64Type(), b_.getI64IntegerAttr(value));
}

Value RowArithmetic::real(double value) {
  return ConstantOp::create(b_, loc_, b_.getF64Type(), b_.getF64FloatAttr(value));
}

Value RowArithmetic::real(Value value) { return CastOp::create(b_, loc_, b_.getF64Type(), value); }

Value RowArithmetic::count(StringAttr name) { return firstOf({column(name), number(0)}); }

Value RowArithmetic::compare(CompareKind kind, Value a, Value b) {
  bool nullable = isNullable(a.getType()) || isNullable(b.getType());
  return CompareOp::create(b_, loc_, typeLike(b_.getI1Type(), nullable), kind, a, b);
}

Value RowArithmetic::choose(Value condition, Value then, Value otherwise) {
  bool nullable = isNullable(then.getType()) || isNullable(otherwise.getType());
  return CaseOp::create(b_, loc_, typeLike(then.getType(), nullable), condition, then, otherwise);
}

Value RowArithmetic::isNot(Value condition) {
  return NotOp::create(b_, loc_, condition.getType(), condition);
}

Value RowArithmetic::isKnown(Value value) {
  return isNot(IsNullOp::create(b_, loc_, b_.getI1Type(), value));
}

Value RowArithmetic::fold(AggregateFunction function, Value a, Value b) {
  if (function == AggregateFunction::Sum) {
    return firstOf({plus(a, b), a, b});
  }
  CompareKind wins = function == AggregateFunction::Min ? CompareKind::Lt : CompareKind::Gt;
  return choose(compare(wins, b, a), b, firstOf({a, b}));
}

Value RowArithmetic::firstOf(ValueRange values) {
  bool nullable = llvm::all_of(values, [](Value value) { return isNullable(value.getType()); });
  return CoalesceOp::create(b_, loc_, typeLike(values.front().getType(), nullable), values);
}

} // namespace headrace::shard
