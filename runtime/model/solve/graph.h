// The solver's view of a problem: merged edges, unary costs apart (memory prices change them), adjacency.
// Private to model/solve.
#pragma once

#include "runtime/model/solve/problem.h"

namespace headrace::solve {

/// Costs per node and strategy.
using Unaries = std::vector<std::vector<double>>;

struct GraphEdge {
  int32_t source = 0;
  int32_t target = 0;
  std::vector<double> cost; ///< as Edge::cost

  int32_t other(int32_t node) const { return node == source ? target : source; }
};

struct Graph {
  std::vector<int32_t> strategies;          ///< per node
  std::vector<GraphEdge> edges;             ///< at most one per pair of nodes
  std::vector<std::vector<int32_t>> around; ///< edge indexes per node

  explicit Graph(const Problem &problem);
  size_t size() const { return strategies.size(); }
  /// The edge's cost seen from `node` taking `own` and the other end taking `others`.
  double edgeCost(const GraphEdge &edge, int32_t node, int32_t own, int32_t others) const {
    return edge.source == node ? edge.cost[static_cast<size_t>(own) * strategies[edge.target] + others]
                               : edge.cost[static_cast<size_t>(others) * strategies[edge.target] + own];
  }
  double cost(const Unaries &unaries, const Choice &choice) const;
};

/// The problem's node costs; strategies that no neighbour allows are forbidden.
Unaries initialUnaries(const Problem &problem, const Graph &graph);

} // namespace headrace::solve
