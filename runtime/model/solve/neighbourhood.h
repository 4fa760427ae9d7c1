// Exact search of a large neighbourhood: nodes with at most two neighbours are eliminated exactly; when none is
// left, a node keeps its present strategy. What remains free is solved to optimality. Private to model/solve.
#pragma once

#include "runtime/model/solve/graph.h"

#include <random>

namespace headrace::solve {

struct NeighbourhoodResult {
  Choice choice;
  /// How many nodes had to keep their strategy. 0: the choice is the optimum of the whole graph.
  int32_t fixed = 0;
};

/// The best choice reachable from `present`, never worse than it. Which nodes are fixed is drawn from `random`.
NeighbourhoodResult improve(const Graph &graph, const Unaries &unaries, const Choice &present,
                            std::mt19937_64 &random);

} // namespace headrace::solve
