// What a choice holds at every row of memory, kept up to date change by change. Private to
// model/solve.
#pragma once

#include "model/solve/memory_prices.h"

namespace headrace::solve {

/// Loads per row and what is over the limits. Rows are kept in blocks that know their greatest
/// load: where a block stays under its limits, a change is one addition a row. Not thread-safe.
class RowLoads {
public:
  explicit RowLoads(const MemoryUses &uses);

  void start(const Choice &choice);
  /// Every row of a range holds `change` bytes more.
  void add(RowRange rows, double change);
  /// A node takes another strategy.
  void shift(int32_t node, int32_t from, int32_t to);

  const std::vector<double> &load() const { return load_; }
  bool isOver(size_t row) const;
  bool fits() const { return over_ == 0; }
  /// Sum over rows of bytes over the limit, in limits; 0 if it fits.
  double excess() const { return over_ == 0 ? 0 : excess_; }
  /// After changes were taken back: the sum is again what it was, without what rounding left.
  void settle(double excess) { excess_ = excess; }

private:
  void addNear(int32_t block, RowRange rows, double change);
  void measure(int32_t block);

  const MemoryUses &uses_;
  std::vector<double> load_;
  std::vector<double> most_;     ///< per block, not less than any load
  std::vector<double> limitMin_; ///< per block
  double excess_ = 0;
  int32_t over_ = 0; ///< rows over their limit
};

} // namespace headrace::solve
