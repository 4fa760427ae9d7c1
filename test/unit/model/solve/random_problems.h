// Small random problems and their exhaustive solution, for the solver's tests.
#pragma once

#include "model/solve/solve.h"

#include <limits>
#include <set>

namespace headrace::solve {

enum class Memory { kFree, kLimited };

/// A random problem with some forbidden pairs; costs in the range of seconds of real plans.
Problem randomProblem(uint64_t seed, Memory memory, int32_t nodes, double edgeDensity);

/// As a training graph: a chain with skips whose strategies mostly follow their neighbours', equal
/// costs, several edges between the same two, long and short lives. `limit` is a share of the
/// greatest use.
Problem randomChain(uint64_t seed, int32_t nodes, double limit);

/// `layers` equal layers forward and backward: weights that live throughout, activations from their
/// layer's step forward to its step back, elementwise nodes that follow, residual edges. Memory
/// is not limited.
Problem trainingGraph(int32_t layers);

struct Best {
  double cost = std::numeric_limits<double>::infinity();
  double feasibleCost = std::numeric_limits<double>::infinity(); ///< of those that fit
  std::set<Choice> allowed;
};

/// Tries every choice.
Best bruteForce(const Problem &problem);

/// Options that a loaded machine does not change: the clock stands still.
SolveOptions timeless(int32_t rounds, uint64_t seed = 1);

} // namespace headrace::solve
