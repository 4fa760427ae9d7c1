// See expressions.h. Widths are chosen per operation: an operation is carried out at the width that
// holds its operands and its result by proof, else at 128 bits with a check.
#include "passes/form/expressions.h"

#include "dialects/frame/LogicalTypes.h"
#include "dialects/interfaces/DiagnosticKind.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "runtime/base/byte_types.h"
#include "llvm/Support/raw_ostream.h"

#include <limits>

using namespace mlir;

namespace headrace::form {

namespace {

constexpr __int128 kMax128 = static_cast<__int128>(~static_cast<unsigned __int128>(0) >> 1);

APInt wideConstant(__int128 value, unsigned bits) {
  uint64_t words[2] = {static_cast<uint64_t>(value), static_cast<uint64_t>(value >> 64)};
  return APInt(128, words).trunc(bits);
}

__int128 fromAPInt(const APInt &value) {
  APInt wide = value.sextOrTrunc(128);
  return (static_cast<__int128>(wide.extractBitsAsZExtValue(64, 64)) << 64) |
         wide.extractBitsAsZExtValue(64, 0);
}

/// Interval arithmetic that gives nothing when a bound leaves 128 bits.
std::optional<Range> addRanges(const Range &a, const Range &b) {
  Range out;
  if (__builtin_add_overflow(a.low, b.low, &out.low) ||
      __builtin_add_overflow(a.high, b.high, &out.high)) {
    return std::nullopt;
  }
  return out;
}
std::optional<Range> negateRange(const Range &a) {
  if (a.low < -kMax128) {
    return std::nullopt;
  }
  return Range{-a.high, -a.low};
}

} // namespace

__int128 powerOfTen(int exponent) {
  __int128 power = 1;
  for (int digit = 0; digit < exponent; ++digit) {
    power *= 10;
  }
  return power;
}

std::optional<Range> multiplyRanges(const Range &a, const Range &b) {
  __int128 corners[4];
  if (__builtin_mul_overflow(a.low, b.low, &corners[0]) ||
      __builtin_mul_overflow(a.low, b.high, &corners[1]) ||
      __builtin_mul_overflow(a.high, b.low, &corners[2]) ||
      __builtin_mul_overflow(a.high, b.high, &corners[3])) {
    return std::nullopt;
  }
  return Range{*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}

unsigned widthOf(Value value) { return value.getType().getIntOrFloatBitWidth(); }

int scaleOf(Type type) { return static_cast<int>(frame::scaleOf(type)); }

bool isIntegral(Type type) {
  return frame::isInteger(type) || frame::isDecimal(type) || frame::isTemporal(type);
}

std::optional<Range> hull(const std::optional<Range> &a, const std::optional<Range> &b) {
  if (!a || !b) {
    return std::nullopt;
  }
  return Range{std::min(a->low, b->low), std::max(a->high, b->high)};
}

unsigned bitsFor(const Range &range) {
  if (range.low >= INT32_MIN && range.high <= INT32_MAX) {
    return 32;
  }
  return range.low >= INT64_MIN && range.high <= INT64_MAX ? 64 : 128;
}

std::optional<Range> typeRange(Type type) {
  type = frame::dropNullable(type);
  if (auto decimal = dyn_cast<frame::DecimalType>(type)) {
    __int128 bound = powerOfTen(decimal.getPrecision()) - 1;
    return Range{-bound, bound};
  }
  if (unsigned bits = frame::signedBits(type)) {
    const __int128 lowest = static_cast<__int128>(-1) << (bits - 1);
    return Range{frame::isUnsigned(type) ? 0 : lowest, ~lowest};
  }
  return std::nullopt;
}

Type bodyType(Type frameType, const std::optional<Range> &range) {
  MLIRContext *context = frameType.getContext();
  frameType = frame::dropNullable(frameType);
  if (frame::isHeldAsText(frameType)) {
    return pipe::StringType::get(context);
  }
  if (frame::isTemporal(frameType)) {
    return IntegerType::get(context, frame::integerBits(frameType));
  }
  if (frame::isDoubleDouble(frameType)) {
    return IntegerType::get(context, 128);
  }
  if (isIntegral(frameType)) {
    return IntegerType::get(context, bitsFor(range ? *range : *typeRange(frameType)));
  }
  return frameType; // i1, f32, f64
}

// ---- small builders ----

Value ExpressionTranslator::i1(bool value) {
  return arith::ConstantOp::create(b_, loc_, b_.getBoolAttr(value));
}

Value ExpressionTranslator::integer(__int128 value, unsigned bits) {
  return arith::ConstantOp::create(
      b_, loc_, b_.getIntegerAttr(b_.getIntegerType(bits), wideConstant(value, bits)));
}

Value ExpressionTranslator::andValues(Value a, Value b) {
  if (!a || !b) {
    return a ? a : b;
  }
  return arith::AndIOp::create(b_, loc_, a, b);
}

Value ExpressionTranslator::notValue(Value a) {
  return arith::XOrIOp::create(b_, loc_, a, i1(true));
}

Value ExpressionTranslator::isTrue(const Scalar &scalar) {
  return andValues(scalar.value, scalar.valid);
}

Value ExpressionTranslator::selectValue(Value condition, Value a, Value b) {
  return isa<pipe::StringType>(a.getType())
             ? Value(pipe::SelectOp::create(b_, loc_, a.getType(), condition, a, b))
             : Value(arith::SelectOp::create(b_, loc_, condition, a, b));
}

Value ExpressionTranslator::toWidth(Value value, unsigned bits) {
  unsigned from = widthOf(value);
  if (from == bits) {
    return value;
  }
  Type type = b_.getIntegerType(bits);
  return from < bits ? Value(arith::ExtSIOp::create(b_, loc_, type, value))
                     : Value(arith::TruncIOp::create(b_, loc_, type, value));
}

void ExpressionTranslator::failUnlessFits(Value wide, const Range &bounds, Value valid) {
  unsigned bits = widthOf(wide);
  auto outside = [&](arith::CmpIPredicate predicate, __int128 bound) -> Value {
    return arith::CmpIOp::create(b_, loc_, predicate, wide, integer(bound, bits));
  };
  Value bad = arith::OrIOp::create(b_, loc_, outside(arith::CmpIPredicate::slt, bounds.low),
                                   outside(arith::CmpIPredicate::sgt, bounds.high));
  failWhere(andValues(bad, valid), pipe::DataError::Overflow);
}

Value ExpressionTranslator::remainder(Value a, Value b) {
  if (a.getType().isF64()) {
    return arith::RemFOp::create(b_, loc_, a, b);
  }
  // That of doubles is exact, so a float holds it.
  Type f64 = b_.getF64Type();
  Value wide = arith::RemFOp::create(b_, loc_, arith::ExtFOp::create(b_, loc_, f64, a),
                                     arith::ExtFOp::create(b_, loc_, f64, b));
  return arith::TruncFOp::create(b_, loc_, a.getType(), wide);
}

Value ExpressionTranslator::isInfinite(Value real) {
  Value magnitude = math::AbsFOp::create(b_, loc_, real);
  Value infinity = arith::ConstantOp::create(
      b_, loc_, b_.getFloatAttr(real.getType(), std::numeric_limits<double>::infinity()));
  return arith::CmpFOp::create(b_, loc_, arith::CmpFPredicate::OEQ, magnitude, infinity);
}

Scalar ExpressionTranslator::placeAlong(ArrayAttr axes) {
  Scalar out;
  out.type = b_.getI64Type();
  out.range = Range{0, INT32_MAX};
  out.value = pipe::PlaceOp::create(b_, loc_, b_.getI32Type(), axes);
  return out;
}

Scalar ExpressionTranslator::countOf(const Scalar &scalar) {
  Scalar out;
  out.type = b_.getI64Type();
  out.range = Range{0, 1};
  out.value = scalar.valid ? Value(arith::ExtUIOp::create(b_, loc_, b_.getI64Type(), scalar.valid))
                           : integer(1, 64);
  return out;
}

Scalar ExpressionTranslator::checkedToType(const Scalar &scalar) {
  Range bounds = *typeRange(scalar.type);
  failUnlessFits(scalar.value, bounds, scalar.valid);
  return conform(scalar, bounds);
}

Scalar ExpressionTranslator::asColumn(const Scalar &scalar, const std::optional<Range> &range,
                                      frame::Nullability nullability) {
  Scalar out = typeRange(scalar.type) ? conform(scalar, range) : scalar;
  if (nullability == frame::Nullability::kMaybe && !out.valid) {
    out.valid = i1(true);
  }
  return out;
}

Scalar ExpressionTranslator::nullOf(Type type, const std::optional<Range> &range) {
  Scalar out = *constant(UnitAttr::get(b_.getContext()), frame::addNullable(type));
  return typeRange(type) ? conform(out, range) : out;
}

Value ExpressionTranslator::multiply(Value a, Value b, unsigned bits, Value valid) {
  if (bits < 128) {
    return arith::MulIOp::create(b_, loc_, toWidth(a, bits), toWidth(b, bits));
  }
  auto product = pipe::MultiplyOp::create(b_, loc_, b_.getIntegerType(128), b_.getI1Type(),
                                          toWidth(a, 128), toWidth(b, 128));
  failWhere(andValues(product.getOverflow(), valid), pipe::DataError::Overflow);
  return product.getResult();
}

pipe::DivideOp ExpressionTranslator::divideWide(Value a, __int128 factor, Value b) {
  return pipe::DivideOp::create(b_, loc_, b_.getIntegerType(128), b_.getI1Type(), a,
                                integer(factor, 128), b);
}

// ---- constants and casts ----

FailureOr<Scalar> ExpressionTranslator::constant(Attribute attr, Type type) {
  Scalar out;
  out.type = frame::dropNullable(type);
  bool isNull = isa<UnitAttr>(attr);
  if (frame::isNullable(type)) {
    out.valid = i1(!isNull);
  }
  if (frame::isHeldAsText(type)) {
    StringRef text = isNull ? StringRef() : cast<StringAttr>(attr).getValue();
    out.value = pipe::LiteralOp::create(b_, loc_, pipe::StringType::get(b_.getContext()),
                                        b_.getStringAttr(text));
    return out;
  }
  if (frame::isFloat(type)) {
    double value = isNull ? 0 : cast<FloatAttr>(attr).getValueAsDouble();
    out.value = arith::ConstantOp::create(b_, loc_, b_.getFloatAttr(out.type, value));
    return out;
  }
  if (frame::isBoolean(type)) {
    bool value = !isNull && (isa<BoolAttr>(attr) ? cast<BoolAttr>(attr).getValue()
                                                 : !cast<IntegerAttr>(attr).getValue().isZero());
    out.value = i1(value);
    return out;
  }
  __int128 value = isNull ? 0 : fromAPInt(cast<IntegerAttr>(attr).getValue());
  out.range = Range{value, value};
  out.value = integer(value, bodyType(out.type, out.range).getIntOrFloatBitWidth());
  return out;
}

Scalar ExpressionTranslator::conform(const Scalar &input, const std::optional<Range> &range) {
  Scalar out = input;
  out.range = range;
  if (isIntegral(input.type)) {
    out.value = toWidth(input.value, bodyType(input.type, range).getIntOrFloatBitWidth());
  }
  return out;
}

Scalar ExpressionTranslator::rescale(const Scalar &input, int from, int to, Type type) {
  Scalar out = input;
  out.type = type;
  if (to > from) {
    __int128 factor = powerOfTen(to - from);
    std::optional<Range> range =
        input.range ? multiplyRanges(*input.range, Range{factor, factor}) : std::nullopt;
    unsigned bits = range ? std::max(bitsFor(*range), widthOf(input.value)) : 128;
    out.value = multiply(input.value, integer(factor, bits), bits, input.valid);
    out.range = range;
    return range ? conform(out, range) : out; // what the type holds is for the caller to check
  }
  if (to < from) {
    // Half away from zero.
    __int128 divisor = powerOfTen(from - to);
    unsigned bits = std::max(64u, widthOf(input.value));
    Value wide = toWidth(input.value, bits);
    Value zero = integer(0, bits);
    if (bits == 128) {
      Value quotient = divideWide(wide, 1, integer(divisor, 128)).getResult();
      Value remainder = arith::SubIOp::create(
          b_, loc_, wide, arith::MulIOp::create(b_, loc_, quotient, integer(divisor, 128)));
      Value atLeastHalf = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::sge, remainder,
                                                integer((divisor + 1) / 2, 128));
      Value atMostHalf = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::sle, remainder,
                                               integer(-((divisor + 1) / 2), 128));
      Value up = arith::ExtUIOp::create(b_, loc_, b_.getIntegerType(128), atLeastHalf);
      Value down = arith::ExtUIOp::create(b_, loc_, b_.getIntegerType(128), atMostHalf);
      out.value =
          arith::SubIOp::create(b_, loc_, arith::AddIOp::create(b_, loc_, quotient, up), down);
    } else {
      Value negative = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::slt, wide, zero);
      Value half = integer(divisor / 2, bits);
      Value minusHalf = integer(-(divisor / 2), bits);
      Value shifted = arith::AddIOp::create(
          b_, loc_, wide, arith::SelectOp::create(b_, loc_, negative, minusHalf, half));
      out.value = arith::DivSIOp::create(b_, loc_, shifted, integer(divisor, bits));
    }
    if (input.range) {
      out.range = Range{input.range->low / divisor - 1, input.range->high / divisor + 1};
    } else {
      out.range = std::nullopt;
    }
    return out.range ? conform(out, out.range) : out;
  }
  return out;
}

