// Doubles by a power of ten that each row computes; integers by a choice among all numbers of
// digits.
#include "passes/import/duckdb/round_by_column.h"

#include "passes/import/Deviations.h"
#include "runtime/base/math_functions.h"

using namespace mlir;
using namespace headrace::import;
namespace frame = headrace::frame;

using Kind = frame::CompareKind;
using Function = frame::NumberFunction;

MaybeExpression headrace::import::duckdb::realByColumn(ExpressionBuilder &b, Function function,
                                                       const Expression &value,
                                                       const Expression &digits, Type type,
                                                       Location at) {
  Type real = Float64Type::get(b.getContext());
  MaybeExpression wide = b.cast(value, real, at), number = b.cast(digits, real, at);
  if (failed(wide) || failed(number)) {
    return failure();
  }
  Real given(b, *wide, at), places(b, *number, at);
  MaybeExpression power =
      b.math(*headrace::mathFunctionNamed("power"),
             {given.constant(10).expression(), places.apply(Function::Abs).expression()}, real, at);
  MaybeExpression isBefore = b.compare(Kind::Lt, *number, given.constant(0).expression(), at);
  if (failed(power) || failed(isBefore)) {
    return failure();
  }
  Real unit(b, *power, at);
  Expression behind = ((given * unit).apply(function) / unit).expression();
  MaybeExpression cut =
      b.choose(*isBefore, ((given / unit).apply(function) * unit).expression(), &behind, at);
  // A number that has no such digits is as it was; rounded to more than it has before the point, 0.
  MaybeExpression none = given.expression();
  if (function == Function::Round) {
    MaybeExpression isNumber = b.isNotNull(finite(given).expression(), at);
    MaybeExpression isSmall = failed(isNumber) ? isNumber
                                               : b.connect(ExpressionBuilder::Connective::kAnd,
                                                           {*isBefore, *isNumber}, at);
    none =
        failed(isSmall) ? isSmall : b.choose(*isSmall, given.constant(0).expression(), &*none, at);
  }
  if (failed(cut) || failed(none)) {
    return failure();
  }
  MaybeExpression known = b.coalesce({finite(Real(b, *cut, at)).expression(), *none}, at);
  // NULL digits make neither of them one.
  MaybeExpression all =
      failed(known) ? known : b.choose(b.isNull(digits, at), b.null(real, at), &*known, at);
  return failed(all) ? all : b.cast(*all, type, at);
}

MaybeExpression
headrace::import::duckdb::integerByColumn(ExpressionBuilder &b, const Expression &value,
                                          const Expression &digits, Type type, Location at,
                                          llvm::function_ref<MaybeExpression(int64_t)> cut) {
  Type i64 = IntegerType::get(b.getContext(), 64);
  // No integer of 128 bits has more digits.
  constexpr int64_t kPlacesMax = 39;
  MaybeExpression number = b.cast(digits, i64, at);
  MaybeExpression same = b.cast(value, type, at), nothing = cut(-kPlacesMax - 1);
  if (failed(number) || failed(same) || failed(nothing)) {
    return failure();
  }
  SmallVector<Expression> conditions = {b.isNull(digits, at)};
  SmallVector<Expression> values = {b.null(type, at)};
  auto add = [&](Kind kind, int64_t bound, const MaybeExpression &then) {
    MaybeExpression condition = b.compare(kind, *number, b.integer(bound, i64, at), at);
    if (failed(condition) || failed(then)) {
      return failure();
    }
    conditions.push_back(*condition);
    values.push_back(*then);
    return success();
  };
  if (failed(add(Kind::Ge, 0, same))) {
    return failure();
  }
  // A digit takes more than three bits.
  const int64_t places = frame::integerBits(frame::dropNullable(value.type())) / 3;
  for (int64_t digit = 1; digit <= std::min(places, kPlacesMax); ++digit) {
    if (failed(add(Kind::Eq, -digit, cut(-digit)))) {
      return failure();
    }
  }
  return b.choose(conditions, values, &*nothing, at);
}
