// Draws choices for tests: one node after another, each asked whether the rest can still be chosen.
#include "model/solve/solve.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace headrace::solve {

Expected<Choice> randomFeasibleChoice(const Problem &problem, uint64_t seed,
                                      const std::function<std::string(int32_t node)> &nameOf) {
  HR_RETURN_IF_ERROR(problem.check());
  std::mt19937_64 random(seed);
  std::vector<int32_t> order(problem.nodes.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  // Memory plays no part, so that reductions decide most of it.
  Problem free = problem;
  for (Node &node : free.nodes) {
    node.memory.clear();
  }
  SolveOptions options;
  options.seed = seed;
  options.nameOf = nameOf;
  HR_ASSIGN_OR_RETURN(Solution known, solve(free, options));
  options.nameOf = nullptr;
  options.roundsMax = 1;
  Choice held(problem.nodes.size(), -1);
  for (int32_t node : order) {
    std::vector<int32_t> strategies(problem.nodes[node].cost.size());
    std::iota(strategies.begin(), strategies.end(), 0);
    std::shuffle(strategies.begin(), strategies.end(), random);
    // The known choice has all that is held: at the latest its own strategy is possible.
    for (int32_t strategy : strategies) {
      held[node] = strategy;
      if (strategy == known.choice[node]) {
        break;
      }
      if (problem.nodes[node].cost[strategy] >= kForbidden) {
        continue;
      }
      if (Expected<Solution> other = solveHolding(free, held, options); other.ok()) {
        known = *std::move(other);
        break;
      }
    }
  }
  return held;
}

} // namespace headrace::solve
