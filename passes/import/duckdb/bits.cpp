// Functions of the bits of integers, which the table of functions has for signed ones of 64 bits.
#include "dialects/frame/FrameConstants.h"
#include "passes/import/duckdb/expressions.h"

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::duckdb;
using headrace::MathFunction;
namespace frame = headrace::frame;

using Arithmetic = ExpressionBuilder::Arithmetic;

static constexpr unsigned kBits = 64;

/// Where the distance reaches the type's bits, no bit is left: the table knows of 64.
static MaybeExpression shiftRight(ExpressionBuilder &b, const MathFunction &function,
                                  ArrayRef<Expression> arguments, Type to, Location at) {
  Type type = frame::dropNullable(arguments[1].type());
  if (!frame::isInteger(type) || type.getIntOrFloatBitWidth() == kBits) {
    return b.math(function, arguments, to, at);
  }
  MaybeExpression isPast = b.compare(frame::CompareKind::Ge, arguments[1],
                                     b.integer(type.getIntOrFloatBitWidth(), type, at), at);
  MaybeExpression bits =
      failed(isPast) ? isPast : b.choose(*isPast, b.integer(kBits, type, at), &arguments[1], at);
  return failed(bits) ? bits : b.math(function, {arguments[0], *bits}, to, at);
}

/// The unsigned integer of the same 64 bits as a signed one, or the reverse.
static MaybeExpression withSameBits(ExpressionBuilder &b, const Expression &value, Type to,
                                    Location at) {
  Type wide = frame::DecimalType::get(b.getContext(), 38, 0);
  auto number = [&](const llvm::APInt &digits) {
    return b.constant(frame::literalAttr(digits, wide), wide, at);
  };
  llvm::APInt all = llvm::APInt::getOneBitSet(frame::kLiteralBits, kBits);
  const bool toSigned = !frame::isUnsigned(to);
  MaybeExpression from = b.cast(value, wide, at);
  MaybeExpression isOther =
      failed(from)
          ? from
          : b.compare(toSigned ? frame::CompareKind::Ge : frame::CompareKind::Lt, *from,
                      number(toSigned ? all.lshr(1) : llvm::APInt::getZero(all.getBitWidth())), at);
  MaybeExpression other = failed(isOther)
                              ? isOther
                              : b.arithmetic(toSigned ? Arithmetic::kSubtract : Arithmetic::kAdd,
                                             *from, number(all), wide, at);
  MaybeExpression chosen = failed(other) ? other : b.choose(*isOther, *other, &*from, at);
  return failed(chosen) ? chosen : b.cast(*chosen, to, at);
}

/// Of unsigned integers of 64 bits: x / 2 is a signed one, and what is shifted out is none either.
static MaybeExpression shiftWideRight(ExpressionBuilder &b, const MathFunction &function,
                                      const Expression &value, const Expression &distance,
                                      Location at) {
  Type type = frame::dropNullable(value.type()), i64 = IntegerType::get(b.getContext(), kBits);
  Expression most = b.integer(kBits, type, at);
  MaybeExpression half = b.arithmetic(Arithmetic::kDivide, value, b.integer(2, type, at), type, at);
  MaybeExpression isFar = b.compare(frame::CompareKind::Ge, distance, most, at);
  MaybeExpression isNone = b.compare(frame::CompareKind::Eq, distance, b.integer(0, type, at), at);
  if (failed(half) || failed(isFar) || failed(isNone)) {
    return failure();
  }
  MaybeExpression bounded = b.choose(*isFar, most, &distance, at);
  MaybeExpression signedHalf = b.cast(*half, i64, at);
  MaybeExpression steps = failed(bounded) ? bounded : b.cast(*bounded, i64, at);
  if (failed(signedHalf) || failed(steps)) {
    return failure();
  }
  MaybeExpression rest =
      b.arithmetic(Arithmetic::kSubtract, *steps, b.integer(1, i64, at), i64, at);
  MaybeExpression shifted = failed(rest) ? rest : b.math(function, {*signedHalf, *rest}, type, at);
  return failed(shifted) ? shifted : b.choose(*isNone, value, &*shifted, at);
}

/// Likewise: a product with a power of two, which fails where it does not fit.
static MaybeExpression shiftWideLeft(ExpressionBuilder &b, const MathFunction &function,
                                     const Expression &value, const Expression &distance,
                                     Location at) {
  Type type = frame::dropNullable(value.type()), i64 = IntegerType::get(b.getContext(), kBits);
  Expression greatest = b.constant(
      frame::literalAttr(llvm::APInt::getOneBitSet(frame::kLiteralBits, kBits - 1), type), type,
      at);
  MaybeExpression isLast =
      b.compare(frame::CompareKind::Eq, distance, b.integer(kBits - 1, type, at), at);
  MaybeExpression hasBits = b.compare(frame::CompareKind::Ne, value, b.integer(0, type, at), at);
  MaybeExpression power = b.math(function, {b.integer(1, i64, at), distance}, type, at);
  if (failed(isLast) || failed(hasBits) || failed(power)) {
    return failure();
  }
  MaybeExpression factor = b.choose(*isLast, greatest, &*power, at);
  MaybeExpression product =
      failed(factor) ? factor : b.arithmetic(Arithmetic::kMultiply, value, *factor, type, at);
  return failed(product) ? product
                         : b.choose({*hasBits, b.isNull(distance, at)},
                                    {*product, b.null(type, at)}, &value, at);
}

/// Of two unsigned integers of 64 bits.
static MaybeExpression bitsOfWide(ExpressionBuilder &b, StringRef name,
                                  const MathFunction &function, ArrayRef<Expression> arguments,
                                  Location at) {
  if (name == "<<" || name == ">>") {
    return (name == "<<" ? shiftWideLeft : shiftWideRight)(b, function, arguments[0], arguments[1],
                                                           at);
  }
  Type type = frame::dropNullable(arguments[0].type());
  Type i64 = IntegerType::get(b.getContext(), kBits);
  MaybeExpression x = withSameBits(b, arguments[0], i64, at);
  MaybeExpression y = withSameBits(b, arguments[1], i64, at);
  if (failed(x) || failed(y)) {
    return failure();
  }
  MaybeExpression joined = b.math(function, {*x, *y}, i64, at);
  return failed(joined) ? joined : withSameBits(b, *joined, type, at);
}

MaybeExpression ExpressionImporter::importBits(ExpressionBuilder &b, const Call &call,
                                               const MathFunction &function, Arguments arguments) {
  Type type = frame::dropNullable(call.type);
  const bool isUnsigned = frame::isUnsigned(type);
  if (call.name == "~" && isUnsigned) {
    llvm::APInt all = llvm::APInt::getLowBitsSet(frame::kLiteralBits, frame::integerBits(type));
    Expression most = b.constant(frame::literalAttr(all, type), type, call.at);
    return b.arithmetic(Arithmetic::kSubtract, most, arguments[0], type, call.at);
  }
  const bool isOfBits = llvm::is_contained({"&", "|", "xor", "<<", ">>"}, call.name);
  if (isOfBits && isUnsigned && frame::integerBits(type) == kBits) {
    return bitsOfWide(b, call.name, function, arguments, call.at);
  }
  return call.name == ">>" ? shiftRight(b, function, arguments, call.type, call.at)
                           : b.math(function, arguments, call.type, call.at);
}
