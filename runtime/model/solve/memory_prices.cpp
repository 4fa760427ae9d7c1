// Rows are (tier, time); a node's use covers a run of them.
#include "runtime/model/solve/memory_prices.h"

#include <algorithm>
#include <numeric>

namespace headrace::solve {

MemoryUses::MemoryUses(const Problem &problem) {
  MemoryRows rows(problem);
  for (double limit : rows.limit()) {
    limit_.push_back(std::max(limit, 1.0));
  }
  first_.push_back(0);
  for (const Node &node : problem.nodes) {
    for (const MemoryUse &use : node.memory) {
      RowRange range = rows.rows(use);
      if (!range.empty()) {
        uses_.push_back({range, bytes_.size()});
        bytes_.insert(bytes_.end(), use.bytes.begin(), use.bytes.end());
      }
    }
    first_.push_back(static_cast<int32_t>(uses_.size()));
  }
}

void MemoryUses::load(const Choice &choice, std::vector<double> &load) const {
  load.assign(limit_.size() + 1, 0);
  for (size_t node = 0; node < choice.size(); ++node) {
    for (const Use &use : of(static_cast<int32_t>(node))) {
      double held = bytes(use)[choice[node]];
      load[use.rows.first] += held;
      load[use.rows.last] -= held;
    }
  }
  std::partial_sum(load.begin(), load.end(), load.begin());
  load.pop_back();
}

double MemoryUses::excess(const Choice &choice) const {
  std::vector<double> held;
  load(choice, held);
  double worst = 0;
  for (size_t row = 0; row < held.size(); ++row) {
    worst = std::max(worst, (held[row] - limit_[row]) / limit_[row]);
  }
  return worst;
}

void MemoryUses::addPrices(const Graph &graph, const std::vector<double> &price,
                           Unaries &unaries) const {
  std::vector<double> prefix(price.size() + 1, 0);
  std::partial_sum(price.begin(), price.end(), prefix.begin() + 1);
  if (prefix.back() <= 0) {
    return;
  }
  for (size_t n = 0; n < graph.size(); ++n) {
    auto node = static_cast<int32_t>(n);
    double *costs = unaries.data() + graph.unaryAt(node);
    for (const Use &use : of(node)) {
      double perByte = prefix[use.rows.last] - prefix[use.rows.first];
      if (perByte > 0) {
        for (int32_t s = 0; s < graph.strategies(node); ++s) {
          costs[s] += perByte * bytes(use)[s];
        }
      }
    }
  }
}

double MemoryPrices::rebate() const {
  return std::inner_product(price_.begin(), price_.end(), uses_->limit().begin(), 0.0);
}

void MemoryPrices::update(const Choice &choice, double gap) {
  uses_->load(choice, load_);
  const std::vector<double> &limit = uses_->limit();
  direction_.resize(load_.size());
  double norm = 0;
  for (size_t row = 0; row < load_.size(); ++row) {
    direction_[row] = (load_[row] - limit[row]) / limit[row];
    if (direction_[row] > 0 || price_[row] > 0) {
      norm += direction_[row] * direction_[row];
    }
  }
  double step = gap / std::max(norm, 1e-9);
  for (size_t row = 0; row < load_.size(); ++row) {
    price_[row] = std::max(0.0, price_[row] + step * direction_[row] / limit[row]);
  }
}

} // namespace headrace::solve
