// Functions of numbers and strings, and casts between values and text, as scalar ops of bodies.
#include "passes/form/expressions.h"

#include "dialects/interfaces/DiagnosticKind.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/analysis/double_double.h"

#include <algorithm>
#include <limits>

using namespace mlir;

namespace headrace::form {

Value ExpressionTranslator::real(double value) {
  return arith::ConstantOp::create(b_, loc_, b_.getF64FloatAttr(value));
}

// ---- numbers ----

Scalar ExpressionTranslator::absolute(const Scalar &input) {
  Scalar out = input;
  if (frame::isFloat(input.type)) {
    out.value = math::AbsFOp::create(b_, loc_, input.value);
    return out;
  }
  Range range = input.range ? *input.range : *typeRange(input.type);
  const __int128 least = -std::numeric_limits<__int128>::max(); // that has an opposite
  const bool hasLowest = range.low < least;
  __int128 most = std::max(range.high, range.low < 0 ? -std::max(range.low, least) : range.low);
  Range result{0, most}, bounds = *typeRange(input.type);
  unsigned bits = std::max(bitsFor(result), widthOf(input.value));
  Value x = toWidth(input.value, bits), zero = integer(0, bits);
  Value negative = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::slt, x, zero);
  out.value =
      arith::SelectOp::create(b_, loc_, negative, arith::SubIOp::create(b_, loc_, zero, x), x);
  if (most > bounds.high) {
    failUnlessFits(out.value, bounds, input.valid);
    result.high = bounds.high;
  }
  if (hasLowest) {
    failUnlessFits(out.value, result, input.valid);
  }
  return conform(out, result);
}

Value ExpressionTranslator::truncated(Value value) {
  // From 2^52 on a double is whole already, and no i64 may hold it.
  constexpr double kWhole = 4503599627370496.0;
  Value magnitude = math::AbsFOp::create(b_, loc_, value);
  Value small = arith::CmpFOp::create(b_, loc_, arith::CmpFPredicate::OLT, magnitude, real(kWhole));
  Value safe = arith::SelectOp::create(b_, loc_, small, value, real(0));
  Value whole = arith::SIToFPOp::create(b_, loc_, b_.getF64Type(),
                                        arith::FPToSIOp::create(b_, loc_, b_.getI64Type(), safe));
  whole = math::CopySignOp::create(b_, loc_, whole, value); // -0.5 is -0
  return arith::SelectOp::create(b_, loc_, small, whole, value);
}

Value ExpressionTranslator::nearest(Value value) {
  Value whole = truncated(value);
  Value rest = arith::SubFOp::create(b_, loc_, value, whole);
  for (auto [predicate, bound] :
       {std::pair(arith::CmpFPredicate::OGE, 0.5), std::pair(arith::CmpFPredicate::OLE, -0.5)}) {
    Value past = arith::CmpFOp::create(b_, loc_, predicate, rest, real(bound));
    Value next = arith::AddFOp::create(b_, loc_, whole, real(2 * bound));
    whole = arith::SelectOp::create(b_, loc_, past, next, whole);
  }
  return whole;
}

Value ExpressionTranslator::nearestEven(Value value) {
  // Added to 2^52 a double has no place for a fraction, and the addition rounds to even.
  constexpr double kWhole = 4503599627370496.0;
  Value magnitude = math::AbsFOp::create(b_, loc_, value);
  Value small = arith::CmpFOp::create(b_, loc_, arith::CmpFPredicate::OLT, magnitude, real(kWhole));
  Value shifted = arith::AddFOp::create(b_, loc_, magnitude, real(kWhole));
  Value whole = arith::SubFOp::create(b_, loc_, shifted, real(kWhole));
  whole = math::CopySignOp::create(b_, loc_, whole, value);
  return arith::SelectOp::create(b_, loc_, small, whole, value);
}

Value ExpressionTranslator::toReal(Value value) {
  return widthOf(value) == 128 ? Value(pipe::ToFloatOp::create(b_, loc_, b_.getF64Type(), value))
                               : Value(arith::SIToFPOp::create(b_, loc_, b_.getF64Type(), value));
}

