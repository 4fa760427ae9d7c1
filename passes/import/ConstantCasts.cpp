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

/// Of a product of two numbers of 38 digits.
static constexpr unsigned kProductBits = 2 * frame::kLiteralBits;

static llvm::APInt powerOfTen(unsigned exponent) {
  llvm::APInt power(kProductBits, 1);
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
  llvm::APInt digits = value.getValue().sext(kProductBits);
  digits *= powerOfTen(scaleOf(to) - scaleOf(from));
  return digits.isSignedIntN(frame::kLiteralBits)
             ? frame::literalAttr(digits.trunc(frame::kLiteralBits), to)
             : Attribute();
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
  auto whole = [&](int64_t number) {
    return frame::literalAttr(
        llvm::APInt(frame::kLiteralBits, static_cast<uint64_t>(number), /*isSigned=*/true), to);
  };
  if (auto text = dyn_cast<StringAttr>(value)) {
    std::optional<int64_t> moment;
    if (frame::isDate(to)) {
      moment = frame::parseDate(text.getValue());
    } else if (frame::isTimestamp(to)) {
      moment = frame::parseTimestamp(text.getValue());
    }
    return moment ? whole(*moment) : Attribute();
  }
  auto integer = dyn_cast<IntegerAttr>(value);
  constexpr int64_t kMicrosecondsOfDay = 86'400'000'000;
  if (integer && frame::isDate(from) && frame::isTimestamp(to)) {
    llvm::APInt days = integer.getValue().sext(frame::kLiteralBits);
    return frame::literalAttr(days * static_cast<uint64_t>(kMicrosecondsOfDay), to);
  }
  if (integer && frame::isTimestamp(from) && frame::isDate(to)) {
    int64_t moment = integer.getInt(), days = moment / kMicrosecondsOfDay;
    return whole(days - (moment % kMicrosecondsOfDay < 0)); // towards the past
  }
  if (!integer || !isExact(from)) {
    return {};
  }
  return isExact(to)          ? rescaleConstant(integer, from, to)
         : frame::isFloat(to) ? realConstant(integer, from, to)
                              : Attribute();
}
