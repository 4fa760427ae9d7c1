// Casts of constants that an importer sees as constants.
#include "passes/import/ConstantCasts.h"

#include "dialects/frame/FrameConstants.h"

using namespace mlir;
namespace frame = headrace::frame;

static unsigned scaleOf(Type type) {
  auto decimal = dyn_cast<frame::DecimalType>(type);
  return decimal ? decimal.getScale() : 0;
}

static bool isExact(Type type) { return frame::isInteger(type) || frame::isDecimal(type); }

static llvm::APInt powerOfTen(unsigned exponent) {
  llvm::APInt power(frame::kLiteralBits, 1);
  for (unsigned step = 0; step < exponent; ++step) {
    power *= 10;
  }
  return power;
}

/// An integer or decimal as another of at least its scale.
static Attribute rescaleConstant(IntegerAttr value, Type from, Type to) {
  if (scaleOf(to) < scaleOf(from)) {
    return {};
  }
  llvm::APInt digits = value.getValue().sextOrTrunc(frame::kLiteralBits);
  return frame::literalAttr(digits * powerOfTen(scaleOf(to) - scaleOf(from)), to);
}

/// An integer or decimal as a double: one division of two numbers that doubles hold exactly.
static Attribute realConstant(IntegerAttr value, Type from, Type to) {
  constexpr unsigned kExactBits = 53, kExactPower = 22;
  if (value.getValue().abs().getActiveBits() > kExactBits || scaleOf(from) > kExactPower ||
      !to.isF64()) {
    return {};
  }
  double divisor = powerOfTen(scaleOf(from)).roundToDouble();
  return frame::literalAttr(static_cast<double>(value.getValue().getSExtValue()) / divisor, to);
}

Attribute headrace::import::castConstant(Attribute value, Type from, Type to) {
  if (isa<UnitAttr>(value) || from == to) {
    return value;
  }
  if (auto text = dyn_cast<StringAttr>(value)) {
    std::optional<int32_t> day =
        frame::isDate(to) ? frame::parseDate(text.getValue()) : std::nullopt;
    return day ? frame::literalAttr(llvm::APInt(frame::kLiteralBits,
                                                static_cast<uint64_t>(static_cast<int64_t>(*day)),
                                                /*isSigned=*/true),
                                    to)
               : Attribute();
  }
  auto integer = dyn_cast<IntegerAttr>(value);
  if (!integer || !isExact(from)) {
    return {};
  }
  return isExact(to)          ? rescaleConstant(integer, from, to)
         : frame::isFloat(to) ? realConstant(integer, from, to)
                              : Attribute();
}
