// Checks and evaluates problems.
#include "model/solve/problem.h"

#include <algorithm>

namespace headrace::solve {
namespace {
bool validCosts(const std::vector<double> &costs) {
  return std::all_of(costs.begin(), costs.end(),
                     [](double cost) { return cost >= 0 && cost <= kForbidden; });
}
} // namespace

Status Problem::check() const {
  for (size_t n = 0; n < nodes.size(); ++n) {
    const Node &node = nodes[n];
    if (node.cost.empty() || !validCosts(node.cost)) {
      return makeError(ErrorKind::kInternal, "node ", n, " needs costs from 0 to ", kForbidden);
    }
    for (const MemoryUse &use : node.memory) {
      bool tierKnown = use.tier >= 0 && static_cast<size_t>(use.tier) < tierBytesMax.size();
      if (!tierKnown || use.first > use.last || use.bytes.size() != node.cost.size()) {
        return makeError(ErrorKind::kInternal, "memory of node ", n,
                         " does not fit its strategies");
      }
    }
  }
  for (size_t e = 0; e < edges.size(); ++e) {
    const Edge &edge = edges[e];
    auto inRange = [&](int32_t node) {
      return node >= 0 && static_cast<size_t>(node) < nodes.size();
    };
    if (!inRange(edge.source) || !inRange(edge.target) || edge.source == edge.target) {
      return makeError(ErrorKind::kInternal, "edge ", e, " needs two different nodes");
    }
    size_t size = nodes[edge.source].cost.size() * nodes[edge.target].cost.size();
    if (edge.cost.size() != size || !validCosts(edge.cost)) {
      return makeError(ErrorKind::kInternal, "edge ", e, " needs ", size, " costs from 0 to ",
                       kForbidden);
    }
  }
  return {};
}

double costOf(const Problem &problem, const Choice &choice) {
  double cost = 0;
  for (size_t n = 0; n < problem.nodes.size(); ++n) {
    cost += problem.nodes[n].cost[choice[n]];
  }
  for (const Edge &edge : problem.edges) {
    size_t width = problem.nodes[edge.target].cost.size();
    cost += edge.cost[choice[edge.source] * width + choice[edge.target]];
  }
  return cost;
}

std::vector<double> memoryPeak(const Problem &problem, const Choice &choice) {
  // All changes of one time are added before the sum counts: intervals are half open.
  std::vector<std::vector<std::pair<int32_t, double>>> changes(problem.tierBytesMax.size());
  for (size_t n = 0; n < problem.nodes.size(); ++n) {
    for (const MemoryUse &use : problem.nodes[n].memory) {
      if (use.first < use.last) {
        changes[use.tier].push_back({use.first, use.bytes[choice[n]]});
        changes[use.tier].push_back({use.last, -use.bytes[choice[n]]});
      }
    }
  }
  std::vector<double> peaks;
  for (auto &tier : changes) {
    std::sort(tier.begin(), tier.end());
    double held = 0;
    double most = 0;
    for (size_t i = 0; i < tier.size(); ++i) {
      held += tier[i].second;
      if (i + 1 == tier.size() || tier[i].first < tier[i + 1].first) {
        most = std::max(most, held);
      }
    }
    peaks.push_back(most);
  }
  return peaks;
}

std::vector<double> memoryExcess(const Problem &problem, const Choice &choice) {
  // Sums of many sizes round; this fraction of a limit is no excess.
  constexpr double kRounding = 1e-11;
  std::vector<double> excess = memoryPeak(problem, choice);
  for (size_t tier = 0; tier < excess.size(); ++tier) {
    double limit = problem.tierBytesMax[tier];
    excess[tier] = excess[tier] <= limit * (1 + kRounding) ? 0 : excess[tier] - limit;
  }
  return excess;
}

} // namespace headrace::solve
