// Simulated annealing over regions: the walk goes uphill now and then, less and less, and in and
// out of what fits, at a price on excess that keeps it near the edge. Private to model/solve.
#pragma once

#include "model/solve/local_search.h"

namespace headrace::solve {

/// One descent of the temperature. Costs are those of the graph.
struct Schedule {
  double hot = 0;     ///< at the beginning
  double cold = 0;    ///< at the end; falls by equal factors in between
  double penalty = 0; ///< of one limit's worth of excess at one row, at the beginning
  int64_t moves = 0;
};

/// Not thread-safe. The same moves in pieces of any size give the same walk.
class Annealing {
public:
  Annealing(const Graph &graph, const MemoryUses &uses);

  void start(const Choice &choice, const Schedule &schedule);
  bool isOver() const { return done_ >= schedule_.moves; }
  /// The next batch of moves. `dual`: prices per row that made the bound; the regions' solutions
  /// take account of them now and then.
  void advance(const std::vector<double> &dual, std::mt19937_64 &random);

  /// The cheapest choice that fitted since the start.
  const Choice &best() const { return best_; }
  /// Infinite if none fitted.
  double bestCost() const { return bestCost_; }
  /// The price of excess at which the walk was in and out of what fits.
  double penalty() const { return balance_; }

private:
  Move draw(std::mt19937_64 &random) const;
  void setPrices(const std::vector<double> &dual, std::mt19937_64 &random);
  void keepBest();

  const Graph &graph_;
  const MemoryUses &uses_;
  LocalSearch walk_;
  std::vector<int32_t> movable_; ///< nodes with a choice
  int64_t batch_ = 0;
  Schedule schedule_;
  int64_t done_ = 0;
  double penalty_ = 0;
  double balance_ = 0;
  Choice best_;
  double bestCost_ = 0;
  std::vector<double> price_;
};

} // namespace headrace::solve
