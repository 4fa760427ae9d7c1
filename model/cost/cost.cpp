// Sums of costs, and the parts of the model on a topology.
#include "model/cost/cost.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace headrace::cost {

Cost operator+(const Cost &left, const Cost &right) {
  Cost sum{left.seconds + right.seconds, 0};
  if (sum.seconds > 0) {
    sum.relativeError =
        std::hypot(left.seconds * left.relativeError, right.seconds * right.relativeError) /
        sum.seconds;
  }
  return sum;
}

Cost Breakdown::total() const {
  Cost sum;
  for (const Part &part : parts) {
    sum = sum + part.cost;
  }
  return sum;
}

std::string Breakdown::text() const {
  Cost sum = total();
  std::string lines;
  auto line = [&](const std::string &name, const Cost &cost) {
    char buffer[160];
    double share = sum.seconds > 0 ? 100 * cost.seconds / sum.seconds : 0;
    std::snprintf(buffer, sizeof buffer, "%-12s %12.6f ms  ±%.0f %%  %3.0f %%\n", name.c_str(),
                  1e3 * cost.seconds, 100 * cost.relativeError, share);
    lines += buffer;
  };
  for (const Part &part : parts) {
    line(part.name, part.cost);
  }
  line("total", sum);
  return lines;
}

CostModel::CostModel(std::shared_ptr<const topology::Topology> topology, Mesh mesh, int64_t threads)
    : topology_(std::move(topology)), mesh_(std::move(mesh)),
      workers_(workersOf(*topology_, mesh_.rankCount(), threads)),
      runs_(std::make_shared<const std::vector<NodeRun>>(nodeRuns(*topology_, mesh_.rankCount()))),
      loadOfByte_(loadOfByte()), doublingBytesMax_(doublingBytesMax()) {}

Expected<CostModel> CostModel::create(topology::Topology topology, Mesh mesh, int64_t threads) {
  HR_RETURN_IF_ERROR(mesh.check());
  if (mesh.rankCount() > topology.rankCount()) {
    return makeError(ErrorKind::kUser, "the mesh needs ", mesh.rankCount(), " ranks, but topology ",
                     topology.name, " has only ", topology.rankCount());
  }
  return CostModel(std::make_shared<const topology::Topology>(std::move(topology)), std::move(mesh),
                   threads);
}

const RankGroups &CostModel::groups(AxisSet axes) const {
  auto known = groups_.find(axes);
  if (known == groups_.end()) {
    RankGroups made = mesh_.sizeOf(axes) == mesh_.rankCount() ? RankGroups(*runs_)
                                                              : RankGroups(*runs_, mesh_, axes);
    known = groups_.emplace(axes, std::move(made)).first;
  }
  return known->second;
}

Movement CostModel::movement(topology::CollectiveKind kind, AxisSet axes, double bytes) const {
  return mesh_.sizeOf(axes) == 1 ? Movement()
                                 : collectiveMovement(groups(axes), topology_->collectives, kind,
                                                      bytes, doublingBytesMax_);
}

Cost CostModel::collective(topology::CollectiveKind kind, AxisSet axes, double bytes) const {
  Movement moved = movement(kind, axes, bytes);
  return {moved.seconds(), moved.relativeError};
}

Movement CostModel::movement(plan::ExchangeKind kind, AxisSet axes, double bytesPerRank,
                             double fullest) const {
  return mesh_.sizeOf(axes) == 1
             ? Movement()
             : exchangeMovement(groups(axes), topology_->collectives, kind, bytesPerRank, fullest);
}

Cost CostModel::exchange(plan::ExchangeKind kind, AxisSet axes, double bytesPerRank,
                         double fullest) const {
  Movement moved = movement(kind, axes, bytesPerRank, fullest);
  return {moved.seconds(), moved.relativeError};
}

Cost CostModel::loadOfByte() const {
  Cost worst;
  for (const NodeRun &run : *runs_) {
    topology::Quantity rate = storageRate(*run.pair, run.nodeType());
    double seconds = rate.value > 0 ? static_cast<double>(run.ranks) / rate.value : 0;
    if (seconds > worst.seconds) {
      worst = {seconds, rate.relativeError};
    }
  }
  return worst;
}

double CostModel::memoryBytes() const {
  double least = device().capacityBytes;
  for (const NodeRun &run : *runs_) {
    least = std::min(least, run.deviceType().capacityBytes);
  }
  return least;
}

} // namespace headrace::cost
