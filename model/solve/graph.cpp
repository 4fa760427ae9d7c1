// Builds the solver's graph.
#include "model/solve/graph.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_map>

namespace headrace::solve {
namespace {

double largestAllowed(const std::vector<double> &costs) {
  double most = 0;
  for (double cost : costs) {
    most = cost < kForbidden ? std::max(most, cost) : most;
  }
  return most;
}

uint64_t fingerprint(const std::vector<double> &values, int32_t width) {
  uint64_t hash = 0x9e3779b97f4a7c15ull * static_cast<uint64_t>(width + 1);
  for (double value : values) {
    hash = (hash ^ std::bit_cast<uint64_t>(value)) * 0x100000001b3ull;
    hash ^= hash >> 29;
  }
  return hash;
}

} // namespace

Graph::Graph(const Problem &problem) {
  double total = 0;
  unaryAt_.push_back(0);
  for (const Node &node : problem.nodes) {
    auto count = static_cast<int32_t>(node.cost.size());
    strategiesMax_ = std::max(strategiesMax_, count);
    unaryAt_.push_back(unaryAt_.back() + node.cost.size());
    total += largestAllowed(node.cost);
  }
  for (const Edge &edge : problem.edges) {
    total += largestAllowed(edge.cost);
  }
  forbidden_ = total > 0 ? 2 * total : 1;
  unaries_.reserve(unaryAt_.back());
  for (const Node &node : problem.nodes) {
    for (double cost : node.cost) {
      unaries_.push_back(cost < kForbidden ? cost : forbidden_);
    }
  }
  std::vector<size_t> ahead(problem.edges.size());
  std::vector<size_t> back(problem.edges.size());
  addTables(problem, ahead, back);

  // Edges in the order of (node, other end).
  std::vector<int32_t> degree(problem.nodes.size() + 1, 0);
  for (const Edge &edge : problem.edges) {
    ++degree[edge.source];
    ++degree[edge.target];
  }
  firstIncidence_.assign(problem.nodes.size() + 1, 0);
  for (size_t n = 0; n < problem.nodes.size(); ++n) {
    firstIncidence_[n + 1] = firstIncidence_[n] + degree[n];
  }
  std::vector<std::pair<int32_t, int32_t>> ends(2 * problem.edges.size()); // other, ±(edge + 1)
  std::vector<int32_t> fill(firstIncidence_.begin(), firstIncidence_.end() - 1);
  for (size_t e = 0; e < problem.edges.size(); ++e) {
    auto name = static_cast<int32_t>(e + 1);
    ends[fill[problem.edges[e].source]++] = {problem.edges[e].target, name};
    ends[fill[problem.edges[e].target]++] = {problem.edges[e].source, -name};
  }
  incidences_.resize(ends.size());
  std::vector<int32_t> atSource(problem.edges.size());
  std::vector<int32_t> atTarget(problem.edges.size());
  for (size_t n = 0; n < problem.nodes.size(); ++n) {
    std::sort(ends.begin() + firstIncidence_[n], ends.begin() + firstIncidence_[n + 1]);
    for (int32_t i = firstIncidence_[n]; i < firstIncidence_[n + 1]; ++i) {
      auto [other, name] = ends[i];
      size_t e = static_cast<size_t>(std::abs(name)) - 1;
      incidences_[i] = {other, 0, name > 0 ? ahead[e] : back[e], messageCount_};
      messageCount_ += problem.nodes[n].cost.size();
      (name > 0 ? atSource : atTarget)[e] = i;
    }
  }
  for (size_t e = 0; e < problem.edges.size(); ++e) {
    incidences_[atSource[e]].reverse = atTarget[e];
    incidences_[atTarget[e]].reverse = atSource[e];
  }
}

void Graph::addTables(const Problem &problem, std::vector<size_t> &ahead,
                      std::vector<size_t> &back) {
  // Programs repeat layers, so most matrices occur many times; one copy of each keeps sweeps in the
  // cache.
  std::unordered_multimap<uint64_t, size_t> known; // fingerprint -> edge that brought the matrix
  for (size_t e = 0; e < problem.edges.size(); ++e) {
    const Edge &edge = problem.edges[e];
    size_t width = problem.nodes[edge.target].cost.size();
    size_t height = problem.nodes[edge.source].cost.size();
    uint64_t key = fingerprint(edge.cost, static_cast<int32_t>(width));
    auto [first, last] = known.equal_range(key);
    auto same = std::find_if(first, last, [&](const auto &entry) {
      const Edge &other = problem.edges[entry.second];
      return other.cost.size() == edge.cost.size() &&
             problem.nodes[other.target].cost.size() == width &&
             std::memcmp(other.cost.data(), edge.cost.data(), edge.cost.size() * sizeof(double)) ==
                 0;
    });
    if (same != last) {
      ahead[e] = ahead[same->second];
      back[e] = back[same->second];
      continue;
    }
    known.emplace(key, e);
    ++tableCount_;
    ahead[e] = tables_.size();
    back[e] = tables_.size() + edge.cost.size();
    tables_.resize(tables_.size() + 2 * edge.cost.size());
    for (size_t s = 0; s < height; ++s) {
      for (size_t t = 0; t < width; ++t) {
        double cost = edge.cost[s * width + t];
        cost = cost < kForbidden ? cost : forbidden_;
        tables_[ahead[e] + s * width + t] = cost;
        tables_[back[e] + t * height + s] = cost;
      }
    }
  }
}

double Graph::cost(const Unaries &unaries, const Choice &choice) const {
  double sum = 0;
  for (size_t n = 0; n < size(); ++n) {
    auto node = static_cast<int32_t>(n);
    sum += unaries[unaryAt_[n] + choice[n]];
    for (const Incidence &edge : around(node)) {
      if (edge.other > node) {
        sum += table(
            edge)[static_cast<size_t>(choice[n]) * strategies(edge.other) + choice[edge.other]];
      }
    }
  }
  return sum;
}

} // namespace headrace::solve
