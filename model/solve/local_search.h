// Moves of small regions under true memory limits: each region is solved exactly at prices, and the
// outcome is kept if cost and excess together do not rise by more than is asked. Private to
// model/solve.
#pragma once

#include "model/solve/neighbourhood.h"
#include "model/solve/row_loads.h"

namespace headrace::solve {

/// What is tried.
struct Move {
  int32_t seed = 0;   ///< the region grows about this node
  int32_t size = 1;   ///< of the region, at most
  int32_t force = -1; ///< not -1: the seed takes this strategy, and its region answers
};

/// How a move is judged.
struct Terms {
  enum class Fit : uint8_t { kStays, kMayLeave };

  double noise = 0;      ///< scale of the random costs in a region's solution, so that they differ
  double penalty = 0;    ///< what excess costs when a move is judged
  double riseMax = 0;    ///< cost and excess may rise by this
  Fit fit = Fit::kStays; ///< whether a choice that fits may become one that does not
};

/// A choice with its cost and load, kept up to date move by move. Not thread-safe.
class LocalSearch {
public:
  LocalSearch(const Graph &graph, const MemoryUses &uses);

  /// Begins again at `choice`.
  void start(const Choice &choice);
  /// From now on regions are solved as if a byte cost this per row; empty: nothing.
  void setPrices(const std::vector<double> &price);

  /// True if the choice changed.
  bool move(const Move &move, const Terms &terms, std::mt19937_64 &random);

  const Choice &choice() const { return choice_; }
  double cost() const { return cost_; }
  const RowLoads &loads() const { return loads_; }
  bool fits() const { return loads_.fits(); }

private:
  void grow(const Move &move, std::mt19937_64 &random);
  void growAboutForced(const Move &move, std::mt19937_64 &random);
  void take(int32_t node);
  void price(int32_t node);
  void addNoise(double scale, std::mt19937_64 &random);
  bool collectChanged(const Move &move);
  void swapChanged();
  double costOfChanged() const;
  void shiftChanged();

  const Graph &graph_;
  const MemoryUses &uses_;
  Neighbourhood neighbourhood_;
  RowLoads loads_;
  Choice choice_;
  double cost_ = 0;
  std::vector<double> prefix_; // of the prices: the sum over a run of rows is two look-ups
  uint32_t prices_ = 0;        // how often they were set
  Unaries priced_;
  std::vector<uint32_t> pricedAt_; // per node: the prices that priced_ has
  Unaries noisy_;                  // those of the region
  std::vector<int32_t> region_;
  std::vector<int32_t> before_; // strategies of region_
  std::vector<int32_t> changed_;
  std::vector<int32_t> other_; // strategies of changed_ that choice_ does not have
  std::vector<uint32_t> mark_; // per node: the last call that took it into a region or changed it
  uint32_t stamp_ = 0;
};

} // namespace headrace::solve
