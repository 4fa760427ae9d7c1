// The ranges of types.
#include "passes/analysis/value_range.h"
#include "dialects/frame/FrameTypes.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::analysis;
using namespace headrace::frame;

std::optional<Range> headrace::analysis::rangeOfType(Type type) {
  Type value = dropNullable(type);
  if (value.isInteger(1)) {
    return Range{0, 1};
  }
  if (unsigned bits = signedBits(value)) {
    const Int128 lowest = Int128(-1) << (bits - 1);
    return Range{isUnsigned(value) ? 0 : lowest, ~lowest};
  }
  if (auto decimal = dyn_cast<DecimalType>(value)) {
    Int128 limit = 1;
    for (unsigned digit = 0; digit < decimal.getPrecision(); ++digit) {
      limit *= 10;
    }
    return Range{-(limit - 1), limit - 1};
  }
  return std::nullopt;
}

unsigned headrace::analysis::bitsFor(const Range &range) {
  for (unsigned bits : {8u, 16u, 32u, 64u}) {
    Int128 limit = Int128(1) << (bits - 1);
    if (range.low >= -limit && range.high < limit) {
      return bits;
    }
  }
  return 128;
}
