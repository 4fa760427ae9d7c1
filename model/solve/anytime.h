// The anytime loop over pricing rounds on a reduced problem. Private to model/solve.
#pragma once

#include "model/solve/annealing.h"
#include "model/solve/message_passing.h"
#include "model/solve/solve_options.h"

#include <optional>

namespace headrace::solve {

/// One run; its members are the state of the loop.
class Anytime {
public:
  Anytime(const Problem &problem, const SolveOptions &options, double started);

  /// Begins with a choice of this problem, and with prices.
  void startWith(const Choice &choice, const std::vector<PriceAt> &prices);
  void run();

  /// The best choice found: the one with the least excess, and of those the cheapest.
  const Choice &best() const { return best_; }
  double bestCost() const { return bestCost_; }
  double bound() const { return bound_; }
  /// Those that gave the bound.
  const MemoryPrices &bestPrices() const { return bestPrices_; }
  int32_t rounds() const { return round_ + 1; }
  /// False if the best choice has a forbidden part.
  bool isAllowed() const { return bestCost_ < graph_.forbidden(); }
  /// True if all choices were tried and none fits.
  bool isHopeless() const { return isHopeless_; }

private:
  void relax();
  double sweep();
  void searchAll();
  void repair(Choice choice);
  void polish(int32_t moves);
  void anneal();
  void offer(const Choice &choice);
  void raisePrices();
  void reprice();
  bool outOfTime() const;
  bool isProven() const {
    return bestExcess_ <= 0 && bestCost_ - bound_ <= options_.gapMax * bestCost_;
  }

  const SolveOptions &options_;
  Graph graph_;
  MemoryUses uses_;
  std::mt19937_64 random_;
  MessagePassing messages_;
  Neighbourhood neighbourhood_;
  LocalSearch local_;
  std::optional<Annealing> annealing_; ///< made when something fits
  int32_t annealings_ = 0;             ///< begun so far
  MemoryPrices prices_;
  double started_ = 0;
  int32_t round_ = 0;
  std::vector<int32_t> all_; ///< every node, the widest region
  Unaries priced_;
  Choice present_; ///< the best choice at the present prices
  Choice best_;
  double bestCost_ = 0;
  double bestExcess_ = 0;
  double bound_ = 0;
  double firstCost_ = 0;
  double presentDual_ = 0;
  MemoryPrices bestPrices_; ///< those that gave the bound
  double bestPricesBound_ = -1;
  double relaxation_ = 1;
  int32_t roundsStill_ = 0;
  bool isStarted_ = false; ///< with a choice that fits
  bool isHopeless_ = false;
  bool isEliminable_ = false; ///< neighbourhoods have to keep no node
};

} // namespace headrace::solve