Value ExpressionTranslator::nearestReal(const Scalar &number) {
  const int scale = scaleOf(number.type);
  Value high = toReal(number.value);
  if (scale == 0) {
    return high;
  }
  constexpr __int128 kExact = __int128{1} << 53; // what a double holds, as it does 10^22
  constexpr int kExactScale = 22;
  const analysis::DoubleDouble<double> power = analysis::powerOfTenInTwoParts(scale);
  const bool isExact = scale <= kExactScale && number.range && number.range->low >= -kExact &&
                       number.range->high <= kExact;
  if (isExact) {
    return arith::DivFOp::create(b_, loc_, high, real(power.high));
  }
  Value whole = widthOf(number.value) == 128
                    ? wholeOf(high)
                    : Value(arith::FPToSIOp::create(b_, loc_, number.value.getType(), high));
  Value low = toReal(arith::SubIOp::create(b_, loc_, number.value, whole));
  return analysis::quotientOf(analysis::Generating{b_, loc_}, {high, low},
                              {real(power.high), real(power.low)});
}

Scalar ExpressionTranslator::mean(const Scalar &sum, const Scalar &count) {
  Scalar out;
  out.type = b_.getF64Type();
  out.valid = andValues(sum.valid, count.valid);
  Value power = real(static_cast<double>(powerOfTen(scaleOf(sum.type))));
  Value divisor = arith::MulFOp::create(b_, loc_, toReal(count.value), power);
  out.value = arith::DivFOp::create(b_, loc_, toReal(sum.value), divisor);
  return out;
}

Value ExpressionTranslator::wholeOf(Value value) {
  // Without its sign in two parts of 64 bits; a double has fewer bits than that, so both are exact.
  constexpr double kPart = 0x1p64;
  Type i64 = b_.getI64Type(), i128 = b_.getIntegerType(128);
  Value magnitude = math::AbsFOp::create(b_, loc_, value);
  Value high = truncated(arith::DivFOp::create(b_, loc_, magnitude, real(kPart)));
  Value low = arith::SubFOp::create(b_, loc_, magnitude,
                                    arith::MulFOp::create(b_, loc_, high, real(kPart)));
  auto whole = [&](Value part) -> Value {
    return arith::ExtUIOp::create(b_, loc_, i128, arith::FPToUIOp::create(b_, loc_, i64, part));
  };
  Value shifted = arith::ShLIOp::create(b_, loc_, whole(high), integer(64, 128));
  Value all = arith::OrIOp::create(b_, loc_, shifted, whole(low));
  Value negative = arith::CmpFOp::create(b_, loc_, arith::CmpFPredicate::OLT, value, real(0));
  Value opposite = arith::SubIOp::create(b_, loc_, integer(0, 128), all);
  return arith::SelectOp::create(b_, loc_, negative, opposite, all);
}

Scalar ExpressionTranslator::decimalOf(const Scalar &input, Type target) {
  Scalar out = input;
  out.type = target;
  Value x = input.type.isF32()
                ? Value(arith::ExtFOp::create(b_, loc_, b_.getF64Type(), input.value))
                : input.value;
  double power = 1;
  for (int digit = 0; digit < scaleOf(target); ++digit) {
    power *= 10;
  }
  x = nearest(arith::MulFOp::create(b_, loc_, x, real(power)));
  Range bounds = *typeRange(target);
  const double beyond = static_cast<double>(bounds.high) + 1; // all doubles below it fit
  Value fits = arith::CmpFOp::create(b_, loc_, arith::CmpFPredicate::OLT,
                                     math::AbsFOp::create(b_, loc_, x), real(beyond));
  failWhere(andValues(notValue(fits), input.valid), pipe::DataError::Overflow);
  out.value = wholeOf(arith::SelectOp::create(b_, loc_, fits, x, real(0)));
  return conform(out, bounds);
}

