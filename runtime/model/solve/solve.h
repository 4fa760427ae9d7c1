// The layout solver: message passing for a bound and a start, exact neighbourhoods to improve, prices for memory.
#pragma once

#include "runtime/model/solve/problem.h"

#include <functional>

namespace headrace::solve {

struct SolveOptions {
  uint64_t seed = 1;
  /// Stop after this time even with a gap. A run that is not cut off gives the same answer every time.
  double secondsMax = 0.2;
  int32_t roundsMax = 200;
  /// Stop when (cost − bound) <= this fraction of the cost.
  double gapMax = 1e-6;
  /// Seconds on any clock that does not go back; the default is the machine's steady clock.
  std::function<double()> now;
};

struct Solution {
  Choice choice;
  double cost = 0;
  double bound = 0;                 ///< no choice that fits is cheaper
  std::vector<double> excessBytes;  ///< per tier over the limit; all 0 if the choice fits
  int32_t rounds = 0;

  bool fits() const;
  /// (cost − bound) / cost, 0 if proven optimal.
  double gap() const;
};

/// Chooses one strategy per node. If nothing fits into memory, gives the choice with the least excess found.
/// Fails (kUser) if every choice has a forbidden part, (kInternal) if the problem is malformed.
Expected<Solution> solve(const Problem &problem, const SolveOptions &options = {});

/// As `solve`, with some nodes held: `held[n]` is a strategy, or -1 for free.
Expected<Solution> solveHolding(const Problem &problem, const Choice &held,
                                const SolveOptions &options = {});

/// A random choice without forbidden parts, each node's strategy drawn from those still possible; every such
/// choice has positive probability. For tests that must run every layout. Memory limits are ignored.
Expected<Choice> randomFeasibleChoice(const Problem &problem, uint64_t seed);

} // namespace headrace::solve
