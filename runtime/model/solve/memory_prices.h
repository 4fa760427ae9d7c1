// Lagrangian prices on memory: a price per tier and key time turns the limits into costs. Private to model/solve.
#pragma once

#include "runtime/model/solve/graph.h"

#include <random>

namespace headrace::solve {

/// Holds the prices and the times that matter (starts of intervals that are followed by an end: every other
/// time holds no more memory than one of these).
class MemoryPrices {
public:
  explicit MemoryPrices(const Problem &problem);

  /// False if no tier can ever be over its limit.
  bool canBind() const { return canBind_; }
  /// `base` plus the price of what every strategy holds.
  Unaries priced(const Unaries &base) const;
  /// What the prices take off the dual bound: Σ price × limit.
  double rebate() const;
  /// The worst excess of any tier and time, as a fraction of the limit.
  double excess(const Choice &choice) const;
  /// A subgradient step: prices rise where the choice is over the limit and fall where it is under.
  /// `gap`: distance in cost between the best known choice and the dual value, sets the step's length.
  void update(const Choice &choice, double gap, double relaxation);
  /// Moves single nodes while that lowers cost + `penalty` × excess (in limits). Bounded number of rounds.
  void repair(const Graph &graph, const Unaries &base, double penalty, Choice &choice,
              std::mt19937_64 &random) const;

private:
  struct Use {
    int32_t row = 0; ///< first row in load vectors
    int32_t rows = 0;
    const std::vector<double> *bytes = nullptr;
  };
  std::vector<double> load(const Choice &choice) const;

  std::vector<std::vector<Use>> uses_; ///< per node
  std::vector<double> limit_;          ///< per row: tier and key time
  std::vector<double> price_;          ///< per row, cost per byte
  bool canBind_ = false;
};

} // namespace headrace::solve