Scalar ExpressionTranslator::roundedReal(frame::NumberOp op, const Scalar &input) {
  using Function = frame::NumberFunction;
  Scalar out = input;
  bool narrow = input.type.isF32();
  Value x =
      narrow ? Value(arith::ExtFOp::create(b_, loc_, b_.getF64Type(), input.value)) : input.value;
  double power = 1;
  auto digits = static_cast<int64_t>(op.getDigits().value_or(0));
  for (int64_t digit = 0; digit < std::min<int64_t>(std::abs(digits), 308); ++digit) {
    power *= 10;
  }
  // A power below 1 is not exact: then by its inverse.
  auto scaled = [&](Value value, bool up) -> Value {
    if (digits == 0) {
      return value;
    }
    return up == (digits > 0) ? Value(arith::MulFOp::create(b_, loc_, value, real(power)))
                              : Value(arith::DivFOp::create(b_, loc_, value, real(power)));
  };
  Value given = x;
  x = scaled(x, true);
  Value whole = op.getFunction() == Function::Round ? nearest(x) : truncated(x);
  Value rest = arith::SubFOp::create(b_, loc_, x, whole);
  auto when = [&](arith::CmpFPredicate predicate, Value value, double bound) -> Value {
    return arith::CmpFOp::create(b_, loc_, predicate, value, real(bound));
  };
  auto stepped = [&](Value condition, double step) -> Value {
    return arith::SelectOp::create(b_, loc_, condition,
                                   arith::AddFOp::create(b_, loc_, whole, real(step)), whole);
  };
  switch (op.getFunction()) {
  case Function::Floor:
    whole = stepped(when(arith::CmpFPredicate::OLT, rest, 0), -1);
    break;
  case Function::Ceiling:
    whole = stepped(when(arith::CmpFPredicate::OGT, rest, 0), 1);
    break;
  default:
    break;
  }
  whole = scaled(whole, false);
  if (digits > 0) { // a number that the power makes infinite has no such digits
    whole = arith::SelectOp::create(b_, loc_, isInfinite(x), given, whole);
  }
  out.value = narrow ? Value(arith::TruncFOp::create(b_, loc_, input.type, whole)) : whole;
  return out;
}

FailureOr<Scalar> ExpressionTranslator::roundedInteger(frame::NumberOp op, const Scalar &input) {
  using Function = frame::NumberFunction;
  Type type = frame::dropNullable(op.getResult().getType());
  int scale = scaleOf(input.type), target = scaleOf(type);
  auto digits = std::clamp<int64_t>(static_cast<int64_t>(op.getDigits().value_or(0)), -38, scale);
  if (scale - digits > 38) {
    return unsupported(op.emitError("rounds away more than 38 digits: ")) << digits;
  }
  Scalar out = input;
  out.type = type;
  Range range = input.range ? *input.range : *typeRange(input.type);
  if (scale > digits) {
    __int128 divisor = powerOfTen(scale - static_cast<int>(digits));
    unsigned bits = std::max({64u, widthOf(input.value), bitsFor(Range{0, divisor})});
    Value x = toWidth(input.value, bits), by = integer(divisor, bits);
    Value quotient = bits == 128 ? divideWide(x, 1, by).getResult()
                                 : Value(arith::DivSIOp::create(b_, loc_, x, by));
    Value rest = arith::SubIOp::create(b_, loc_, x, arith::MulIOp::create(b_, loc_, quotient, by));
    auto step = [&](arith::CmpIPredicate predicate, __int128 bound, bool up) {
      Value past = arith::CmpIOp::create(b_, loc_, predicate, rest, integer(bound, bits));
      Value one = arith::ExtUIOp::create(b_, loc_, b_.getIntegerType(bits), past);
      quotient = up ? Value(arith::AddIOp::create(b_, loc_, quotient, one))
                    : Value(arith::SubIOp::create(b_, loc_, quotient, one));
    };
    switch (op.getFunction()) {
    case Function::Floor:
      step(arith::CmpIPredicate::slt, 0, false);
      break;
    case Function::Ceiling:
      step(arith::CmpIPredicate::sgt, 0, true);
      break;
    case Function::Round:
      step(arith::CmpIPredicate::sge, divisor / 2, true); // powers of ten are even
      step(arith::CmpIPredicate::sle, -(divisor / 2), false);
      break;
    default:
      break;
    }
    out.value = quotient;
    range = Range{range.low / divisor - 1, range.high / divisor + 1};
  }
  out.range = range;
  out = conform(out, range);
  out.type = type;
  // It counts units of 10^-digits.
  out = rescale(out, static_cast<int>(digits), target, type);
  Range bounds = *typeRange(type);
  bool proven = out.range && out.range->low >= bounds.low && out.range->high <= bounds.high;
  if (!proven) {
    failUnlessFits(toWidth(out.value, 128), bounds, input.valid);
    out = conform(out, bounds);
  }
  return out;
}

FailureOr<Scalar> ExpressionTranslator::number(frame::NumberOp op) {
  Scalar input = scalars_.lookup(op.getOperand());
  switch (op.getFunction()) {
  case frame::NumberFunction::Abs:
    return absolute(input);
  case frame::NumberFunction::Sqrt:
    input.value = math::SqrtOp::create(b_, loc_, input.value);
    return input;
  default:
    return frame::isFloat(input.type) ? FailureOr<Scalar>(roundedReal(op, input))
                                      : roundedInteger(op, input);
  }
}

