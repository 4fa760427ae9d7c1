// Casts of constants that an importer sees as constants.
#include "passes/import/ConstantCasts.h"

#include "dialects/frame/FrameConstants.h"
#include "passes/analysis/text_evaluation.h"

using namespace mlir;
using namespace headrace::import;
namespace frame = headrace::frame;

static bool isExact(Type type) { return frame::isInteger(type) || frame::isDecimal(type); }

/// Of a product of two numbers of 38 digits.
static constexpr unsigned kProductBits = 2 * frame::kLiteralBits;

llvm::APInt headrace::import::powerOfTen(unsigned exponent, unsigned bits) {
  llvm::APInt power(bits, 1);
  for (unsigned step = 0; step < exponent; ++step) {
    power *= 10;
  }
  return power;
}

/// An integer or decimal as another of at least its scale.
static Attribute rescaleConstant(IntegerAttr value, Type from, Type to) {
  if (frame::scaleOf(to) < frame::scaleOf(from)) {
    return {};
  }
  llvm::APInt digits = value.getValue().sext(kProductBits);
  digits *= powerOfTen(frame::scaleOf(to) - frame::scaleOf(from), kProductBits);
  return digits.isSignedIntN(frame::kLiteralBits)
             ? frame::literalAttr(digits.trunc(frame::kLiteralBits), to)
             : Attribute();
}

/// An integer or decimal as a double: one division of two numbers that doubles hold exactly.
static Attribute realConstant(IntegerAttr value, Type from, Type to) {
  constexpr unsigned kExactBits = 53, kExactPower = 22;
  if (value.getValue().abs().getActiveBits() > kExactBits || frame::scaleOf(from) > kExactPower ||
      !to.isF64()) {
    return {};
  }
  double divisor = powerOfTen(frame::scaleOf(from), kProductBits).roundToDouble();
  return frame::literalAttr(static_cast<double>(value.getValue().getSExtValue()) / divisor, to);
}

Attribute headrace::import::castConstant(Attribute value, Type from, Type to) {
  if (isa<UnitAttr>(value) || from == to ||
      (frame::isNested(from) && frame::isHeldAlike(from, to))) {
    return value;
  }
  auto whole = [&](int64_t number) {
    return frame::literalAttr(
        llvm::APInt(frame::kLiteralBits, static_cast<uint64_t>(number), /*isSigned=*/true), to);
  };
  auto text = dyn_cast<StringAttr>(value);
  if (text && frame::isString(from) && frame::isHeldAsBytes(to)) {
    std::optional<std::string> bytes = headrace::analysis::bytesOfText(text.getValue(), to);
    return bytes ? frame::literalAttr(std::move(*bytes), to) : Attribute();
  }
  if (text && frame::isHeldAsBytes(from)) {
    return frame::literalAttr(headrace::analysis::textOfBytes(text.getValue(), from), to);
  }
  if (text) {
    std::optional<int64_t> moment =
        frame::isTemporal(to) ? frame::parseTemporal(text.getValue().trim(), to) : std::nullopt;
    return moment ? whole(*moment) : Attribute();
  }
  auto integer = dyn_cast<IntegerAttr>(value);
  if (integer && frame::isInfinite(integer.getInt(), from)) {
    std::optional<int64_t> infinity = frame::infinityOf(to);
    return infinity ? whole(integer.getInt() > 0 ? *infinity : -*infinity) : Attribute();
  }
  if (integer && frame::isDate(from) && frame::isTimestamp(to)) {
    __int128 moment = static_cast<__int128>(integer.getInt()) * frame::unitsOfDay(to);
    auto [least, greatest] = frame::finiteTimestamps(to);
    return moment >= least && moment <= greatest ? whole(static_cast<int64_t>(moment))
                                                 : Attribute();
  }
  if (integer && frame::isTimestamp(from) && frame::isDate(to)) {
    int64_t moment = integer.getInt(), day = frame::unitsOfDay(from);
    return whole(moment / day - (moment % day < 0)); // towards the past
  }
  if (integer && frame::isTimestamp(from) && frame::isTimestamp(to) &&
      frame::scaleOf(from) == frame::scaleOf(to)) {
    return value; // the zone is UTC
  }
  if (!integer || !isExact(from)) {
    return {};
  }
  return isExact(to)          ? rescaleConstant(integer, from, to)
         : frame::isFloat(to) ? realConstant(integer, from, to)
                              : Attribute();
}
