// Elimination of nodes of degree 0, 1 and 2, fixing others at the present choice.
#include "runtime/model/solve/neighbourhood.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace headrace::solve {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Elimination {
public:
  Elimination(const Graph &graph, const Unaries &unaries, const Choice &present,
              std::mt19937_64 &random)
      : graph_(graph), unaries_(unaries), present_(present), neighbours_(graph.size()),
        neighboursWhenGone_(graph.size()), fixed_(graph.size(), Fixed::kNo) {
    for (const GraphEdge &edge : graph.edges) {
      link(edge.source, edge.target, edge.cost);
    }
    std::uniform_real_distribution<double> spread(0.3, 1.3);
    for (size_t node = 0; node < graph.size(); ++node) {
      priority_.push_back(spread(random));
      enqueue(static_cast<int32_t>(node));
    }
  }

  NeighbourhoodResult run() {
    NeighbourhoodResult result;
    while (!low_.empty() || !high_.empty()) {
      int32_t node = low_.empty() ? high_.begin()->second : low_.begin()->second;
      dequeue(node);
      std::vector<Neighbour> around(neighbours_[node].begin(), neighbours_[node].end());
      order_.push_back(node);
      neighboursWhenGone_[node] = around;
      switch (around.size()) {
      case 0:
        break;
      case 1:
        eliminateOne(node, around[0]);
        break;
      case 2:
        eliminateTwo(node, around[0], around[1]);
        break;
      default:
        fix(node, around);
        ++result.fixed;
      }
      neighbours_[node].clear();
    }
    result.choice = assign();
    return result;
  }

private:
  struct Table {
    int32_t first;
    std::vector<double> cost; // [strategy of first × strategies of the other + other's]
  };
  using Neighbour = std::pair<int32_t, int32_t>; // node, table
  enum class Fixed : uint8_t { kNo, kYes };

  double at(int32_t table, int32_t node, int32_t own, int32_t other, int32_t others) const {
    const Table &entries = tables_[table];
    return entries.first == node
               ? entries.cost[static_cast<size_t>(own) * graph_.strategies[other] + others]
               : entries.cost[static_cast<size_t>(others) * graph_.strategies[node] + own];
  }
  void link(int32_t first, int32_t second, std::vector<double> cost) {
    int32_t index = static_cast<int32_t>(tables_.size());
    tables_.push_back({first, std::move(cost)});
    neighbours_[first][second] = index;
    neighbours_[second][first] = index;
  }
  std::pair<double, int32_t> highKey(int32_t node) const {
    return {-static_cast<double>(neighbours_[node].size()) * priority_[node], node};
  }
  void enqueue(int32_t node) {
    if (neighbours_[node].size() <= 2) {
      low_.insert({neighbours_[node].size(), node});
    } else {
      high_.insert(highKey(node));
    }
  }
  void dequeue(int32_t node) {
    low_.erase({neighbours_[node].size(), node});
    high_.erase(highKey(node));
  }
  /// Takes `gone` out of `node`'s neighbours and files the node again under its new degree.
  void detach(int32_t node, int32_t gone) {
    dequeue(node);
    neighbours_[node].erase(gone);
    enqueue(node);
  }

  void eliminateOne(int32_t node, Neighbour neighbour) {
    auto [other, table] = neighbour;
    for (int32_t t = 0; t < graph_.strategies[other]; ++t) {
      double least = kInfinity;
      for (int32_t s = 0; s < graph_.strategies[node]; ++s) {
        least = std::min(least, unaries_[node][s] + at(table, node, s, other, t));
      }
      unaries_[other][t] += least;
    }
    detach(other, node);
  }

  void eliminateTwo(int32_t node, Neighbour first, Neighbour second) {
    auto [left, leftTable] = first;
    auto [right, rightTable] = second;
    int32_t width = graph_.strategies[right];
    std::vector<double> joint(static_cast<size_t>(graph_.strategies[left]) * width, kInfinity);
    for (int32_t l = 0; l < graph_.strategies[left]; ++l) {
      for (int32_t s = 0; s < graph_.strategies[node]; ++s) {
        double base = unaries_[node][s] + at(leftTable, node, s, left, l);
        for (int32_t r = 0; r < width; ++r) {
          double &entry = joint[static_cast<size_t>(l) * width + r];
          entry = std::min(entry, base + at(rightTable, node, s, right, r));
        }
      }
    }
    dequeue(left);
    dequeue(right);
    neighbours_[left].erase(node);
    neighbours_[right].erase(node);
    if (auto it = neighbours_[left].find(right); it != neighbours_[left].end()) {
      Table &table = tables_[it->second];
      for (int32_t l = 0; l < graph_.strategies[left]; ++l) {
        for (int32_t r = 0; r < width; ++r) {
          size_t index = table.first == left
                             ? static_cast<size_t>(l) * width + r
                             : static_cast<size_t>(r) * graph_.strategies[left] + l;
          table.cost[index] += joint[static_cast<size_t>(l) * width + r];
        }
      }
    } else {
      link(left, right, std::move(joint));
    }
    enqueue(left);
    enqueue(right);
  }

  void fix(int32_t node, const std::vector<Neighbour> &around) {
    fixed_[node] = Fixed::kYes;
    for (auto [other, table] : around) {
      for (int32_t t = 0; t < graph_.strategies[other]; ++t) {
        unaries_[other][t] += at(table, node, present_[node], other, t);
      }
      detach(other, node);
    }
  }

  Choice assign() const {
    Choice choice(graph_.size(), 0);
    for (size_t position = order_.size(); position-- > 0;) {
      int32_t node = order_[position];
      if (fixed_[node] == Fixed::kYes) {
        choice[node] = present_[node];
        continue;
      }
      double least = kInfinity;
      for (int32_t s = 0; s < graph_.strategies[node]; ++s) {
        double cost = unaries_[node][s];
        for (auto [other, table] : neighboursWhenGone_[node]) {
          cost += at(table, node, s, other, choice[other]);
        }
        if (cost < least) {
          least = cost;
          choice[node] = s;
        }
      }
    }
    return choice;
  }

  const Graph &graph_;
  Unaries unaries_;
  const Choice &present_;
  std::vector<std::map<int32_t, int32_t>> neighbours_; // node -> table; ordered, so runs repeat
  std::vector<std::vector<Neighbour>> neighboursWhenGone_;
  std::vector<Fixed> fixed_;
  std::vector<Table> tables_;
  std::vector<double> priority_;
  std::vector<int32_t> order_;
  std::set<std::pair<size_t, int32_t>> low_;
  std::set<std::pair<double, int32_t>> high_;
};

} // namespace

NeighbourhoodResult improve(const Graph &graph, const Unaries &unaries, const Choice &present,
                            std::mt19937_64 &random) {
  NeighbourhoodResult result = Elimination(graph, unaries, present, random).run();
  if (graph.cost(unaries, present) < graph.cost(unaries, result.choice)) {
    result.choice = present; // Rounding only: the present choice is in the neighbourhood.
  }
  return result;
}

} // namespace headrace::solve
