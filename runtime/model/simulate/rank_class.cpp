// Divides ranks into classes and resolves what their traffic takes of a node.
#include "runtime/model/simulate/rank_class.h"

#include <algorithm>
#include <map>

namespace headrace::simulate {
namespace {

void addResources(RankClass &made, Graph &graph) {
  auto add = [&](Resource resource) {
    graph.resources.push_back(std::move(resource));
    return static_cast<int32_t>(graph.resources.size()) - 1;
  };
  const topology::DeviceType &device = *made.deviceType;
  topology::Quantity memory = device.memoryBandwidth;
  made.memory =
      add({made.name + " memory", memory.value, topology::Sharing::kShared, memory.relativeError});
  made.compute = add({made.name + " compute", memory.value, topology::Sharing::kShared,
                      device.computeRelativeError});
  made.links = static_cast<int32_t>(graph.resources.size());
  const std::vector<cost::Link> &links = made.network->links();
  for (size_t link = 0; link < links.size() / 2; ++link) {
    add({made.name + " " + links[link].name(), links[link].bandwidth, links[link].sharing,
         links[link].relativeError});
  }
  double storage = 0;
  double error = 0;
  for (const topology::DeviceGroup &group : made.nodeType->devices) {
    const topology::DeviceType &type = made.pair->deviceTypes.at(group.type);
    if (type.deviceClass == topology::DeviceClass::kStorage) {
      storage += static_cast<double>(group.count) * type.readBandwidth.value;
      error = std::max(error, type.readBandwidth.relativeError);
    }
  }
  if (storage > 0) {
    made.storage = add({made.name + " storage", storage, topology::Sharing::kShared, error});
  }
  made.tier = static_cast<int32_t>(graph.tiers.size());
  graph.tiers.push_back({made.name + " " + device.space, device.capacityBytes});
}

/// Sums flows over the links of node 0.
class LinkLoad {
public:
  explicit LinkLoad(const RankClass &rankClass)
      : rankClass_(rankClass), half_(static_cast<int32_t>(rankClass.network->links().size() / 2)) {}

  /// Returns the latency.
  double add(int64_t source, int64_t target, double bytes) {
    cost::Path path = rankClass_.network->path(source, target);
    for (int32_t link : path.links) {
      if (link < half_) {
        bool alone = rankClass_.network->links()[link].sharing == topology::Sharing::kFatpipe;
        bytes_[link] = alone ? std::max(bytes_[link], bytes) : bytes_[link] + bytes;
      }
    }
    return path.latencySeconds;
  }
  std::vector<Use> uses() const {
    std::vector<Use> uses;
    for (const auto &[link, bytes] : bytes_) {
      if (bytes > 0) {
        uses.push_back({rankClass_.links + link, bytes});
      }
    }
    return uses;
  }

private:
  const RankClass &rankClass_;
  int32_t half_;
  std::map<int32_t, double> bytes_;
};

/// The first rank of node 1, in the network of two nodes.
int64_t otherNode(const RankClass &rankClass) {
  return topology::rankGroup(*rankClass.pair, *rankClass.nodeType)->count;
}

} // namespace

Expected<std::vector<RankClass>> makeClasses(const topology::Topology &topology, int64_t ranks,
                                             Graph &graph) {
  if (ranks < 1 || ranks > topology.rankCount()) {
    return makeError(ErrorKind::kUser, "topology ", topology.name, " has ", topology.rankCount(),
                     " ranks, got ", ranks);
  }
  std::vector<RankClass> classes;
  auto add = [&](const topology::Instance &instance, int64_t nodes, int64_t ranksPerNode) {
    RankClass made;
    made.name = instance.name + (classes.empty() ? "" : "/" + std::to_string(classes.size()));
    made.nodes = nodes;
    made.ranksPerNode = ranksPerNode;
    topology::Topology pair = topology;
    pair.instances = {{instance.type, instance.name, 2}};
    made.pair = std::make_shared<const topology::Topology>(std::move(pair));
    made.nodeType = &made.pair->nodeTypes.at(instance.type);
    made.deviceType =
        &made.pair->deviceTypes.at(topology::rankGroup(*made.pair, *made.nodeType)->type);
    made.network = std::make_shared<const cost::Network>(*made.pair, made.pair->rankCount());
    addResources(made, graph);
    classes.push_back(std::move(made));
  };
  int64_t left = ranks;
  for (const topology::Instance &instance : topology.instances) {
    int64_t size = topology::rankGroup(topology, topology.nodeTypes.at(instance.type))->count;
    int64_t nodes = std::min(instance.count, left / size);
    if (nodes > 0) {
      add(instance, nodes, size);
      left -= nodes * size;
    }
    if (nodes < instance.count && left > 0) {
      add(instance, 1, left);
      left = 0;
    }
  }
  return classes;
}

TrafficUse usesOf(const RankClass &rankClass, const Traffic &traffic) {
  LinkLoad load(rankClass);
  TrafficUse use;
  int64_t other = otherNode(rankClass);
  for (int64_t rank = 0; rank < rankClass.ranksPerNode; ++rank) {
    for (int64_t peer = 0; peer < rankClass.ranksPerNode; ++peer) {
      if (peer != rank && traffic.localBytes > 0) {
        use.localLatencySeconds = load.add(rank, peer, traffic.localBytes);
      }
    }
    if (traffic.remoteBytes > 0) {
      use.remoteLatencySeconds = load.add(rank, other + rank, traffic.remoteBytes);
      load.add(other + rank, rank, traffic.remoteBytes);
    }
  }
  use.uses = load.uses();
  return use;
}

TrafficUse usesOfGather(const RankClass &rankClass, const Traffic &traffic) {
  LinkLoad load(rankClass);
  TrafficUse use;
  for (int64_t peer = 1; peer < rankClass.ranksPerNode; ++peer) {
    use.localLatencySeconds = load.add(peer, 0, traffic.localBytes);
  }
  if (traffic.remoteBytes > 0) {
    use.remoteLatencySeconds = load.add(otherNode(rankClass), 0, traffic.remoteBytes);
  }
  use.uses = load.uses();
  return use;
}

} // namespace headrace::simulate
