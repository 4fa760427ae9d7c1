// Draws choices for tests: one node after another, each asked whether the rest can still be chosen.
#include "runtime/model/solve/solve.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace headrace::solve {

Expected<Choice> randomFeasibleChoice(const Problem &problem, uint64_t seed) {
  HR_RETURN_IF_ERROR(problem.check());
  std::mt19937_64 random(seed);
  std::vector<int32_t> order(problem.nodes.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  SolveOptions options;
  options.seed = seed;
  options.roundsMax = 1;
  // Memory plays no part, so that reductions decide most of it.
  Problem free = problem;
  for (Node &node : free.nodes) {
    node.memory.clear();
  }
  Choice held(problem.nodes.size(), -1);
  for (int32_t node : order) {
    std::vector<int32_t> strategies(problem.nodes[node].cost.size());
    std::iota(strategies.begin(), strategies.end(), 0);
    std::shuffle(strategies.begin(), strategies.end(), random);
    auto possible = std::find_if(strategies.begin(), strategies.end(), [&](int32_t strategy) {
      held[node] = strategy;
      return problem.nodes[node].cost[strategy] < kForbidden &&
             solveHolding(free, held, options).ok();
    });
    if (possible == strategies.end()) {
      return makeError(ErrorKind::kUser, "no choice of layouts satisfies all constraints");
    }
  }
  return held;
}

} // namespace headrace::solve
