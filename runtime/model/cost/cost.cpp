// Construction of the model, transfers and traffic patterns.
#include "runtime/model/cost/cost.h"
#include "runtime/model/cost/link_load.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <tuple>

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

CostModel::CostModel(std::shared_ptr<const topology::Topology> topology, Mesh mesh, int64_t threads)
    : topology_(std::move(topology)), mesh_(std::move(mesh)),
      workers_(workersOf(*topology_, mesh_.rankCount(), threads)),
      network_(std::make_shared<const Network>(*topology_, mesh_.rankCount())),
      loadOfByte_(loadOfByte()) {}

Expected<CostModel> CostModel::create(topology::Topology topology, Mesh mesh, int64_t threads) {
  HR_RETURN_IF_ERROR(mesh.check());
  if (mesh.rankCount() > topology.rankCount()) {
    return makeError(ErrorKind::kUser, "the mesh needs ", mesh.rankCount(), " ranks, but topology ",
                     topology.name, " has only ", topology.rankCount());
  }
  return CostModel(std::make_shared<const topology::Topology>(std::move(topology)), std::move(mesh),
                   threads);
}

CostModel::Load CostModel::routed(const std::vector<Flow> &flows) const {
  LinkLoad load(*network_);
  for (const Flow &flow : flows) {
    load.add(flow.source, flow.target, flow.bytes);
  }
  LinkLoad::Fullest fullest = load.fullest();
  return {fullest.seconds, load.latencySeconds(), fullest.relativeError, fullest.name};
}

CostModel::Load CostModel::spreadEvenly(Pattern pattern, AxisSet axes) const {
  // Which ranks of which groups sit on each node. Nodes of one type with the same ranks of groups
  // alike carry the same, so the first stands for all: only the fullest link counts.
  struct Member {
    int64_t rank;
    size_t group;
  };
  std::vector<std::vector<int64_t>> groups = mesh_.groups(axes);
  std::map<int64_t, std::vector<Member>> byNode;
  std::vector<int64_t> nodesOfGroup(groups.size(), 0);
  for (size_t group = 0; group < groups.size(); ++group) {
    std::set<int64_t> nodes;
    for (int64_t rank : groups[group]) {
      byNode[network_->places()[rank].node].push_back({rank, group});
      nodes.insert(network_->places()[rank].node);
    }
    nodesOfGroup[group] = static_cast<int64_t>(nodes.size());
  }
  LinkLoad load(*network_);
  using Signature = std::vector<std::tuple<int64_t, size_t, int64_t>>;
  std::set<std::pair<const topology::NodeType *, Signature>> seen;
  for (const auto &[node, members] : byNode) {
    std::map<size_t, std::vector<int64_t>> here;
    Signature signature;
    for (const Member &member : members) {
      here[member.group].push_back(member.rank);
      signature.push_back({network_->places()[member.rank].device, here.size(),
                           static_cast<int64_t>(groups[member.group].size()) * kRanksMax +
                               nodesOfGroup[member.group]});
    }
    if (!seen.insert({network_->places()[members.front().rank].nodeType, signature}).second) {
      continue;
    }
    for (const auto &[group, ranks] : here) {
      double size = static_cast<double>(groups[group].size());
      double local = static_cast<double>(ranks.size());
      double nodes = static_cast<double>(nodesOfGroup[group]);
      double toPeer = pattern == Pattern::kAllPairs      ? 1 / size
                      : pattern == Pattern::kWithinNodes ? 1 / local
                                                         : 0;
      double remotePeers = pattern == Pattern::kAllPairs      ? size - local
                           : pattern == Pattern::kAcrossNodes ? nodes - 1
                                                              : 0;
      double remoteBytes = pattern == Pattern::kAllPairs ? remotePeers / size : remotePeers / nodes;
      for (int64_t rank : ranks) {
        for (int64_t peer : ranks) {
          if (toPeer > 0) {
            load.add(rank, peer, toPeer);
          }
        }
        if (remotePeers > 0) {
          load.addRemote(rank, remoteBytes, remotePeers);
        }
      }
    }
  }
  LinkLoad::Fullest fullest = load.fullest();
  return {fullest.seconds, load.latencySeconds(), fullest.relativeError, fullest.name};
}

const CostModel::Load &CostModel::patternLoad(Pattern pattern, AxisSet axes) const {
  auto [it, added] = loads_.try_emplace({pattern, axes});
  if (!added) {
    return it->second;
  }
  if (pattern != Pattern::kRing && pattern != Pattern::kToFirst) {
    return it->second = spreadEvenly(pattern, axes);
  }
  std::vector<Flow> flows;
  for (const std::vector<int64_t> &group : mesh_.groups(axes)) {
    size_t size = group.size();
    for (size_t member = 0; member < size; ++member) {
      int64_t target = pattern == Pattern::kRing ? group[(member + 1) % size] : group[0];
      flows.push_back({group[member], target, 1});
    }
  }
  return it->second = routed(flows);
}

Cost CostModel::copy(int64_t source, int64_t target, double bytes) const {
  if (source == target) {
    return {};
  }
  Load load = routed({{source, target, bytes}});
  return {load.latencySeconds + load.secondsPerByte, load.relativeError};
}

Cost CostModel::gather(AxisSet axes, double bytesPerRank) const {
  if (mesh_.sizeOf(axes) == 1) {
    return {};
  }
  const Load &load = patternLoad(Pattern::kToFirst, axes);
  return {load.latencySeconds + bytesPerRank * load.secondsPerByte, load.relativeError};
}

const CostModel::Spread &CostModel::spreadOf(AxisSet axes) const {
  auto [it, added] = spreads_.try_emplace(axes);
  if (!added) {
    return it->second;
  }
  Spread &spread = it->second;
  for (const std::vector<int64_t> &group : mesh_.groups(axes)) {
    std::map<int64_t, int64_t> ranksOfNode;
    for (int64_t rank : group) {
      ++ranksOfNode[network_->places()[rank].node];
    }
    int64_t size = static_cast<int64_t>(group.size());
    for (const auto &[node, ranks] : ranksOfNode) {
      spread.remotePeers = std::max(spread.remotePeers, size - ranks);
      spread.ranksPerNode = std::max(spread.ranksPerNode, ranks);
    }
    spread.nodes = std::max<int64_t>(spread.nodes, static_cast<int64_t>(ranksOfNode.size()));
  }
  return spread;
}

topology::Level CostModel::levelOf(AxisSet axes) const {
  return spreadOf(axes).nodes > 1 ? topology::Level::kNetwork : topology::Level::kNode;
}

Cost CostModel::loadOfByte() const {
  Cost worst;
  int64_t node = -1;
  int64_t ranks = 0;
  for (const RankPlace &place : network_->places()) { // node by node
    ranks = place.node == node ? ranks + 1 : 1;
    node = place.node;
    topology::Quantity rate = storageRate(*topology_, *place.nodeType);
    double seconds = rate.value > 0 ? static_cast<double>(ranks) / rate.value : 0;
    if (seconds > worst.seconds) {
      worst = {seconds, rate.relativeError};
    }
  }
  return worst;
}

double CostModel::memoryBytes() const {
  double least = network_->places().front().deviceType->capacityBytes;
  for (const RankPlace &place : network_->places()) {
    least = std::min(least, place.deviceType->capacityBytes);
  }
  return least;
}

} // namespace headrace::cost
