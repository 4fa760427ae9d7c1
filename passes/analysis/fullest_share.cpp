// The largest of several binomial counts.
#include "passes/analysis/fullest_share.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace headrace::analysis {

double fullestShare(CardinalityAnalysis &analysis, Value table, ArrayRef<StringAttr> keys,
                    double parts) {
  if (parts <= 1 || keys.empty()) {
    return 1 / parts;
  }
  double values = 1;
  for (StringAttr key : keys) {
    values *= std::max(1.0, analysis.columnOf(table, key).distinct);
  }
  values = std::min(values, std::max(1.0, analysis.rowsOf(table).expected));
  // Each value goes to any of the ranks: about the most of `parts` binomial counts.
  double deviation = std::sqrt((1 - 1 / parts) / (parts * values));
  return std::min(1.0, 1 / parts + std::sqrt(2 * std::log(parts)) * deviation);
}

} // namespace headrace::analysis
