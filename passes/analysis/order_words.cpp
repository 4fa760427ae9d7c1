// Rows that are alike in the keys so far need another word.
#include "passes/analysis/order_words.h"

#include <algorithm>
#include <cmath>
#include <utility>

using namespace mlir;

namespace headrace::analysis {
namespace {

constexpr double kTextBytes = 7; ///< of a word
constexpr double kWordBits = 64;
/// Nothing is known of what texts have in common: each word tells so many times as many apart.
constexpr double kTellsApart = 1000;

/// The share of `rows` rows that others are like, thrown at random among so many different ones.
double alikeByChance(double rows, double different) {
  return 1 - std::exp(-std::max(rows - 1, 0.0) / different);
}

/// The same if so many different ones occur: of what a value has in the mean, x / (1 - e^-x), each
/// has one for certain.
double alikeOf(double rows, double different) {
  const double mean = std::max(rows / different, 1.0);
  double x = 2 * (mean - 1);
  for (int step = 0; step < 20 && x > 0; ++step) {
    x = mean * (1 - std::exp(-x));
  }
  return 1 - std::exp(-x);
}

} // namespace

double orderWords(CardinalityAnalysis &cardinality, Value table, ArrayAttr keys, double rows,
                  llvm::function_ref<double(StringAttr)> bitsOf) {
  auto type = cast<frame::TableType>(table.getType());
  double words = 0, bitsLeft = 0;
  double alike = 1, different = 1; // in the keys so far
  for (auto key : keys.getAsRange<frame::SortKeyAttr>()) {
    const ColumnEstimate &known = cardinality.columnOf(table, key.getColumn());
    const double distinct = std::max(known.distinct, 1.0);
    const double before = alike;
    double apart = std::exchange(different, different * distinct);
    alike = std::min(before, apart == 1 ? alikeOf(rows, distinct) : alikeByChance(rows, different));
    if (frame::isHeldAsText(frame::dropNullable(type.getColumnType(key.getColumn())))) {
      double share = before;
      for (double bytes = known.bytes; bytes > 0; bytes -= kTextBytes) {
        words += share;
        apart *= kTellsApart;
        share = std::max(alike, std::min(share, alikeByChance(rows, apart)));
      }
      bitsLeft = 0;
      continue;
    }
    const double bits = bitsOf(key.getColumn());
    if (bits > bitsLeft) {
      const double made = std::ceil(bits / kWordBits);
      words += before * made;
      bitsLeft = made * kWordBits;
    }
    bitsLeft -= bits;
  }
  return std::max(words, 1.0);
}

} // namespace headrace::analysis
