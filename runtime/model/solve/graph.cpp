// Builds the solver's graph.
#include "runtime/model/solve/graph.h"

#include <algorithm>
#include <map>

namespace headrace::solve {

Graph::Graph(const Problem &problem) {
  for (const Node &node : problem.nodes) {
    strategies.push_back(static_cast<int32_t>(node.cost.size()));
  }
  around.resize(strategies.size());
  std::map<std::pair<int32_t, int32_t>, size_t> byEnds;
  for (const Edge &edge : problem.edges) {
    auto [it, added] = byEnds.try_emplace(std::minmax(edge.source, edge.target), edges.size());
    if (added) {
      around[edge.source].push_back(static_cast<int32_t>(edges.size()));
      around[edge.target].push_back(static_cast<int32_t>(edges.size()));
      edges.push_back({edge.source, edge.target, edge.cost});
      continue;
    }
    GraphEdge &merged = edges[it->second];
    for (int32_t s = 0; s < strategies[edge.source]; ++s) {
      for (int32_t t = 0; t < strategies[edge.target]; ++t) {
        size_t index = merged.source == edge.source
                           ? static_cast<size_t>(s) * strategies[edge.target] + t
                           : static_cast<size_t>(t) * strategies[edge.source] + s;
        double more = edge.cost[static_cast<size_t>(s) * strategies[edge.target] + t];
        merged.cost[index] = std::min(merged.cost[index] + more, kForbidden);
      }
    }
  }
}

double Graph::cost(const Unaries &unaries, const Choice &choice) const {
  double sum = 0;
  for (size_t node = 0; node < size(); ++node) {
    sum += unaries[node][choice[node]];
  }
  for (const GraphEdge &edge : edges) {
    sum += edge.cost[static_cast<size_t>(choice[edge.source]) * strategies[edge.target] +
                     choice[edge.target]];
  }
  return sum;
}

Unaries initialUnaries(const Problem &problem, const Graph &graph) {
  Unaries unaries;
  for (const Node &node : problem.nodes) {
    unaries.push_back(node.cost);
  }
  // Arc consistency: what has no allowed partner on some edge is forbidden; repeat until nothing changes.
  bool changed = true;
  while (changed) {
    changed = false;
    for (size_t node = 0; node < graph.size(); ++node) {
      int32_t own = static_cast<int32_t>(node);
      for (int32_t s = 0; s < graph.strategies[node]; ++s) {
        if (unaries[node][s] >= kForbidden) {
          continue;
        }
        for (int32_t e : graph.around[node]) {
          const GraphEdge &edge = graph.edges[e];
          int32_t other = edge.other(own);
          bool supported = false;
          for (int32_t t = 0; t < graph.strategies[other] && !supported; ++t) {
            supported = unaries[other][t] < kForbidden &&
                        graph.edgeCost(edge, own, s, t) < kForbidden;
          }
          if (!supported) {
            unaries[node][s] = kForbidden;
            changed = true;
            break;
          }
        }
      }
    }
  }
  return unaries;
}

} // namespace headrace::solve
