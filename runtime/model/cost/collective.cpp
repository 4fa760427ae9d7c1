// Collectives: fitted curves where the topology has them, formulas on its routes where not.
#include "runtime/model/cost/cost.h"
#include "runtime/model/cost/curve.h"

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

} // namespace

Cost CostModel::collective(CollectiveKind kind, AxisSet axes, double bytes) const {
  if (mesh_.sizeOf(axes) == 1) {
    return {};
  }
  const CollectiveFit *fit = leastFit(kind, axes, bytes);
  return fit ? Cost{predictSeconds(*fit, shapeOf(axes), bytes), fit->relativeError}
             : derived(kind, axes, bytes);
}

Breakdown CostModel::collectiveParts(CollectiveKind kind, AxisSet axes, double bytes) const {
  Breakdown breakdown;
  if (mesh_.sizeOf(axes) == 1) {
    return breakdown;
  }
  if (const CollectiveFit *fit = leastFit(kind, axes, bytes)) {
    TermValues values = termValues(*fit, shapeOf(axes), bytes);
    for (size_t term = 0; term < kTermCount; ++term) {
      double seconds = coefficient(*fit, static_cast<Term>(term)) * values[term];
      if (seconds > 0) {
        breakdown.parts.push_back(
            {termName(static_cast<Term>(term)), {seconds, fit->relativeError}});
      }
    }
    breakdown.dependence = Dependence::kCommon;
    return breakdown;
  }
  breakdown.parts.push_back({"routes", derived(kind, axes, bytes)});
  return breakdown;
}

const CollectiveFit *CostModel::leastFit(CollectiveKind kind, AxisSet axes, double bytes) const {
  return cost::leastFit(topology_->collectives, kind, levelOf(axes), shapeOf(axes), bytes);
}

GroupShape CostModel::shapeOf(AxisSet axes) const {
  Spread spread = spreadOf(axes);
  return {mesh_.sizeOf(axes), spread.nodes, spread.remotePeers};
}

Cost CostModel::derived(CollectiveKind kind, AxisSet axes, double bytes) const {
  int64_t members = mesh_.sizeOf(axes);
  if (kind == CollectiveKind::kAllToAll) {
    const Load &load = patternLoad(Pattern::kAllPairs, axes);
    return {load.latencySeconds + bytes * load.secondsPerByte, load.relativeError};
  }
  // A ring sends the fewest bytes; a tree takes the fewest steps but sends the buffer at each of
  // them.
  const Load &ring = patternLoad(Pattern::kRing, axes);
  double ringSeconds = stepCount(kind, members) * ring.latencySeconds +
                       sentFraction(kind, members) * bytes * ring.secondsPerByte;
  double levels = static_cast<double>(ceilLog2(members));
  double treeSteps = kind == CollectiveKind::kAllReduce ? 2 * levels : levels;
  double treeSeconds = treeSteps * (ring.latencySeconds + bytes * ring.secondsPerByte);
  return {std::min(ringSeconds, treeSeconds), ring.relativeError};
}

} // namespace headrace::cost
