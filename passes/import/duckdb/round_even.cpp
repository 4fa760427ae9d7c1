// Doubles as C's nearbyint of their multiple; whole numbers and decimals by what is left of a unit.
#include "passes/import/duckdb/round_even.h"

#include "dialects/frame/FrameConstants.h"
#include "passes/import/ConstantCasts.h"
#include "passes/import/Deviations.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace headrace::import;
namespace frame = headrace::frame;

using Arithmetic = ExpressionBuilder::Arithmetic;
using Function = frame::NumberFunction;

/// A double that is halfway between two whole ones is twice its half, rounded: that lies nearer to
/// one of them.
static MaybeExpression wholeOf(ExpressionBuilder &b, const Real &value, Location at) {
  Real away = (value - value.apply(Function::Truncate)).apply(Function::Abs);
  MaybeExpression isHalf =
      b.compare(frame::CompareKind::Eq, away.expression(), value.constant(0.5).expression(), at);
  Real even = (value * value.constant(0.5)).apply(Function::Round) * value.constant(2);
  Expression nearest = value.apply(Function::Round).expression();
  return failed(isHalf) ? isHalf : b.choose(*isHalf, even.expression(), &nearest, at);
}

static MaybeExpression ofReal(ExpressionBuilder &b, const Expression &value, int64_t digits,
                              Type type, Location at) {
  MaybeExpression wide = b.cast(value, Float64Type::get(b.getContext()), at);
  if (failed(wide)) {
    return failure();
  }
  Real given(b, *wide, at);
  Real unit = given.constant(std::pow(10.0, static_cast<double>(std::abs(digits))));
  MaybeExpression whole = wholeOf(b, digits < 0 ? given / unit : given * unit, at);
  if (failed(whole)) {
    return failure();
  }
  Real rounded(b, *whole, at);
  const bool isNone = digits < -std::numeric_limits<double>::max_exponent10; // of any double
  Real back = isNone ? rounded : digits < 0 ? rounded * unit : rounded / unit;
  // Where that is no number, it is as it was.
  MaybeExpression known = b.coalesce({finite(back).expression(), given.expression()}, at);
  return failed(known) ? known : b.cast(*known, type, at);
}

namespace {

/// Of whole units, which are integers of 128 bits or decimals of 38 digits.
class WholeUnits {
public:
  WholeUnits(ExpressionBuilder &b, Type type, Location at) : b_(b), type_(type), at_(at) {}

  static constexpr int64_t kDigitsMax = 38;

  /// Without so many digits at the end, at most 38.
  Expression rounded(const Expression &value, int64_t away) const;
  Expression none(const Expression &value) const {
    return compute(Arithmetic::kSubtract, value, value);
  }

private:
  static llvm::APInt power(int64_t digits) {
    return powerOfTen(static_cast<unsigned>(digits), frame::kLiteralBits);
  }
  Expression units(const llvm::APInt &number) const {
    return b_.constant(frame::literalAttr(number, type_), type_, at_);
  }
  Expression compute(Arithmetic op, const Expression &x, const Expression &y) const {
    return *b_.arithmetic(op, x, y, type_, at_);
  }
  Expression is(frame::CompareKind kind, const Expression &x, const Expression &y) const {
    return *b_.compare(kind, x, y, at_);
  }
  Expression either(const Expression &condition, const Expression &x, const Expression &y) const {
    return *b_.choose(condition, x, &y, at_);
  }

  ExpressionBuilder &b_;
  Type type_;
  Location at_;
};

Expression WholeUnits::rounded(const Expression &value, int64_t away) const {
  using Connective = ExpressionBuilder::Connective;
  using Kind = frame::CompareKind;
  const llvm::APInt unit = power(away);
  const bool fits = away < kDigitsMax; // twice as well
  const Expression zero = units(llvm::APInt(frame::kLiteralBits, 0));
  const Expression half = units(power(away - 1) * 5);
  const bool isWhole = !fits && isa<frame::DecimalType>(type_); // less than a unit
  Expression rest = isWhole ? value : compute(Arithmetic::kModulus, value, units(unit));
  Expression near = compute(Arithmetic::kSubtract, value, rest);
  Expression magnitude =
      either(is(Kind::Lt, rest, zero), compute(Arithmetic::kSubtract, zero, rest), rest);
  Expression odd = fits ? compute(Arithmetic::kModulus, near, units(unit * 2)) : near;
  Expression isOdd = is(Kind::Ne, odd, zero), isHalf = is(Kind::Eq, magnitude, half);
  Expression goesOn = *b_.connect(Connective::kAnd, {isHalf, isOdd}, at_);
  Expression isUp = *b_.connect(Connective::kOr, {is(Kind::Gt, magnitude, half), goesOn}, at_);
  if (isWhole) {
    Expression error = *b_.raise(frame::RaiseKind::User, "overflow in round_even", type_, at_);
    return either(isUp, error, near);
  }
  Expression step = either(is(Kind::Lt, value, zero), units(-unit), units(unit));
  return compute(Arithmetic::kAdd, near, either(isUp, step, zero));
}

} // namespace

MaybeExpression headrace::import::duckdb::roundedToEven(ExpressionBuilder &b,
                                                        const Expression &value, int64_t digits,
                                                        Type type, Location at) {
  Type given = frame::dropNullable(value.type());
  if (frame::isFloat(given)) {
    return ofReal(b, value, digits, type, at);
  }
  auto decimal = dyn_cast<frame::DecimalType>(given);
  Type wide = decimal ? Type(frame::DecimalType::get(b.getContext(), WholeUnits::kDigitsMax,
                                                     decimal.getScale()))
                      : Type(IntegerType::get(b.getContext(), 128));
  MaybeExpression whole = b.cast(value, wide, at);
  const int64_t away = (decimal ? decimal.getScale() : 0) - digits;
  if (failed(whole) || away <= 0) {
    return failed(whole) ? whole : b.cast(*whole, type, at);
  }
  WholeUnits number(b, wide, at);
  return b.cast(away > WholeUnits::kDigitsMax ? number.none(*whole) : number.rounded(*whole, away),
                type, at);
}