/// As the function of this name of math_functions.cpp.
Value ExpressionTranslator::scrambled(Value number, Value seed) {
  auto constant = [&](uint64_t value) { return integer(static_cast<int64_t>(value), 64); };
  auto shifted = [&](Value bits, unsigned by) -> Value {
    return arith::ShRUIOp::create(b_, loc_, bits, constant(by));
  };
  auto folded = [&](Value bits, unsigned by) -> Value {
    return arith::XOrIOp::create(b_, loc_, bits, shifted(bits, by));
  };
  auto mixed = [&](Value bits) {
    bits = arith::MulIOp::create(b_, loc_, folded(bits, 30), constant(0xbf58476d1ce4e5b9));
    bits = arith::MulIOp::create(b_, loc_, folded(bits, 27), constant(0x94d049bb133111eb));
    return folded(bits, 31);
  };
  Value golden = constant(0x9e3779b97f4a7c15);
  Value chosen = mixed(arith::AddIOp::create(b_, loc_, seed, golden));
  Value place = arith::MulIOp::create(b_, loc_, number, golden);
  return shifted(mixed(arith::AddIOp::create(b_, loc_, chosen, place)), 12);
}

Scalar ExpressionTranslator::math(frame::MathOp op) {
  bool real = frame::isFloat(op.getResult().getType());
  const unsigned bits = frame::integerBits(op.getResult().getType());
  Scalar out;
  SmallVector<Value> operands;
  for (Value operand : op.getOperands()) {
    const Scalar &scalar = scalars_.lookup(operand);
    operands.push_back(real ? scalar.value : toWidth(scalar.value, bits));
    out.valid = andValues(out.valid, scalar.valid);
  }
  if (real) {
    out.type = b_.getF64Type();
    out.value = pipe::MathOp::create(b_, loc_, out.type, op.getFunction(), operands);
    return out;
  }
  out.type = b_.getIntegerType(bits);
  if (op.getFunction() == "scramble" && bits == 64) { // never fails, and a call takes longer
    out.value = scrambled(operands[0], operands[1]);
    return out;
  }
  auto computed =
      pipe::IntegerMathOp::create(b_, loc_, out.type, b_.getI1Type(), op.getFunction(), operands);
  failWhere(andValues(computed.getOverflow(), out.valid), pipe::DataError::Overflow);
  out.value = computed.getResult();
  return out;
}

// ---- sums of two doubles ----

Scalar ExpressionTranslator::exactProduct(frame::ExactProductOp op) {
  Scalar out = scalars_.lookup(op.getLhs());
  const Scalar &by = scalars_.lookup(op.getRhs());
  analysis::Generating on{b_, loc_};
  out.type = frame::dropNullable(op.getResult().getType());
  out.value = on.pack(analysis::productOf(on, out.value, by.value));
  out.valid = andValues(out.valid, by.valid);
  return out;
}

Scalar ExpressionTranslator::nearest(frame::NearestOp op) {
  Scalar out = scalars_.lookup(op.getSum());
  analysis::Generating on{b_, loc_};
  out.type = frame::dropNullable(op.getResult().getType());
  out.value = on.unpack(out.value).high;
  return out;
}

Scalar ExpressionTranslator::comoment(frame::ComomentOp op) {
  const Scalar &sum = scalars_.lookup(op.getSum()), &other = scalars_.lookup(op.getOther());
  const Scalar &products = scalars_.lookup(op.getProducts());
  const Scalar &rows = scalars_.lookup(op.getCount());
  analysis::Generating on{b_, loc_};
  Value count = arith::SIToFPOp::create(b_, loc_, b_.getF64Type(), rows.value);
  auto [scaled, least] = analysis::deviationsOf(on, on.unpack(sum.value), on.unpack(other.value),
                                                on.unpack(products.value), count);
  // Squares are never negative.
  Value size = op.isOfSquares() ? scaled : Value(math::AbsFOp::create(b_, loc_, scaled));
  Value isNoise = arith::CmpFOp::create(b_, loc_, arith::CmpFPredicate::OLT, size,
                                        math::AbsFOp::create(b_, loc_, least));
  Scalar out;
  out.type = frame::dropNullable(op.getResult().getType());
  out.value = arith::DivFOp::create(b_, loc_, selectValue(isNoise, real(0), scaled), count);
  out.valid = andValues(andValues(sum.valid, other.valid), andValues(products.valid, rows.valid));
  return out;
}

