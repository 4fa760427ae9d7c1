// The layout solver: exact reductions, message passing for a bound and a start, exact
// neighbourhoods to improve, prices for memory.
#pragma once

#include "model/solve/problem.h"
#include "model/solve/solve_options.h"

#include <functional>
#include <span>
#include <string>

namespace headrace::solve {

struct Solution {
  Choice choice;
  double cost = 0;
  double bound = 0;                ///< no choice that fits is cheaper
  std::vector<double> excessBytes; ///< per tier over the limit; all 0 if the choice fits
  int32_t rounds = 0;
  int32_t nodesLeft = 0; ///< after the exact reductions
  /// Why no choice can fit, if that is proven: when (the node that begins then, or the time), what
  /// the leanest strategies hold, the greatest of them, and the limit.
  std::string whyNothingFits;

  bool fits() const;
  /// (cost − bound) / cost, 0 if proven optimal.
  double gap() const;
};

/// Chooses one strategy per node. If nothing fits into memory, gives the choice with the least
/// excess found. Fails (kUser) if every choice has a forbidden part or none without was found,
/// (kInternal) if the problem is malformed.
Expected<Solution> solve(const Problem &problem, const SolveOptions &options = {});

/// As `solve`, with some nodes held: `held[n]` is a strategy, or -1 for free.
Expected<Solution> solveHolding(const Problem &problem, const Choice &held,
                                const SolveOptions &options = {});

/// As `solve`, with some strategies of one node ruled out.
Expected<Solution> solveWithout(const Problem &problem, int32_t node,
                                std::span<const int32_t> strategies,
                                const SolveOptions &options = {});

/// A random choice without forbidden parts, each node's strategy drawn from those still possible;
/// every such choice has positive probability. For tests that must run every layout. Memory limits
/// are ignored. `nameOf` as in SolveOptions.
Expected<Choice>
randomFeasibleChoice(const Problem &problem, uint64_t seed,
                     const std::function<std::string(int32_t node)> &nameOf = nullptr);

} // namespace headrace::solve
