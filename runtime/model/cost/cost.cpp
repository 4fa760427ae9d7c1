// Construction of the model, transfers and traffic patterns.
#include "runtime/model/cost/cost.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

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
  double common = 0;
  for (const Part &part : parts) {
    common += part.cost.seconds * part.cost.relativeError;
    sum = sum + part.cost;
  }
  if (dependence == Dependence::kCommon && sum.seconds > 0) {
    sum.relativeError = common / sum.seconds;
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

CostModel::CostModel(std::shared_ptr<const topology::Topology> topology, Mesh mesh)
    : topology_(std::move(topology)), mesh_(std::move(mesh)),
      network_(std::make_shared<const Network>(*topology_, mesh_.rankCount())) {}

Expected<CostModel> CostModel::create(topology::Topology topology, Mesh mesh) {
  HR_RETURN_IF_ERROR(mesh.check());
  if (mesh.rankCount() > topology.rankCount()) {
    return makeError(ErrorKind::kUser, "the mesh needs ", mesh.rankCount(), " ranks, but topology ",
                     topology.name, " has only ", topology.rankCount());
  }
  return CostModel(std::make_shared<const topology::Topology>(std::move(topology)),
                   std::move(mesh));
}

CostModel::Load CostModel::loadOf(const std::vector<Flow> &flows) const {
  const std::vector<Link> &links = network_->links();
  std::vector<double> bytes(links.size(), 0);
  std::vector<double> latency(network_->places().size(), 0);
  for (const Flow &flow : flows) {
    if (flow.source == flow.target) {
      continue;
    }
    Path path = network_->path(flow.source, flow.target);
    latency[flow.source] += path.latencySeconds;
    for (int32_t link : path.links) {
      bytes[link] = links[link].sharing == topology::Sharing::kFatpipe
                        ? std::max(bytes[link], flow.bytes)
                        : bytes[link] + flow.bytes;
    }
  }
  Load load;
  for (size_t link = 0; link < links.size(); ++link) {
    double seconds = bytes[link] / links[link].bandwidth;
    if (seconds > load.secondsPerByte) {
      load.secondsPerByte = seconds;
      load.relativeError = links[link].relativeError;
    }
  }
  if (!latency.empty()) {
    load.latencySeconds = *std::max_element(latency.begin(), latency.end());
  }
  return load;
}

const CostModel::Load &CostModel::patternLoad(Pattern pattern, AxisSet axes) const {
  auto [it, added] = loads_.try_emplace({pattern, axes});
  if (!added) {
    return it->second;
  }
  std::vector<Flow> flows;
  for (const std::vector<int64_t> &group : mesh_.groups(axes)) {
    size_t size = group.size();
    for (size_t member = 0; member < size; ++member) {
      switch (pattern) {
      case Pattern::kRing:
        flows.push_back({group[member], group[(member + 1) % size], 1});
        break;
      case Pattern::kAllPairs:
        for (size_t peer = 0; peer < size; ++peer) {
          flows.push_back({group[member], group[peer], 1 / static_cast<double>(size)});
        }
        break;
      case Pattern::kToFirst:
        flows.push_back({group[member], group[0], 1});
        break;
      }
    }
  }
  it->second = loadOf(flows);
  return it->second;
}

Cost CostModel::copy(int64_t source, int64_t target, double bytes) const {
  if (source == target) {
    return {};
  }
  return exchange({{source, target, bytes}});
}

Cost CostModel::exchange(const std::vector<Flow> &flows) const {
  Load load = loadOf(flows);
  return {load.latencySeconds + load.secondsPerByte, load.relativeError};
}

Cost CostModel::shuffle(AxisSet axes, double bytesPerRank) const {
  constexpr double kSizeEntryBytes = 8;
  double peers = static_cast<double>(mesh_.sizeOf(axes));
  return collective(topology::CollectiveKind::kAllToAll, axes, bytesPerRank) +
         collective(topology::CollectiveKind::kAllGather, axes, kSizeEntryBytes * peers);
}

Cost CostModel::gather(AxisSet axes, double bytesPerRank) const {
  if (mesh_.sizeOf(axes) == 1) {
    return {};
  }
  const Load &load = patternLoad(Pattern::kToFirst, axes);
  return {load.latencySeconds + bytesPerRank * load.secondsPerByte, load.relativeError};
}

CostModel::Spread CostModel::spreadOf(AxisSet axes) const {
  Spread spread;
  for (const std::vector<int64_t> &group : mesh_.groups(axes)) {
    std::set<int64_t> nodes;
    for (int64_t rank : group) {
      nodes.insert(network_->places()[rank].node);
      int64_t remote = std::count_if(group.begin(), group.end(), [&](int64_t peer) {
        return network_->places()[peer].node != network_->places()[rank].node;
      });
      spread.remotePeers = std::max(spread.remotePeers, remote);
    }
    spread.nodes = std::max<int64_t>(spread.nodes, static_cast<int64_t>(nodes.size()));
  }
  return spread;
}

topology::Level CostModel::levelOf(AxisSet axes) const {
  return spreadOf(axes).nodes > 1 ? topology::Level::kNetwork : topology::Level::kNode;
}

double CostModel::memoryBytes() const {
  double least = network_->places().front().deviceType->capacityBytes;
  for (const RankPlace &place : network_->places()) {
    least = std::min(least, place.deviceType->capacityBytes);
  }
  return least;
}

} // namespace headrace::cost
