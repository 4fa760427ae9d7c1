// The times at which memory limits can bind, as rows: a linear view of liveness for pricing and for
// checking. Private to model/solve.
#pragma once

#include "model/solve/problem.h"

namespace headrace::solve {

/// A run of rows that one node's memory use covers.
struct RowRange {
  int32_t first = 0;
  int32_t last = 0; ///< exclusive

  bool empty() const { return first >= last; }
};

/// Rows of all tiers, one after another. Only starts of intervals that are followed by an end count
/// (every other time holds no more than one of these), and of those only where the largest uses
/// together exceed the limit.
class MemoryRows {
public:
  explicit MemoryRows(const Problem &problem);

  size_t size() const { return limit_.size(); }
  const std::vector<double> &limit() const { return limit_; }
  int32_t tierOf(int32_t row) const { return tier_[row]; }
  /// The time that a row stands for.
  int32_t timeOf(int32_t row) const { return time_[row]; }
  RowRange rows(const MemoryUse &use) const;

  /// A row where even the smallest uses exceed the limit, or -1. `bytes` gets what they hold there.
  int32_t findHopeless(const Problem &problem, double &bytes) const;

private:
  std::vector<double> limit_;
  std::vector<int32_t> time_;
  std::vector<int32_t> tier_;
  std::vector<int32_t> tierFirst_; ///< first row of each tier, and the end
};

} // namespace headrace::solve
