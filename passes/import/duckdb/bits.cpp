// Functions of the bits of integers, which the table of functions has for signed ones of 64 and of
// 128 bits.
#include "dialects/frame/FrameConstants.h"
#include "passes/import/duckdb/expressions.h"

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::duckdb;
using headrace::MathFunction;
namespace frame = headrace::frame;

using Arithmetic = ExpressionBuilder::Arithmetic;

static constexpr int64_t kBits = 64;

static Type wideType(ExpressionBuilder &b) { return IntegerType::get(b.getContext(), 2 * kBits); }

/// Where the distance reaches the type's bits, no bit is left: the table knows of 64 and 128.
static MaybeExpression shiftRight(ExpressionBuilder &b, const MathFunction &function,
                                  ArrayRef<Expression> arguments, Type to, Location at) {
  Type type = frame::dropNullable(arguments[1].type());
  if (!frame::isInteger(type) || type.getIntOrFloatBitWidth() >= kBits) {
    return b.math(function, arguments, to, at);
  }
  MaybeExpression isPast = b.compare(frame::CompareKind::Ge, arguments[1],
                                     b.integer(type.getIntOrFloatBitWidth(), type, at), at);
  MaybeExpression bits =
      failed(isPast) ? isPast : b.choose(*isPast, b.integer(kBits, type, at), &arguments[1], at);
  return failed(bits) ? bits : b.math(function, {arguments[0], *bits}, to, at);
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
  if (isOfBits && isUnsigned && frame::integerBits(type) == kBits) { // with a sign they have 65
    MaybeExpression wide = b.cast(arguments[0], wideType(b), call.at);
    return failed(wide) ? wide : b.math(function, {*wide, arguments[1]}, type, call.at);
  }
  return call.name == ">>" ? shiftRight(b, function, arguments, call.type, call.at)
                           : b.math(function, arguments, call.type, call.at);
}

/// How many of some bits of an integer of 128 are 1.
static MaybeExpression countOf(ExpressionBuilder &b, const Expression &value, int64_t from,
                               int64_t bits, Location at) {
  Type wide = wideType(b), i64 = IntegerType::get(b.getContext(), kBits);
  MaybeExpression shifted = b.math(*headrace::mathFunctionNamed("right_shift"),
                                   {value, b.integer(from, wide, at)}, wide, at);
  Expression mask = b.constant(
      frame::literalAttr(llvm::APInt::getLowBitsSet(frame::kLiteralBits, bits), wide), wide, at);
  MaybeExpression part = failed(shifted) ? shifted
                                         : b.math(*headrace::mathFunctionNamed("bitwise_and"),
                                                  {*shifted, mask}, i64, at);
  return failed(part) ? part
                      : b.text(*headrace::textFunctionNamed("bit_count"),
                               {*part, b.integer(kBits, i64, at)}, i64, at);
}

MaybeExpression ExpressionImporter::importBitCount(ExpressionBuilder &b, const Call &call,
                                                   const Expression &value) {
  Type type = frame::dropNullable(value.type()), i64 = IntegerType::get(b.getContext(), kBits);
  if (frame::signedBits(type) <= kBits) {
    MaybeExpression wide = b.cast(value, i64, call.at);
    return failed(wide) ? wide
                        : b.text(*headrace::textFunctionNamed("bit_count"),
                                 {*wide, b.integer(frame::integerBits(type), i64, call.at)},
                                 call.type, call.at);
  }
  MaybeExpression wide = b.cast(value, wideType(b), call.at);
  MaybeExpression count = b.integer(0, i64, call.at);
  constexpr int64_t kPart = kBits - 1; // that an i64 has without its sign
  for (int64_t from = 0; succeeded(wide) && succeeded(count) && from < 2 * kBits; from += kPart) {
    MaybeExpression part =
        countOf(b, *wide, from, std::min<int64_t>(kPart, 2 * kBits - from), call.at);
    count = failed(part) ? part : b.arithmetic(Arithmetic::kAdd, *count, *part, i64, call.at);
  }
  if (failed(wide) || failed(count)) {
    return failure();
  }
  // A TINYINT has no 128: DuckDB's wraps around.
  Expression all = b.integer(2 * kBits, i64, call.at);
  MaybeExpression hasAll = b.compare(frame::CompareKind::Eq, *count, all, call.at);
  MaybeExpression wrapped =
      failed(hasAll) ? hasAll
                     : b.choose(*hasAll, b.integer(INT8_MIN, i64, call.at), &*count, call.at);
  return failed(wrapped) ? wrapped : b.cast(*wrapped, call.type, call.at);
}
