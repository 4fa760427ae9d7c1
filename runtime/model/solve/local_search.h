// Moves of small regions under true memory limits: each region is solved exactly at prices, and the
// outcome is kept if cost and excess together fall. Private to model/solve.
#pragma once

#include "runtime/model/solve/memory_prices.h"
#include "runtime/model/solve/neighbourhood.h"

namespace headrace::solve {

/// A choice with its cost and load, kept up to date move by move. Not thread-safe.
class LocalSearch {
public:
  LocalSearch(const Graph &graph, const MemoryUses &uses);

  /// Begins again at `choice`.
  void start(const Choice &choice);

  /// Solves a random region of at most `size` nodes about `seed` under `priced`, and keeps the
  /// outcome if cost + `penalty` × excess does not rise. True if the choice changed.
  bool move(int32_t seed, int32_t size, const Unaries &priced, double penalty,
            std::mt19937_64 &random);

  const Choice &choice() const { return choice_; }
  double cost() const { return cost_; }
  /// Sum over rows of bytes over the limit, in limits.
  double excess() const { return excess_; }
  bool fits() const { return over_ == 0; }
  /// Per row.
  const std::vector<double> &load() const { return load_; }

private:
  void grow(int32_t seed, int32_t size, std::mt19937_64 &random);
  double costOfChanged() const;
  void shift(int32_t node, int32_t from, int32_t to);

  const Graph &graph_;
  const MemoryUses &uses_;
  Neighbourhood neighbourhood_;
  Choice choice_;
  std::vector<double> load_;
  double cost_ = 0;
  double excess_ = 0;
  int32_t over_ = 0; ///< rows over their limit
  std::vector<int32_t> region_;
  std::vector<int32_t> changed_;
  std::vector<int32_t> before_; // strategies of region_
  std::vector<int32_t> old_;    // strategies of changed_
  std::vector<uint32_t> mark_;  // per node: the last call that took it into a region or changed it
  uint32_t stamp_ = 0;
};

} // namespace headrace::solve