// ---- strings ----

Scalar ExpressionTranslator::text(frame::TextOp op) {
  const TextFunction &function = *textFunctionNamed(op.getFunction());
  Value valid;
  SmallVector<Value> operands;
  for (auto [index, operand] : llvm::enumerate(op.getOperands())) {
    const Scalar &scalar = scalars_.lookup(operand);
    operands.push_back(function.wantsInteger(index) ? toWidth(scalar.value, 64) : scalar.value);
    valid = andValues(valid, scalar.valid);
  }
  return textOf(function, operands, valid, frame::dropNullable(op.getResult().getType()),
                pipe::DataError::Raised);
}

Scalar ExpressionTranslator::textOf(const TextFunction &function, ValueRange operands, Value valid,
                                    Type type, pipe::DataError error) {
  Scalar out;
  out.type = type;
  out.valid = valid;
  bool isText = frame::isHeldAsText(out.type);
  SmallVector<Type> types{isText ? pipe::StringType::get(b_.getContext()) : out.type};
  if (!function.error.empty()) {
    types.push_back(b_.getI1Type());
  }
  auto made = pipe::TextOp::create(b_, loc_, types, function.name, operands);
  out.value = made.getResult();
  if (made.getNone()) {
    if (error == pipe::DataError::Raised) {
      loc_ = NameLoc::get(b_.getStringAttr(function.error), loc_); // what the user is told
    }
    failWhere(andValues(made.getNone(), out.valid), error);
  }
  if (!isText && !frame::isBoolean(out.type)) {
    auto [low, high] = function.range();
    return conform(out, Range{low, high});
  }
  return out;
}

static pipe::TextForm formOf(Type type) {
  using Form = pipe::TextForm;
  return frame::isDate(type)   ? Form::Date
         : frame::isTime(type) ? Form::Time
         : frame::isTimestamp(type)
             ? (cast<frame::TimestampType>(type).getZoned() ? Form::ZonedTimestamp
                                                            : Form::Timestamp)
         : frame::isBoolean(type) ? Form::Boolean
         : type.isF64()           ? Form::Double
         : type.isF32()           ? Form::Float
                                  : Form::Integer;
}

Scalar ExpressionTranslator::toText(const Scalar &input) {
  Scalar out = input;
  out.type = frame::StringType::get(b_.getContext());
  out.range = std::nullopt;
  Value value = input.value;
  if (frame::isBoolean(input.type)) {
    value = arith::ExtUIOp::create(b_, loc_, b_.getIntegerType(128), value);
  } else if (!frame::isFloat(input.type)) {
    value = toWidth(value, 128);
  }
  out.value = pipe::PrintOp::create(b_, loc_, pipe::StringType::get(b_.getContext()),
                                    formOf(input.type), value, scaleOf(input.type));
  auto decimal = dyn_cast<frame::DecimalType>(input.type);
  if (decimal && decimal.getPrecision() == decimal.getScale()) { // nothing in front of the point
    auto literal = [&](StringRef text) -> Value {
      return pipe::LiteralOp::create(b_, loc_, pipe::StringType::get(b_.getContext()),
                                     b_.getStringAttr(text));
    };
    out.value = callText("replace", {out.value, literal("0."), literal(".")});
  }
  return out;
}

Scalar ExpressionTranslator::fromText(const Scalar &input, Type target) {
  Scalar out = input;
  out.type = target;
  Type parsed = frame::isFloat(target) ? target : Type(b_.getIntegerType(128));
  auto parse = pipe::ParseOp::create(b_, loc_, TypeRange{parsed, b_.getI1Type()}, formOf(target),
                                     input.value, scaleOf(target));
  failWhere(andValues(notValue(parse.getValid()), input.valid), pipe::DataError::InvalidCast);
  out.value = parse.getValue();
  if (frame::isFloat(target)) {
    out.range = std::nullopt;
    return out;
  }
  if (frame::isBoolean(target)) {
    out.range = std::nullopt;
    out.value =
        arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::ne, out.value, integer(0, 128));
    return out;
  }
  Range bounds = *typeRange(target);
  failUnlessFits(out.value, bounds, input.valid);
  return conform(out, bounds);
}

} // namespace headrace::form