FailureOr<Scalar> ExpressionTranslator::cast(const Scalar &input, Type to, Operation *op) {
  Type target = frame::dropNullable(to);
  Scalar out = input;
  out.type = target;
  if (input.type == target || frame::isNested(target)) { // the same bytes
    return out;
  }
  if (frame::isHeldAsBytes(input.type) || frame::isHeldAsBytes(target)) {
    const bool parses = frame::isHeldAsBytes(target);
    Type bytes = parses ? target : input.type;
    std::string name = byteTypeOf(logicalType(bytes).kind)->functions;
    name += parses ? "_parse" : "_print";
    return textOf(*textFunctionNamed(name), input.value, input.valid, target,
                  pipe::DataError::InvalidCast);
  }
  if (frame::isString(target)) {
    return toText(input);
  }
  if (frame::isString(input.type)) {
    return fromText(input, target);
  }
  if (frame::isBoolean(input.type)) {
    out.type = b_.getI32Type();
    out.range = Range{0, 1};
    out.value = arith::ExtUIOp::create(b_, loc_, out.type, input.value);
    return cast(out, target, op);
  }
  if (frame::isTemporal(input.type) || frame::isTemporal(target)) {
    return castTemporal(input, target);
  }
  if (isIntegral(input.type) && isIntegral(target)) {
    out = rescale(input, scaleOf(input.type), scaleOf(target), target);
    Range bounds = *typeRange(target);
    bool proven = out.range && out.range->low >= bounds.low && out.range->high <= bounds.high;
    if (!proven) {
      failUnlessFits(toWidth(out.value, 128), bounds, input.valid);
      out = conform(out, bounds);
    }
    return out;
  }
  if (frame::isFloat(input.type) && frame::isFloat(target)) {
    if (target.isF64()) {
      out.value = arith::ExtFOp::create(b_, loc_, target, input.value);
      return out;
    }
    out.value = arith::TruncFOp::create(b_, loc_, target, input.value);
    // What was finite stays finite.
    Value overflows =
        arith::AndIOp::create(b_, loc_, notValue(isInfinite(input.value)), isInfinite(out.value));
    failWhere(andValues(overflows, input.valid), pipe::DataError::Overflow);
    return out;
  }
  if (frame::isFloat(target)) {
    Value real = nearestReal(input);
    if (target.isF32()) {
      real = arith::TruncFOp::create(b_, loc_, target, real);
    }
    out.value = real;
    out.range = std::nullopt;
    return out;
  }
  if (frame::isFloat(input.type) && frame::isInteger(target)) {
    // Out of range and NaN fail; 2^63 itself does not fit, or 2^64, or 2^127.
    Value real = input.value;
    if (input.type.isF32()) {
      real = arith::ExtFOp::create(b_, loc_, b_.getF64Type(), real);
    }
    real = nearestEven(real);
    Range bounds = *typeRange(target);
    auto limit = [&](double value) -> Value {
      return arith::ConstantOp::create(b_, loc_, b_.getF64FloatAttr(value));
    };
    // DuckDB's lowest HUGEINT is no double.
    auto least =
        frame::integerBits(target) == 128 ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OGE;
    Value above =
        arith::CmpFOp::create(b_, loc_, least, real, limit(static_cast<double>(bounds.low)));
    Value below = arith::CmpFOp::create(b_, loc_, arith::CmpFPredicate::OLT, real,
                                        limit(static_cast<double>(bounds.high) + 1));
    Value inside = arith::AndIOp::create(b_, loc_, above, below);
    failWhere(andValues(notValue(inside), input.valid), pipe::DataError::InvalidCast);
    out.range = bounds;
    Value safe = arith::SelectOp::create(b_, loc_, inside, real, limit(0));
    if (frame::integerBits(target) == 128) {
      out.value = wholeOf(safe);
      return out;
    }
    if (frame::isUnsigned(target)) {
      Value wide = arith::FPToUIOp::create(b_, loc_, b_.getI64Type(), safe);
      Type body = b_.getIntegerType(bitsFor(bounds));
      out.value = bitsFor(bounds) > 64 ? Value(arith::ExtUIOp::create(b_, loc_, body, wide))
                                       : toWidth(wide, bitsFor(bounds));
      return out;
    }
    Value wide = arith::FPToSIOp::create(b_, loc_, b_.getI64Type(), safe);
    out.value = toWidth(wide, bitsFor(bounds));
    return out;
  }
  if (frame::isFloat(input.type) && frame::isDecimal(target)) {
    return decimalOf(input, target);
  }
  return unsupported(op->emitError("this cast is not supported: "))
         << input.type << " to " << target;
}

