// Progressive filling, one precedence after the other.
#include "model/simulate/fair_share.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace headrace::simulate {

using topology::Sharing;

namespace {

// Rates within this of the lowest level are full together: rounding must not split one bottleneck
// in two.
constexpr double kLevelSlack = 1e-12;

} // namespace

FairShare::FairShare(const Graph &graph)
    : graph_(graph), left_(graph.resources.size()), demand_(graph.resources.size(), 0),
      users_(graph.resources.size(), 0) {}

void FairShare::rates(const std::vector<int32_t> &running, std::vector<FairRate> &result) {
  result.assign(running.size(), {});
  bounds_.resize(running.size());
  for (int32_t id : running) {
    for (const Use &use : graph_.activities[id].uses) {
      left_[use.resource] = graph_.resources[use.resource].capacity;
    }
  }
  auto precedence = [&](size_t at) { return graph_.activities[running[at]].precedence; };
  std::vector<size_t> order(running.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return precedence(a) < precedence(b); });
  for (auto first = order.begin(); first != order.end();) {
    auto last = std::find_if(first, order.end(),
                             [&](size_t at) { return precedence(at) != precedence(*first); });
    fill(running, {first, last}, result);
    first = last;
  }
}

void FairShare::fill(const std::vector<int32_t> &running, std::vector<size_t> rising,
                     std::vector<FairRate> &result) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  touched_.clear();
  // What bounds each alone: its own rate, and the fatpipes it goes through.
  for (size_t i : rising) {
    const Activity &activity = graph_.activities[running[i]];
    FairRate &bound = bounds_[i];
    bound = {activity.rateMax > 0 ? activity.rateMax : kInfinite, kNone};
    for (const Use &use : activity.uses) {
      if (use.amount <= 0) {
        continue;
      }
      const Resource &resource = graph_.resources[use.resource];
      if (resource.sharing == Sharing::kFatpipe) {
        if (resource.capacity / use.amount < bound.bytesPerSecond) {
          bound = {resource.capacity / use.amount, use.resource};
        }
        continue;
      }
      if (users_[use.resource] == 0) {
        touched_.push_back(use.resource);
        if (left_[use.resource] < resource.capacity * kLevelSlack) {
          left_[use.resource] = 0; // rounding
        }
      }
      demand_[use.resource] += use.amount;
      ++users_[use.resource];
    }
  }
  auto level = [&](int32_t resource) {
    return demand_[resource] > 0 ? std::max(0.0, left_[resource]) / demand_[resource] : kInfinite;
  };
  while (!rising.empty()) {
    double lowest = kInfinite;
    for (int32_t resource : touched_) {
      lowest = std::min(lowest, level(resource));
    }
    for (size_t i : rising) {
      lowest = std::min(lowest, bounds_[i].bytesPerSecond);
    }
    double threshold = lowest * (1 + kLevelSlack);
    std::vector<size_t> still;
    std::vector<size_t> stopped;
    for (size_t i : rising) {
      int32_t full = kNone;
      bool stops = bounds_[i].bytesPerSecond <= threshold;
      if (stops) {
        full = bounds_[i].bottleneck;
      }
      for (const Use &use : graph_.activities[running[i]].uses) {
        if (!stops && use.amount > 0 &&
            graph_.resources[use.resource].sharing == Sharing::kShared &&
            level(use.resource) <= threshold) {
          stops = true;
          full = use.resource;
        }
      }
      if (stops || lowest == kInfinite) {
        result[i] = {lowest, full};
        stopped.push_back(i);
      } else {
        still.push_back(i);
      }
    }
    for (size_t i : stopped) {
      for (const Use &use : graph_.activities[running[i]].uses) {
        if (use.amount > 0 && graph_.resources[use.resource].sharing == Sharing::kShared) {
          left_[use.resource] -= use.amount * result[i].bytesPerSecond;
          demand_[use.resource] -= use.amount;
          if (--users_[use.resource] == 0) {
            demand_[use.resource] = 0; // what a sum of differences leaves is rounding
          }
        }
      }
    }
    rising = std::move(still);
  }
}

} // namespace headrace::simulate
