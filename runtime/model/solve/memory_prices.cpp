// Rows are (tier, key time); a node's use covers a run of rows of its tier.
#include "runtime/model/solve/memory_prices.h"

#include <algorithm>
#include <numeric>

namespace headrace::solve {
namespace {

std::vector<int32_t> keyTimes(const Problem &problem, int32_t tier) {
  enum : int { kEnd, kStart };
  std::vector<std::pair<int32_t, int>> events;
  for (const Node &node : problem.nodes) {
    for (const MemoryUse &use : node.memory) {
      if (use.tier == tier && use.first < use.last) {
        events.push_back({use.first, kStart});
        events.push_back({use.last, kEnd});
      }
    }
  }
  std::sort(events.begin(), events.end());
  std::vector<int32_t> times;
  for (size_t i = 0; i + 1 < events.size(); ++i) {
    if (events[i].second == kStart && events[i + 1].second == kEnd) {
      times.push_back(events[i].first);
    }
  }
  return times;
}

} // namespace

MemoryPrices::MemoryPrices(const Problem &problem) : uses_(problem.nodes.size()) {
  std::vector<double> most;
  for (size_t tier = 0; tier < problem.tierBytesMax.size(); ++tier) {
    std::vector<int32_t> times = keyTimes(problem, static_cast<int32_t>(tier));
    int32_t base = static_cast<int32_t>(limit_.size());
    // A limit of zero still needs a scale for excess.
    limit_.resize(limit_.size() + times.size(), std::max(problem.tierBytesMax[tier], 1.0));
    most.resize(limit_.size(), 0);
    for (size_t n = 0; n < problem.nodes.size(); ++n) {
      for (const MemoryUse &use : problem.nodes[n].memory) {
        if (use.tier != static_cast<int32_t>(tier) || use.first >= use.last) {
          continue;
        }
        auto first = std::lower_bound(times.begin(), times.end(), use.first);
        auto last = std::lower_bound(times.begin(), times.end(), use.last);
        Use row{base + static_cast<int32_t>(first - times.begin()),
                static_cast<int32_t>(last - first), &use.bytes};
        uses_[n].push_back(row);
        double largest = *std::max_element(use.bytes.begin(), use.bytes.end());
        for (int32_t r = row.row; r < row.row + row.rows; ++r) {
          most[r] += largest;
        }
      }
    }
  }
  price_.assign(limit_.size(), 0);
  for (size_t row = 0; row < limit_.size(); ++row) {
    canBind_ = canBind_ || most[row] > limit_[row];
  }
}

Unaries MemoryPrices::priced(const Unaries &base) const {
  std::vector<double> prefix(price_.size() + 1, 0);
  std::partial_sum(price_.begin(), price_.end(), prefix.begin() + 1);
  Unaries unaries = base;
  for (size_t node = 0; node < uses_.size(); ++node) {
    for (const Use &use : uses_[node]) {
      double price = prefix[use.row + use.rows] - prefix[use.row];
      for (size_t s = 0; s < unaries[node].size(); ++s) {
        unaries[node][s] += price * (*use.bytes)[s];
      }
    }
  }
  return unaries;
}

double MemoryPrices::rebate() const {
  return std::inner_product(price_.begin(), price_.end(), limit_.begin(), 0.0);
}

std::vector<double> MemoryPrices::load(const Choice &choice) const {
  std::vector<double> load(limit_.size(), 0);
  for (size_t node = 0; node < uses_.size(); ++node) {
    for (const Use &use : uses_[node]) {
      for (int32_t row = use.row; row < use.row + use.rows; ++row) {
        load[row] += (*use.bytes)[choice[node]];
      }
    }
  }
  return load;
}

double MemoryPrices::excess(const Choice &choice) const {
  std::vector<double> held = load(choice);
  double worst = 0;
  for (size_t row = 0; row < held.size(); ++row) {
    worst = std::max(worst, (held[row] - limit_[row]) / limit_[row]);
  }
  return worst;
}

void MemoryPrices::update(const Choice &choice, double gap, double relaxation) {
  std::vector<double> held = load(choice);
  std::vector<double> gradient(held.size());
  double norm = 0;
  for (size_t row = 0; row < held.size(); ++row) {
    gradient[row] = (held[row] - limit_[row]) / limit_[row];
    if (gradient[row] > 0 || price_[row] > 0) {
      norm += gradient[row] * gradient[row];
    }
  }
  double step = relaxation * gap / std::max(norm, 1e-9);
  for (size_t row = 0; row < held.size(); ++row) {
    price_[row] = std::max(0.0, price_[row] + step * gradient[row] / limit_[row]);
  }
}

void MemoryPrices::repair(const Graph &graph, const Unaries &base, double penalty, Choice &choice,
                          std::mt19937_64 &random) const {
  constexpr int kRoundsMax = 20;
  std::vector<double> held = load(choice);
  std::vector<int32_t> order(graph.size());
  std::iota(order.begin(), order.end(), 0);
  auto localCost = [&](int32_t node, int32_t strategy) {
    double cost = base[node][strategy];
    for (int32_t e : graph.around[node]) {
      const GraphEdge &edge = graph.edges[e];
      cost += graph.edgeCost(edge, node, strategy, choice[edge.other(node)]);
    }
    return cost;
  };
  auto move = [&](int32_t node, int32_t strategy, double sign) {
    for (const Use &use : uses_[node]) {
      for (int32_t row = use.row; row < use.row + use.rows; ++row) {
        held[row] += sign * (*use.bytes)[strategy];
      }
    }
  };
  auto excessOf = [&](int32_t node) {
    double sum = 0;
    for (const Use &use : uses_[node]) {
      for (int32_t row = use.row; row < use.row + use.rows; ++row) {
        sum += std::max(0.0, (held[row] - limit_[row]) / limit_[row]);
      }
    }
    return sum;
  };
  bool changed = true;
  for (int round = 0; round < kRoundsMax && changed; ++round) {
    changed = false;
    std::shuffle(order.begin(), order.end(), random);
    for (int32_t node : order) {
      int32_t present = choice[node];
      int32_t best = present;
      double bestCost = localCost(node, present) + penalty * excessOf(node);
      move(node, present, -1);
      for (int32_t s = 0; s < graph.strategies[node]; ++s) {
        move(node, s, 1);
        double cost = localCost(node, s) + penalty * excessOf(node);
        move(node, s, -1);
        if (cost < bestCost * (1 - 1e-12)) {
          bestCost = cost;
          best = s;
        }
      }
      move(node, best, 1);
      choice[node] = best;
      changed = changed || best != present;
    }
  }
}

} // namespace headrace::solve
