// Max-min fair rates by progressive filling: all rates rise together until a resource is full; one
// precedence after the other.
#pragma once

#include "model/simulate/graph.h"

#include <cstdint>
#include <vector>

namespace headrace::simulate {

/// A rate and what holds it down: a resource, or kNone for its own bound.
struct FairRate {
  double bytesPerSecond = 0;
  int32_t bottleneck = kNone;
};

/// Keeps its buffers between calls. One thread at a time.
class FairShare {
public:
  explicit FairShare(const Graph &graph);
  /// The rates of the activities in `running` (indices into the graph), in that order. An activity
  /// that neither uses a resource nor has a bound gets an infinite rate. O(rounds × uses), at most
  /// one round an activity.
  void rates(const std::vector<int32_t> &running, std::vector<FairRate> &result);

private:
  /// Those of one precedence, as positions in `running`, from what is left.
  void fill(const std::vector<int32_t> &running, std::vector<size_t> rising,
            std::vector<FairRate> &result);
  const Graph &graph_;
  std::vector<double> left_;   // capacity not yet given away
  std::vector<double> demand_; // amounts of the activities that still rise
  std::vector<int32_t> users_; // how many those are
  std::vector<int32_t> touched_;
  std::vector<FairRate> bounds_; // by position in `running`: what holds it down alone
};

} // namespace headrace::simulate
