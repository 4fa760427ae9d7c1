// Rows are (tier, time); a node's use covers a run of them.
#include "model/solve/memory_prices.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

namespace headrace::solve {
namespace {

// The share of the last direction in the next one: steps do not go to and fro.
constexpr double kMemory = 0.5;

bool isConstant(const MemoryUse &use) {
  return std::all_of(use.bytes.begin(), use.bytes.end(),
                     [&](double bytes) { return bytes == use.bytes.front(); });
}

} // namespace

MemoryUses::MemoryUses(const Problem &problem) {
  MemoryRows rows(problem);
  std::vector<int32_t> place = chooseRows(problem, rows);
  first_.push_back(0);
  for (const Node &node : problem.nodes) {
    for (const MemoryUse &use : node.memory) {
      RowRange range = rows.rows(use);
      range = {place[range.first], place[range.last]};
      if (range.empty()) {
        continue;
      }
      if (isConstant(use)) {
        for (int32_t row = range.first; row < range.last; ++row) {
          settled_[row] += use.bytes.front();
        }
        continue;
      }
      uses_.push_back({range, bytes_.size()});
      bytes_.insert(bytes_.end(), use.bytes.begin(), use.bytes.end());
    }
    first_.push_back(static_cast<int32_t>(uses_.size()));
  }
}

std::vector<int32_t> MemoryUses::chooseRows(const Problem &problem, const MemoryRows &rows) {
  // From one row to the next, what no choice decides changes by numbers, the rest may rise or fall.
  // A row beside one that holds at least as much under every choice need not be looked at.
  size_t count = rows.size();
  if (count == 0) {
    return {0};
  }
  std::vector<double> settled(count + 1, 0);
  std::vector<bool> mayRise(count + 1, false);
  std::vector<bool> mayFall(count + 1, false);
  for (const Node &node : problem.nodes) {
    std::map<int32_t, std::vector<double>> changes; // by row
    for (const MemoryUse &use : node.memory) {
      RowRange range = rows.rows(use);
      if (range.empty()) {
        continue;
      }
      if (isConstant(use)) {
        settled[range.first] += use.bytes.front();
        settled[range.last] -= use.bytes.front();
        continue;
      }
      std::vector<double> &begin = changes.try_emplace(range.first, use.bytes.size()).first->second;
      std::vector<double> &end = changes.try_emplace(range.last, use.bytes.size()).first->second;
      for (size_t s = 0; s < use.bytes.size(); ++s) {
        begin[s] += use.bytes[s];
        end[s] -= use.bytes[s];
      }
    }
    for (const auto &[row, change] : changes) {
      auto [least, most] = std::minmax_element(change.begin(), change.end());
      mayRise[row] = mayRise[row] || *most > 0;
      mayFall[row] = mayFall[row] || *least < 0;
    }
  }
  std::vector<bool> dropped(count, false);
  for (size_t row = 1; row < count; ++row) {
    bool sameTier =
        rows.tierOf(static_cast<int32_t>(row)) == rows.tierOf(static_cast<int32_t>(row) - 1);
    if (sameTier && !mayFall[row] && settled[row] >= 0) {
      dropped[row - 1] = true;
    } else if (sameTier && !mayRise[row] && settled[row] <= 0) {
      dropped[row] = true;
    }
  }
  std::vector<int32_t> place;
  for (size_t row = 0; row < count; ++row) {
    place.push_back(static_cast<int32_t>(limit_.size()));
    if (!dropped[row]) {
      limit_.push_back(std::max(rows.limit()[row], 1.0));
      tier_.push_back(rows.tierOf(static_cast<int32_t>(row)));
      time_.push_back(rows.timeOf(static_cast<int32_t>(row)));
    }
  }
  place.push_back(static_cast<int32_t>(limit_.size()));
  settled_.assign(limit_.size(), 0);
  return place;
}

int32_t MemoryUses::rowNear(int32_t tier, int32_t time) const {
  auto [begin, end] = std::equal_range(tier_.begin(), tier_.end(), tier);
  if (begin == end) {
    return -1;
  }
  auto first = time_.begin() + (begin - tier_.begin());
  auto last = time_.begin() + (end - tier_.begin());
  auto after = std::lower_bound(first, last, time);
  bool isBefore = after == last || (after != first && time - after[-1] < *after - time);
  return static_cast<int32_t>(after - time_.begin()) - (isBefore ? 1 : 0);
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
  std::transform(load.begin(), load.end(), settled_.begin(), load.begin(), std::plus<>());
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
    addPrices(node, graph.strategies(node), prefix, unaries.data() + graph.unaryAt(node));
  }
}

void MemoryUses::addPrices(int32_t node, int32_t strategies, const std::vector<double> &prefix,
                           double *costs) const {
  for (const Use &use : of(node)) {
    double perByte = prefix[use.rows.last] - prefix[use.rows.first];
    if (perByte > 0) {
      const double *held = bytes(use);
      for (int32_t s = 0; s < strategies; ++s) {
        costs[s] += perByte * held[s];
      }
    }
  }
}

std::vector<PriceAt> MemoryPrices::list() const {
  std::vector<PriceAt> prices;
  for (size_t row = 0; row < price_.size(); ++row) {
    if (price_[row] > 0) {
      prices.push_back({uses_->tierOf(row), uses_->timeOf(row), price_[row]});
    }
  }
  return prices;
}

void MemoryPrices::set(const std::vector<PriceAt> &prices) {
  std::fill(price_.begin(), price_.end(), 0.0);
  for (const PriceAt &each : prices) {
    int32_t row = uses_->rowNear(each.tier, each.time);
    if (row >= 0) {
      price_[row] += each.price;
    }
  }
}

double MemoryPrices::rebate() const {
  double sum = 0;
  for (size_t row = 0; row < price_.size(); ++row) {
    sum += price_[row] * (uses_->limit()[row] - uses_->settled()[row]);
  }
  return sum;
}

void MemoryPrices::update(const Choice &choice, double gap) {
  uses_->load(choice, load_);
  const std::vector<double> &limit = uses_->limit();
  direction_.resize(load_.size());
  double norm = 0;
  for (size_t row = 0; row < load_.size(); ++row) {
    direction_[row] = kMemory * direction_[row] + (load_[row] - limit[row]) / limit[row];
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
