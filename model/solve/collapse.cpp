// Colour refinement, of few rounds: with as many as there are layers, each would differ from the
// next by its distance from the ends.
#include "model/solve/collapse.h"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <unordered_set>

namespace headrace::solve {
namespace {

uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
  return hash ^ hash >> 32;
}

uint64_t print(uint64_t hash, const std::vector<double> &values) {
  hash = mix(hash, values.size());
  for (double value : values) {
    hash = mix(hash, std::bit_cast<uint64_t>(value));
  }
  return hash;
}

} // namespace

Colouring::Colouring(const Problem &problem) : problem_(problem) {
  for (const Node &node : problem.nodes) {
    uint64_t uses = 0; // their order does not count
    for (const MemoryUse &use : node.memory) {
      uses += use.first < use.last ? print(static_cast<uint64_t>(use.tier) + 1, use.bytes) : 0;
    }
    colours_.push_back(mix(print(1, node.cost), uses));
  }
  for (const Edge &edge : problem.edges) {
    edges_.push_back(print(2, edge.cost));
  }
}

void Colouring::refine() {
  std::vector<uint64_t> around(colours_.size(), 0); // the order of edges does not count
  for (size_t e = 0; e < edges_.size(); ++e) {
    const Edge &edge = problem_.edges[e];
    around[edge.source] += mix(mix(edges_[e], 3), colours_[edge.target]);
    around[edge.target] += mix(mix(edges_[e], 5), colours_[edge.source]);
  }
  for (size_t n = 0; n < colours_.size(); ++n) {
    colours_[n] = mix(colours_[n], around[n]);
  }
}

size_t Colouring::count() const {
  return std::unordered_set<uint64_t>(colours_.begin(), colours_.end()).size();
}

Collapse::Collapse(const Problem &problem, const std::vector<uint64_t> &colours) {
  collapsed_.tierBytesMax = problem.tierBytesMax;
  std::unordered_map<uint64_t, int32_t> classes;
  for (size_t n = 0; n < problem.nodes.size(); ++n) {
    const Node &node = problem.nodes[n];
    auto [entry, isNew] =
        classes.try_emplace(colours[n], static_cast<int32_t>(collapsed_.nodes.size()));
    // Different nodes of one colour are as unlikely as equal prints of them; they stay apart.
    bool fits = isNew || collapsed_.nodes[entry->second].cost.size() == node.cost.size();
    classOf_.push_back(fits ? entry->second : static_cast<int32_t>(collapsed_.nodes.size()));
    if (isNew || !fits) {
      collapsed_.nodes.push_back(node);
      continue;
    }
    Node &all = collapsed_.nodes[entry->second];
    for (size_t s = 0; s < all.cost.size(); ++s) {
      all.cost[s] = std::min(kForbidden, all.cost[s] + node.cost[s]);
    }
    all.memory.insert(all.memory.end(), node.memory.begin(), node.memory.end());
  }
  std::unordered_map<uint64_t, size_t> known; // (class, class) -> edge
  for (const Edge &edge : problem.edges) {
    int32_t source = classOf_[edge.source];
    int32_t target = classOf_[edge.target];
    size_t width = collapsed_.nodes[target].cost.size();
    if (source == target) {
      std::vector<double> &cost = collapsed_.nodes[source].cost;
      for (size_t s = 0; s < width; ++s) {
        cost[s] = std::min(kForbidden, cost[s] + edge.cost[s * width + s]);
      }
      continue;
    }
    uint64_t key = static_cast<uint64_t>(source) << 32 | static_cast<uint32_t>(target);
    auto [entry, isNew] = known.try_emplace(key, collapsed_.edges.size());
    if (isNew) {
      collapsed_.edges.push_back({source, target, edge.cost});
      continue;
    }
    std::vector<double> &cost = collapsed_.edges[entry->second].cost;
    for (size_t i = 0; i < cost.size(); ++i) {
      cost[i] = std::min(kForbidden, cost[i] + edge.cost[i]);
    }
  }
}

Choice Collapse::expand(const Choice &collapsed) const {
  Choice choice;
  choice.reserve(classOf_.size());
  for (int32_t each : classOf_) {
    choice.push_back(collapsed[each]);
  }
  return choice;
}

} // namespace headrace::solve