// ---- arithmetic ----

FailureOr<Scalar> ExpressionTranslator::floatArithmetic(Operation *op, const Scalar &a,
                                                        const Scalar &b) {
  Scalar out;
  out.type = a.type;
  out.valid = andValues(a.valid, b.valid);
  if (isa<frame::AddOp>(op)) {
    out.value = arith::AddFOp::create(b_, loc_, a.value, b.value);
  } else if (isa<frame::SubtractOp>(op)) {
    out.value = arith::SubFOp::create(b_, loc_, a.value, b.value);
  } else if (isa<frame::MultiplyOp>(op)) {
    out.value = arith::MulFOp::create(b_, loc_, a.value, b.value);
  } else if (isa<frame::DivideOp>(op)) {
    out.value = arith::DivFOp::create(b_, loc_, a.value, b.value);
  } else {
    out.value = remainder(a.value, b.value);
  }
  return out;
}

FailureOr<Scalar> ExpressionTranslator::divide(Operation *op, Scalar a, Scalar b, Type type) {
  // Truncates at the result's scale: a * 10^(result - scale(a) + scale(b)) / b.
  Scalar out;
  out.type = type;
  out.valid = andValues(a.valid, b.valid);
  Value zero = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::eq, b.value,
                                     integer(0, widthOf(b.value)));
  failWhere(andValues(zero, out.valid), pipe::DataError::DivisionByZero);
  Value divisor = arith::SelectOp::create(b_, loc_, zero, integer(1, widthOf(b.value)), b.value);
  int exponent = scaleOf(type) - scaleOf(a.type) + scaleOf(b.type);
  if (exponent < 0) {
    return unsupported(op->emitError("division to a smaller scale is not supported: ")) << type;
  }
  __int128 factor = powerOfTen(exponent);
  std::optional<Range> scaled =
      a.range ? multiplyRanges(*a.range, Range{factor, factor}) : std::nullopt;
  bool narrow = scaled && bitsFor(*scaled) <= 64 && b.range && bitsFor(*b.range) <= 64 &&
                scaled->low > INT64_MIN && isa<frame::DivideOp>(op);
  if (narrow) {
    Value dividend = arith::MulIOp::create(b_, loc_, toWidth(a.value, 64), integer(factor, 64));
    // Of a row that has no dividend it may be anything, also the least number, of which x / -1
    // traps.
    dividend = arith::MaxSIOp::create(b_, loc_, dividend, integer(-INT64_MAX, 64));
    out.value = arith::DivSIOp::create(b_, loc_, dividend, toWidth(divisor, 64));
    __int128 bound = std::max(scaled->high, -scaled->low); // of 64 bits
    out.range = b.range->low >= 0
                    ? Range{std::min<__int128>(scaled->low, 0), std::max<__int128>(scaled->high, 0)}
                    : Range{-bound, bound};
    Range bounds = *typeRange(type);
    if (out.range->low < bounds.low || out.range->high > bounds.high) {
      failUnlessFits(out.value, bounds, out.valid); // the least integer by -1
      out.range = bounds;
    }
    if (bitsFor(*out.range) > 64) {
      out.range = Range{INT64_MIN, INT64_MAX};
    }
    return conform(out, out.range);
  }
  pipe::DivideOp quotient = divideWide(toWidth(a.value, 128), factor, toWidth(divisor, 128));
  failWhere(andValues(quotient.getOverflow(), out.valid), pipe::DataError::Overflow);
  out.value = quotient.getResult();
  if (auto bounds = typeRange(type); bounds && bitsFor(*bounds) < 128) {
    failUnlessFits(out.value, *bounds, out.valid);
    return conform(out, bounds);
  }
  return out;
}

