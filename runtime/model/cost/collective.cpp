// Collectives: fitted curves where the topology has them, formulas on its routes where not.
#include "runtime/model/cost/cost.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace headrace::cost {

using topology::CollectiveFit;
using topology::CollectiveKind;
using topology::Level;

namespace {

int64_t ceilLog2(int64_t count) {
  return std::bit_width(static_cast<uint64_t>(count > 1 ? count - 1 : 0));
}

/// Messages one after the other in a ring (or to each peer): n−1, and twice that for all-reduce.
double stepCount(CollectiveKind kind, int64_t members) {
  double steps = static_cast<double>(members - 1);
  return kind == CollectiveKind::kAllReduce ? 2 * steps : steps;
}

/// The part of the buffer that each rank sends.
double sentFraction(CollectiveKind kind, int64_t members) {
  double fraction = static_cast<double>(members - 1) / static_cast<double>(members);
  switch (kind) {
  case CollectiveKind::kAllReduce:
    return 2 * fraction;
  case CollectiveKind::kBroadcast:
    return 1;
  default:
    return fraction;
  }
}

} // namespace

Cost CostModel::collective(CollectiveKind kind, AxisSet axes, double bytes) const {
  if (mesh_.sizeOf(axes) == 1) {
    return {};
  }
  Level level = levelOf(axes);
  Cost best;
  bool found = false;
  for (const CollectiveFit &fit : topology_->collectives) {
    if (fit.kind != kind || fit.level != level) {
      continue;
    }
    Cost cost = fitted(fit, axes, bytes);
    if (!found || cost.seconds < best.seconds) {
      best = cost;
      found = true;
    }
  }
  return found ? best : derived(kind, axes, bytes);
}

Cost CostModel::fitted(const CollectiveFit &fit, AxisSet axes, double bytes) const {
  int64_t members = mesh_.sizeOf(axes);
  Spread spread = spreadOf(axes);
  double fraction = sentFraction(fit.kind, members);
  if (fit.bandwidthIsAlgorithmic) {
    fraction = 1;
  } else if (fit.level == Level::kNetwork && fit.kind == CollectiveKind::kAllToAll) {
    fraction = static_cast<double>(spread.remotePeers) / static_cast<double>(members);
  }
  double moved = fraction * bytes;
  Cost cost;
  cost.seconds = fit.baseSeconds + fit.perStepSeconds * stepCount(fit.kind, members) +
                 fit.perRankSeconds * static_cast<double>(members) +
                 fit.perPeerSeconds * static_cast<double>(spread.remotePeers) +
                 fit.perLog2NodeSeconds * std::log2(static_cast<double>(spread.nodes)) +
                 fit.sqrtTerm * std::sqrt(moved) + moved / fit.bandwidth;
  cost.relativeError = fit.relativeError;
  return cost;
}

Cost CostModel::derived(CollectiveKind kind, AxisSet axes, double bytes) const {
  int64_t members = mesh_.sizeOf(axes);
  if (kind == CollectiveKind::kAllToAll) {
    const Load &load = patternLoad(Pattern::kAllPairs, axes);
    return {load.latencySeconds + bytes * load.secondsPerByte, load.relativeError};
  }
  // A ring sends the fewest bytes; a tree takes the fewest steps but sends the buffer at each of them.
  const Load &ring = patternLoad(Pattern::kRing, axes);
  double ringSeconds = stepCount(kind, members) * ring.latencySeconds +
                       sentFraction(kind, members) * bytes * ring.secondsPerByte;
  double levels = static_cast<double>(ceilLog2(members));
  double treeSteps = kind == CollectiveKind::kAllReduce ? 2 * levels : levels;
  double treeSeconds = treeSteps * (ring.latencySeconds + bytes * ring.secondsPerByte);
  return {std::min(ringSeconds, treeSeconds), ring.relativeError};
}

} // namespace headrace::cost
