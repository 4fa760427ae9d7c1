// What the steps of hash joins and aggregates take for each row, by the cost model's functions:
// what join orders are compared by.
#ifndef HEADRACE_PASSES_OPTIMIZE_JOIN_PRICES_H
#define HEADRACE_PASSES_OPTIMIZE_JOIN_PRICES_H

#include "model/cost/row_work.h"

#include <map>

namespace headrace::optimize {

/// Seconds of one core as assumed of any machine: the order is the same whatever the program is
/// compiled for. Not thread-safe.
class JoinPrices {
public:
  struct Rows {
    double build = 0; ///< of a row that the table is built of
    double probe = 0; ///< of a row that is looked up
    double match = 0; ///< of a row that comes out
    double group = 0; ///< of a row that is added to one of so many groups
  };
  /// With a table of so many rows, each of `bytes`.
  const Rows &of(double rows, double bytes);

private:
  std::map<std::pair<int, int>, Rows> known_; ///< by quarters of octaves
};

} // namespace headrace::optimize

#endif // HEADRACE_PASSES_OPTIMIZE_JOIN_PRICES_H
