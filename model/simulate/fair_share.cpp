// Progressive filling.
#include "model/simulate/fair_share.h"

#include <algorithm>
#include <limits>

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
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  result.assign(running.size(), {});
  touched_.clear();
  // What bounds each alone: its own rate, and the fatpipes it goes through.
  std::vector<FairRate> bounds(running.size());
  for (size_t i = 0; i < running.size(); ++i) {
    const Activity &activity = graph_.activities[running[i]];
    bounds[i].bytesPerSecond = activity.rateMax > 0 ? activity.rateMax : kInfinite;
    for (const Use &use : activity.uses) {
      if (use.amount <= 0) {
        continue;
      }
      const Resource &resource = graph_.resources[use.resource];
      if (resource.sharing == Sharing::kFatpipe) {
        if (resource.capacity / use.amount < bounds[i].bytesPerSecond) {
          bounds[i] = {resource.capacity / use.amount, use.resource};
        }
        continue;
      }
      if (users_[use.resource] == 0) {
        touched_.push_back(use.resource);
        left_[use.resource] = resource.capacity;
      }
      demand_[use.resource] += use.amount;
      ++users_[use.resource];
    }
  }
  std::vector<size_t> rising(running.size());
  for (size_t i = 0; i < rising.size(); ++i) {
    rising[i] = i;
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
      lowest = std::min(lowest, bounds[i].bytesPerSecond);
    }
    double threshold = lowest * (1 + kLevelSlack);
    std::vector<size_t> still;
    std::vector<size_t> stopped;
    for (size_t i : rising) {
      int32_t full = kNone;
      bool stops = bounds[i].bytesPerSecond <= threshold;
      if (stops) {
        full = bounds[i].bottleneck;
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
