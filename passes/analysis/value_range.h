// The least and the greatest value that something may have.
#ifndef HEADRACE_PASSES_ANALYSIS_VALUERANGE_H
#define HEADRACE_PASSES_ANALYSIS_VALUERANGE_H

#include "mlir/IR/Types.h"

#include <optional>

namespace headrace::analysis {

using Int128 = __int128;

/// low <= value <= high for every value that is not NULL. Decimals: the scaled integer. Dates: days
/// since 1970-01-01. Booleans: 0 and 1.
struct Range {
  Int128 low = 0;
  Int128 high = 0;
  bool operator==(const Range &) const = default;
  bool contains(const Range &other) const { return low <= other.low && other.high <= high; }
};

/// Everything a type can hold; nothing for floats and strings.
std::optional<Range> rangeOfType(mlir::Type type);
/// The smallest signed width in bits (8, 16, 32, 64 or 128) that holds the range.
unsigned bitsFor(const Range &range);

} // namespace headrace::analysis

#endif // HEADRACE_PASSES_ANALYSIS_VALUERANGE_H