FailureOr<Scalar> ExpressionTranslator::arithmetic(Operation *op) {
  Scalar a = scalars_.lookup(op->getOperand(0)), b = scalars_.lookup(op->getOperand(1));
  Type type = frame::dropNullable(op->getResult(0).getType());
  if (frame::isFloat(type)) {
    return isIntegral(a.type) ? mean(a, b) : floatArithmetic(op, a, b);
  }
  if (isa<frame::DivideOp>(op)) {
    return divide(op, a, b, type);
  }
  Scalar out;
  out.type = type;
  out.valid = andValues(a.valid, b.valid);
  if (isa<frame::ModulusOp>(op)) {
    a = rescale(a, scaleOf(a.type), scaleOf(type), type);
    b = rescale(b, scaleOf(b.type), scaleOf(type), type);
    unsigned bits = std::max(widthOf(a.value), widthOf(b.value));
    Value divisor = toWidth(b.value, bits);
    Value zero =
        arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::eq, divisor, integer(0, bits));
    failWhere(andValues(zero, out.valid), pipe::DataError::DivisionByZero);
    // x % -1 traps for the smallest x; its answer is 0, as is that of x % 1.
    Value minusOne =
        arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::eq, divisor, integer(-1, bits));
    Value special = arith::OrIOp::create(b_, loc_, zero, minusOne);
    Value safe = arith::SelectOp::create(b_, loc_, special, integer(1, bits), divisor);
    Value dividend = toWidth(a.value, bits);
    if (bits == 128) { // kernels have no division of 128 bits
      Value quotient = divideWide(dividend, 1, safe).getResult();
      out.value = arith::SubIOp::create(b_, loc_, dividend,
                                        arith::MulIOp::create(b_, loc_, quotient, safe));
    } else {
      out.value = arith::RemSIOp::create(b_, loc_, dividend, safe);
    }
    if (a.range) { // nearer to 0 than the dividend, or 0
      out.range = Range{std::min<__int128>(a.range->low, 0), std::max<__int128>(a.range->high, 0)};
    }
    return conform(out, out.range);
  }
  std::optional<Range> range;
  if (isa<frame::MultiplyOp>(op)) {
    range = a.range && b.range ? multiplyRanges(*a.range, *b.range) : std::nullopt;
    unsigned bits = range ? std::max({bitsFor(*range), widthOf(a.value), widthOf(b.value)}) : 128;
    // A product that is proven to fit 128 bits needs no check; narrower ones are proven too.
    if (range && bits == 128) {
      out.value = arith::MulIOp::create(b_, loc_, toWidth(a.value, 128), toWidth(b.value, 128));
    } else {
      out.value = multiply(a.value, b.value, bits, out.valid);
    }
  } else {
    a = rescale(a, scaleOf(a.type), scaleOf(type), type);
    b = rescale(b, scaleOf(b.type), scaleOf(type), type);
    bool subtract = isa<frame::SubtractOp>(op);
    std::optional<Range> right = b.range;
    if (subtract && right) {
      right = negateRange(*right);
    }
    range = a.range && right ? addRanges(*a.range, *right) : std::nullopt;
    unsigned bits = range ? std::max({bitsFor(*range), widthOf(a.value), widthOf(b.value)}) : 128;
    Value x = toWidth(a.value, bits), y = toWidth(b.value, bits);
    out.value = subtract ? Value(arith::SubIOp::create(b_, loc_, x, y))
                         : Value(arith::AddIOp::create(b_, loc_, x, y));
    if (!range) {
      // Overflow of 128 bits: the sign of the result is impossible for the signs of the operands.
      Value left = arith::XOrIOp::create(b_, loc_, x, out.value);
      Value other = subtract ? Value(arith::XOrIOp::create(b_, loc_, x, y))
                             : Value(arith::XOrIOp::create(b_, loc_, y, out.value));
      Value sign = arith::AndIOp::create(b_, loc_, left, other);
      Value bad = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::slt, sign, integer(0, 128));
      failWhere(andValues(bad, out.valid), pipe::DataError::Overflow);
    }
  }
  Range bounds = *typeRange(type);
  bool proven = range && range->low >= bounds.low && range->high <= bounds.high;
  if (!proven) {
    failUnlessFits(toWidth(out.value, 128), bounds, out.valid);
    range = range ? Range{std::max(range->low, bounds.low), std::min(range->high, bounds.high)}
                  : bounds;
  }
  out.range = range;
  return conform(out, range);
}

