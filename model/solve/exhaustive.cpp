// Depth first in node order. Cost is bounded by the cheapest strategies of what is open, memory by
// the leanest.
#include "model/solve/exhaustive.h"

#include <algorithm>

namespace headrace::solve {
namespace {

constexpr double kSlack = 1e-12;

class Search {
public:
  Search(const Graph &graph, const MemoryUses &uses, double below, int64_t steps)
      : graph_(graph), uses_(uses), steps_(steps), choice_(graph.size(), 0),
        openCost_(graph.size() + 1, 0), load_(uses.settled()) {
    result_.cost = below;
    for (size_t n = graph.size(); n-- > 0;) {
      auto node = static_cast<int32_t>(n);
      const double *costs = graph.unaries().data() + graph.unaryAt(node);
      openCost_[n] = openCost_[n + 1] + *std::min_element(costs, costs + graph.strategies(node));
      for (const MemoryUses::Use &use : uses.of(node)) {
        hold(use, leanest(node, use));
      }
    }
  }

  ExhaustiveResult run() {
    if (fits()) {
      visit(0, 0);
    }
    result_.finished = steps_ > 0;
    return std::move(result_);
  }

private:
  double leanest(int32_t node, const MemoryUses::Use &use) const {
    const double *bytes = uses_.bytes(use);
    return *std::min_element(bytes, bytes + graph_.strategies(node));
  }
  void hold(const MemoryUses::Use &use, double bytes) {
    for (int32_t row = use.rows.first; row < use.rows.last; ++row) {
      load_[row] += bytes;
    }
    steps_ -= 1 + (use.rows.last - use.rows.first);
  }
  bool fits() const {
    for (size_t row = 0; row < load_.size(); ++row) {
      if (load_[row] > uses_.limit()[row] * (1 + kSlack)) {
        return false;
      }
    }
    return true;
  }
  bool fitsDuring(int32_t node) const {
    for (const MemoryUses::Use &use : uses_.of(node)) {
      for (int32_t row = use.rows.first; row < use.rows.last; ++row) {
        if (load_[row] > uses_.limit()[row] * (1 + kSlack)) {
          return false;
        }
      }
    }
    return true;
  }

  void visit(int32_t node, double cost) {
    if (node == static_cast<int32_t>(graph_.size())) {
      result_.found = true;
      result_.cost = cost;
      result_.choice = choice_;
      return;
    }
    for (int32_t s = 0; s < graph_.strategies(node) && steps_ > 0; ++s) {
      --steps_;
      double with = cost + graph_.unaries()[graph_.unaryAt(node) + s];
      for (const Incidence &edge : graph_.around(node)) {
        if (edge.other > node) {
          break; // ordered by the other end
        }
        with += graph_.table(
            edge)[static_cast<size_t>(s) * graph_.strategies(edge.other) + choice_[edge.other]];
        --steps_;
      }
      if (with + openCost_[node + 1] >= result_.cost) {
        continue;
      }
      choice_[node] = s;
      for (const MemoryUses::Use &use : uses_.of(node)) {
        hold(use, uses_.bytes(use)[s] - leanest(node, use));
      }
      if (fitsDuring(node)) {
        visit(node + 1, with);
      }
      for (const MemoryUses::Use &use : uses_.of(node)) {
        hold(use, leanest(node, use) - uses_.bytes(use)[s]);
      }
    }
  }

  const Graph &graph_;
  const MemoryUses &uses_;
  int64_t steps_;
  Choice choice_;
  std::vector<double> openCost_; ///< from a node on, without edges
  std::vector<double> load_;     ///< of what is chosen, and the leanest of what is open
  ExhaustiveResult result_;
};

} // namespace

ExhaustiveResult searchExhaustively(const Graph &graph, const MemoryUses &uses, double below,
                                    int64_t steps) {
  return Search(graph, uses, below, steps).run();
}

} // namespace headrace::solve