// ---- logic, and all ops in turn ----

LogicalResult ExpressionTranslator::translateOp(Operation *op) {
  auto set = [&](FailureOr<Scalar> scalar) -> LogicalResult {
    if (failed(scalar)) {
      return failure();
    }
    Type type = op->getResult(0).getType();
    scalar->type = frame::dropNullable(type);
    if (frame::isNullable(type) && !scalar->valid) {
      scalar->valid = i1(true);
    } else if (!frame::isNullable(type)) {
      scalar->valid = Value();
    }
    scalars_[op->getResult(0)] = *scalar;
    return success();
  };
  auto operand = [&](unsigned index) { return scalars_.lookup(op->getOperand(index)); };
  Scalar truth;
  truth.type = b_.getI1Type();
  if (auto value = dyn_cast<frame::ConstantOp>(op)) {
    return set(constant(value.getValue(), value.getType()));
  }
  if (isa<frame::RunSeedOp>(op)) {
    Scalar seed;
    seed.type = b_.getI64Type();
    seed.value = pipe::RunSeedOp::create(b_, loc_, seed.type);
    return set(seed);
  }
  if (isa<frame::AddOp, frame::SubtractOp, frame::MultiplyOp, frame::DivideOp, frame::ModulusOp>(
          op)) {
    return set(arithmetic(op));
  }
  if (isa<frame::NegateOp>(op)) {
    Scalar input = operand(0);
    if (frame::isFloat(input.type)) {
      input.value = arith::NegFOp::create(b_, loc_, input.value);
      return set(input);
    }
    std::optional<Range> range = input.range ? negateRange(*input.range) : std::nullopt;
    Range bounds = *typeRange(input.type);
    Value wide = toWidth(input.value, 128);
    Value negated = arith::SubIOp::create(b_, loc_, integer(0, 128), wide);
    if (!range || range->low < bounds.low || range->high > bounds.high) {
      failUnlessFits(negated, bounds, input.valid);
      Value isLowest = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::eq, wide,
                                             integer(-kMax128 - 1, 128)); // without an opposite
      failWhere(andValues(isLowest, input.valid), pipe::DataError::Overflow);
      range = bounds;
    }
    input.value = negated;
    return set(conform(input, range));
  }
  if (auto castOp = dyn_cast<frame::CastOp>(op)) {
    size_t before = failures_.size();
    FailureOr<Scalar> out = cast(operand(0), castOp.getResult().getType(), op);
    if (succeeded(out) && castOp.getOrNull()) { // what would fail is NULL
      for (const Failure &failure : ArrayRef(failures_).drop_front(before)) {
        out->valid = andValues(out->valid, notValue(failure.condition));
      }
      failures_.erase(failures_.begin() + static_cast<ptrdiff_t>(before), failures_.end());
    }
    return set(out);
  }
  if (auto compare = dyn_cast<frame::CompareOp>(op)) {
    Scalar a = operand(0), b = operand(1);
    truth.value = compareValues(compare.getKind(), a, b);
    truth.valid = andValues(a.valid, b.valid);
    if (compare.getKind() == frame::CompareKind::IsNotDistinctFrom) {
      Value validA = a.valid ? a.valid : i1(true), validB = b.valid ? b.valid : i1(true);
      Value bothNull = notValue(arith::OrIOp::create(b_, loc_, validA, validB));
      Value both = arith::AndIOp::create(b_, loc_, validA, validB);
      truth.value = arith::OrIOp::create(b_, loc_, bothNull,
                                         arith::AndIOp::create(b_, loc_, both, truth.value));
      truth.valid = Value();
    }
    return set(truth);
  }
  if (isa<frame::AndOp, frame::OrOp>(op)) {
    bool conjunction = isa<frame::AndOp>(op);
    truth = operand(0);
    for (unsigned index = 1; index < op->getNumOperands(); ++index) {
      Scalar next = operand(index);
      Value known;
      if (truth.valid || next.valid) {
        // Decided by both being known, or by one known operand that settles it.
        Value validA = truth.valid ? truth.valid : i1(true),
              validB = next.valid ? next.valid : i1(true);
        Value settlesA = conjunction ? notValue(truth.value) : truth.value;
        Value settlesB = conjunction ? notValue(next.value) : next.value;
        Value both = arith::AndIOp::create(b_, loc_, validA, validB);
        Value one =
            arith::OrIOp::create(b_, loc_, arith::AndIOp::create(b_, loc_, validA, settlesA),
                                 arith::AndIOp::create(b_, loc_, validB, settlesB));
        known = arith::OrIOp::create(b_, loc_, both, one);
      }
      if (conjunction) {
        truth.value = arith::AndIOp::create(b_, loc_, truth.value, next.value);
      } else {
        truth.value = arith::OrIOp::create(b_, loc_, isTrue(truth), isTrue(next));
      }
      truth.valid = known;
    }
    if (conjunction && truth.valid) {
      // A known false next to an unknown true: the value must read false.
      truth.value = arith::AndIOp::create(b_, loc_, truth.value, truth.valid);
    }
    return set(truth);
  }
  if (isa<frame::NotOp>(op)) {
    truth = operand(0);
    truth.value = notValue(truth.value);
    return set(truth);
  }
  if (isa<frame::IsNullOp>(op)) {
    Scalar input = operand(0);
    truth.value = input.valid ? notValue(input.valid) : i1(false);
    return set(truth);
  }
  if (auto in = dyn_cast<frame::InOp>(op)) {
    Scalar input = operand(0);
    for (Attribute literal : in.getValues()) {
      FailureOr<Scalar> value = constant(literal, input.type);
      if (failed(value)) {
        return failure();
      }
      Value equal = compareValues(frame::CompareKind::Eq, input, *value);
      truth.value = truth.value ? Value(arith::OrIOp::create(b_, loc_, truth.value, equal)) : equal;
    }
    truth.valid = input.valid;
    return set(truth);
  }
  if (auto choice = dyn_cast<frame::CaseOp>(op)) {
    return set(caseWhen(choice));
  }
  if (isa<frame::CoalesceOp>(op)) {
    Scalar out = operand(op->getNumOperands() - 1);
    for (unsigned index = op->getNumOperands() - 1; index-- > 0;) {
      Scalar candidate = operand(index);
      if (!candidate.valid) {
        out = candidate;
        continue;
      }
      std::optional<Range> range = hull(candidate.range, out.range);
      Scalar a = conform(candidate, range), b = conform(out, range);
      Value condition = a.valid;
      a.value = selectValue(condition, a.value, b.value);
      a.valid = b.valid ? Value(arith::OrIOp::create(b_, loc_, condition, b.valid)) : Value();
      out = a;
    }
    return set(out);
  }
  if (auto like = dyn_cast<frame::LikeOp>(op)) {
    Scalar input = operand(0);
    truth.value = pipe::StringMatchOp::create(b_, loc_, b_.getI1Type(), input.value,
                                              like.getPatternAttr(), like.getEscapeAttr());
    truth.valid = input.valid;
    return set(truth);
  }
  if (auto substring = dyn_cast<frame::SubstringOp>(op)) {
    Scalar out = operand(0);
    Value length = integer(INT64_MAX, 64); // to the end
    for (unsigned index = 1; index < op->getNumOperands(); ++index) {
      out.valid = andValues(out.valid, operand(index).valid);
    }
    if (substring.getLength()) {
      length = toWidth(operand(2).value, 64);
    }
    out.value = pipe::SubstringOp::create(b_, loc_, pipe::StringType::get(b_.getContext()),
                                          out.value, toWidth(operand(1).value, 64), length);
    return set(out);
  }
  if (auto raise = dyn_cast<frame::RaiseOp>(op)) {
    return set(this->raise(raise));
  }
  if (auto function = dyn_cast<frame::NumberOp>(op)) {
    return set(number(function));
  }
  if (auto function = dyn_cast<frame::MathOp>(op)) {
    return set(math(function));
  }
  if (auto product = dyn_cast<frame::ExactProductOp>(op)) {
    return set(exactProduct(product));
  }
  if (auto rounded = dyn_cast<frame::NearestOp>(op)) {
    return set(nearest(rounded));
  }
  if (auto moment = dyn_cast<frame::ComomentOp>(op)) {
    return set(comoment(moment));
  }
  if (auto made = dyn_cast<frame::ListOp>(op)) {
    return set(list(made));
  }
  if (auto element = dyn_cast<frame::ElementOp>(op)) {
    return set(this->element(element));
  }
  if (auto map = dyn_cast<frame::FlatMapOp>(op)) {
    return set(flatMap(map));
  }
  if (auto fold = dyn_cast<frame::ReduceOp>(op)) {
    return set(reduce(fold));
  }
  if (auto tried = dyn_cast<frame::TryOp>(op)) {
    return set(attempt(tried));
  }
  if (auto made = dyn_cast<frame::StructOp>(op)) {
    return set(structOf(made));
  }
  if (auto field = dyn_cast<frame::FieldOp>(op)) {
    return set(this->field(field));
  }
  if (auto function = dyn_cast<frame::TextOp>(op)) {
    return set(text(function));
  }
  if (auto shift = dyn_cast<frame::ShiftDateOp>(op)) {
    return set(shiftDate(shift));
  }
  if (auto make = dyn_cast<frame::MakeDateOp>(op)) {
    return set(makeDate(make));
  }
  if (auto extract = dyn_cast<frame::ExtractOp>(op)) {
    Scalar out = operand(0);
    using Part = pipe::DatePart;
    Part part = extract.getField() == frame::DateField::Year    ? Part::Year
                : extract.getField() == frame::DateField::Month ? Part::Month
                                                                : Part::Day;
    Value wide = pipe::DatePartOp::create(b_, loc_, b_.getI64Type(), part, out.value);
    out.type = frame::dropNullable(extract.getResult().getType());
    out.range = part == Part::Year ? Range{-5877641, 5881580} : Range{1, 31};
    out.value = toWidth(wide, 32);
    return set(out);
  }
  return unsupported(op->emitError("not supported in expressions yet: ")) << op->getName();
}

FailureOr<SmallVector<Scalar>> ExpressionTranslator::translate(Block &block) {
  for (Operation &op : block.without_terminator()) {
    loc_ = op.getLoc();
    op_ = &op;
    if (failed(translateOp(&op))) {
      return failure();
    }
  }
  op_ = nullptr;
  raiseFailures(block);
  SmallVector<Scalar> out;
  for (Value value : block.getTerminator()->getOperands()) {
    out.push_back(scalars_.lookup(value));
  }
  return out;
}

} // namespace headrace::form
