// Divides ranks into classes and resolves what their traffic takes of a node.
#include "runtime/model/simulate/rank_class.h"
#include "runtime/model/cost/spill.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace headrace::simulate {
namespace {

int32_t addResource(Graph &graph, Resource resource) {
  graph.resources.push_back(std::move(resource));
  return static_cast<int32_t>(graph.resources.size()) - 1;
}

/// The way to the first tier below the device's memory, if the node has one.
void addSpill(RankClass &made, Graph &graph) {
  std::vector<cost::SpillTier> tiers = cost::spillTiers(*made.pair, *made.nodeType);
  if (tiers.empty()) {
    return;
  }
  const cost::SpillTier &tier = tiers.front();
  std::string name = made.name + " " + tier.space;
  made.spillTier = static_cast<int32_t>(graph.tiers.size());
  graph.tiers.push_back({name, tier.capacityBytes});
  made.spillLatencySeconds = tier.latencySeconds;
  auto way = [&](const char *verb, const topology::Quantity &rate) {
    return addResource(graph,
                       {name + verb, rate.value, topology::Sharing::kShared, rate.relativeError});
  };
  made.spillWrite = way(" writing", tier.write);
  made.spillRead = way(" reading", tier.read);
}

/// `memoryBytes` as in Division.
void addOfRank(RankClass &made, double memoryBytes, Graph &graph) {
  const topology::DeviceType &device = *made.deviceType;
  topology::Quantity memory = device.memoryBandwidth;
  made.memory = addResource(graph, {made.name + " memory", memory.value * made.speed,
                                    topology::Sharing::kShared, memory.relativeError});
  made.compute = addResource(graph, {made.name + " compute", memory.value * made.speed,
                                     topology::Sharing::kShared, device.computeRelativeError});
  made.tier = static_cast<int32_t>(graph.tiers.size());
  double bytes =
      memoryBytes > 0 ? std::min(memoryBytes, device.capacityBytes) : device.capacityBytes;
  graph.tiers.push_back({made.name + " " + device.space, bytes});
  addSpill(made, graph);
}

void addOfNode(RankClass &made, Graph &graph) {
  made.links = static_cast<int32_t>(graph.resources.size());
  const std::vector<cost::Link> &links = made.network->links();
  for (size_t link = 0; link < links.size() / 2; ++link) {
    addResource(graph, {made.name + " " + links[link].name(), links[link].bandwidth,
                        links[link].sharing, links[link].relativeError});
  }
  topology::Quantity storage = cost::storageRate(*made.pair, *made.nodeType);
  if (storage.value > 0) {
    made.storage = addResource(graph, {made.name + " storage", storage.value,
                                       topology::Sharing::kShared, storage.relativeError});
  }
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

/// What a rank has that is not what the others have.
struct Kind {
  double speed = 1;
  double rows = 1;
  double keys = 1;
  bool operator==(const Kind &) const = default;
};

Expected<std::vector<RankSkew>> sortedSkews(const Division &division) {
  std::vector<RankSkew> skews = division.skews;
  std::sort(skews.begin(), skews.end(),
            [](const RankSkew &a, const RankSkew &b) { return a.first < b.first; });
  int64_t end = 0;
  for (const RankSkew &skew : skews) {
    if (skew.first < end || skew.count < 1 || skew.first > division.ranks - skew.count) {
      return makeError(ErrorKind::kUser, "skewed ranks must not overlap and be from 0 to ",
                       division.ranks - 1, ", got ", skew.count, " from ", skew.first);
    }
    bool known = std::isfinite(skew.speed) && std::isfinite(skew.rows) && std::isfinite(skew.keys);
    if (!known || skew.speed <= 0 || skew.rows < 0 || skew.keys < 0) {
      return makeError(ErrorKind::kUser,
                       "a skew needs a positive speed and no negative rows or keys, got ",
                       skew.speed, ", ", skew.rows, ", ", skew.keys);
    }
    end = skew.first + skew.count;
  }
  return skews;
}

/// Those of a node that are of one kind, counted from its first rank: "ranks 0-2,4-7", with the
/// number of such nodes.
std::string ranksText(const std::vector<Kind> &kinds, const Kind &kind, int64_t rank,
                      int64_t nodes) {
  std::string text;
  int64_t count = 0;
  for (size_t first = 0; first < kinds.size(); ++first) {
    if (!(kinds[first] == kind)) {
      continue;
    }
    size_t last = first;
    while (last + 1 < kinds.size() && kinds[last + 1] == kind) {
      ++last;
    }
    text += (text.empty() ? "" : ",") + std::to_string(rank + static_cast<int64_t>(first));
    if (last > first) {
      text += "-" + std::to_string(rank + static_cast<int64_t>(last));
    }
    count += static_cast<int64_t>(last - first) + 1;
    first = last;
  }
  return (count > 1 ? "ranks " : "rank ") + text + (nodes > 1 ? " ×" + std::to_string(nodes) : "");
}

/// Divides the ranks into runs of nodes that are equal, and those into classes.
class Divider {
public:
  Divider(const topology::Topology &topology, const Division &division, std::vector<RankSkew> skews,
          Graph &graph)
      : topology_(topology), division_(division), skews_(std::move(skews)), graph_(graph) {
    double rows = static_cast<double>(division.ranks);
    double keys = rows;
    for (const RankSkew &skew : skews_) {
      rows += static_cast<double>(skew.count) * (skew.rows - 1);
      keys += static_cast<double>(skew.count) * (skew.keys - 1);
    }
    // Factors are against the mean rank: all together they are the number of ranks.
    rowsScale_ = rows > 0 ? static_cast<double>(division.ranks) / rows : 1;
    keysScale_ = keys > 0 ? static_cast<double>(division.ranks) / keys : 1;
  }

  std::vector<RankClass> run() {
    int64_t rank = 0;
    for (const topology::Instance &instance : topology_.instances) {
      int64_t size = topology::rankGroup(topology_, topology_.nodeTypes.at(instance.type))->count;
      int64_t node = 0;
      while (node < instance.count && rank < division_.ranks) {
        int64_t here = std::min(size, division_.ranks - rank);
        int64_t nodes = 1;
        if (here == size) {
          int64_t whole = std::min(instance.count - node, (division_.ranks - rank) / size);
          nodes = equalNodes(rank, size, whole);
        }
        addNodes(instance, nodes, rank, here);
        node += nodes;
        rank += nodes * here;
      }
    }
    return std::move(classes_);
  }

private:
  Kind kindOf(int64_t rank) const {
    auto after = std::upper_bound(skews_.begin(), skews_.end(), rank,
                                  [](int64_t r, const RankSkew &skew) { return r < skew.first; });
    if (after != skews_.begin()) {
      const RankSkew &skew = *std::prev(after);
      if (rank < skew.first + skew.count) {
        return {skew.speed, skew.rows * rowsScale_, skew.keys * keysScale_};
      }
    }
    return {1, rowsScale_, keysScale_};
  }
  /// The first rank from which on another kind begins.
  int64_t kindEnd(int64_t rank) const {
    int64_t end = division_.ranks;
    for (const RankSkew &skew : skews_) {
      if (skew.first > rank) {
        end = std::min(end, skew.first);
      } else if (skew.first + skew.count > rank) {
        end = std::min(end, skew.first + skew.count);
      }
    }
    return end;
  }
  /// How many nodes from that rank on have ranks of one kind only, the same; at least 1.
  int64_t equalNodes(int64_t rank, int64_t size, int64_t nodesMax) const {
    return std::clamp<int64_t>((kindEnd(rank) - rank) / size, 1, nodesMax);
  }
  void addNodes(const topology::Instance &instance, int64_t nodes, int64_t rank, int64_t size) {
    std::vector<Kind> kinds;
    for (int64_t device = 0; device < size; ++device) {
      kinds.push_back(kindOf(rank + device));
    }
    size_t owner = classes_.size();
    for (int64_t device = 0; device < size; ++device) {
      const Kind &kind = kinds[static_cast<size_t>(device)];
      if (std::find(kinds.begin(), kinds.begin() + device, kind) != kinds.begin() + device) {
        continue;
      }
      RankClass made;
      made.name = instance.name + (classes_.empty() ? "" : "/" + std::to_string(classes_.size()));
      made.ranks = ranksText(kinds, kind, rank, nodes);
      made.nodes = nodes;
      made.ranksPerNode = std::count(kinds.begin(), kinds.end(), kind);
      made.nodeRanks = size;
      made.speed = kind.speed;
      made.rows = kind.rows;
      made.keys = kind.keys;
      if (classes_.size() == owner) {
        topology::Topology pair = topology_;
        pair.instances = {{instance.type, instance.name, 2}};
        made.pair = std::make_shared<const topology::Topology>(std::move(pair));
        made.nodeType = &made.pair->nodeTypes.at(instance.type);
        made.deviceType =
            &made.pair->deviceTypes.at(topology::rankGroup(*made.pair, *made.nodeType)->type);
        made.network = std::make_shared<const cost::Network>(*made.pair, made.pair->rankCount());
        addOfNode(made, graph_);
        for (const Kind &each : kinds) {
          made.rowsOfDevice.push_back(each.rows);
          made.keysOfDevice.push_back(each.keys);
        }
      } else {
        const RankClass &first = classes_[owner];
        made.linksOwner = RankClass::Links::kShared;
        made.pair = first.pair;
        made.nodeType = first.nodeType;
        made.deviceType = first.deviceType;
        made.network = first.network;
        made.storage = first.storage;
        made.links = first.links;
      }
      addOfRank(made, division_.memoryBytes, graph_);
      classes_.push_back(std::move(made));
    }
  }

  const topology::Topology &topology_;
  const Division &division_;
  std::vector<RankSkew> skews_;
  Graph &graph_;
  double rowsScale_ = 1;
  double keysScale_ = 1;
  std::vector<RankClass> classes_;
};

double weightOf(const RankClass &rankClass, Weight kind, int64_t device) {
  size_t index = static_cast<size_t>(device);
  return kind == Weight::kRows   ? rankClass.rowsOfDevice[index]
         : kind == Weight::kKeys ? rankClass.keysOfDevice[index]
                                 : 1;
}

} // namespace

Expected<std::vector<RankClass>> makeClasses(const topology::Topology &topology,
                                             const Division &division, Graph &graph) {
  if (division.ranks < 1 || division.ranks > topology.rankCount()) {
    return makeError(ErrorKind::kUser, "topology ", topology.name, " has ", topology.rankCount(),
                     " ranks, got ", division.ranks);
  }
  HR_ASSIGN_OR_RETURN(std::vector<RankSkew> skews, sortedSkews(division));
  return Divider(topology, division, std::move(skews), graph).run();
}

TrafficUse usesOf(const RankClass &rankClass, const Traffic &traffic) {
  LinkLoad load(rankClass);
  TrafficUse use;
  int64_t other = otherNode(rankClass);
  for (int64_t rank = 0; rank < rankClass.nodeRanks; ++rank) {
    double sent = weightOf(rankClass, traffic.sent, rank);
    double received = weightOf(rankClass, traffic.received, rank);
    for (int64_t peer = 0; peer < rankClass.nodeRanks; ++peer) {
      if (peer != rank && traffic.localBytes > 0) {
        double bytes = traffic.localBytes * sent * weightOf(rankClass, traffic.received, peer);
        use.localLatencySeconds = load.add(rank, peer, bytes);
      }
    }
    if (traffic.remoteBytes > 0) {
      use.remoteLatencySeconds = load.add(rank, other + rank, traffic.remoteBytes * sent);
      load.add(other + rank, rank, traffic.remoteBytes * received);
    }
  }
  use.uses = load.uses();
  return use;
}

TrafficUse usesOfGather(const RankClass &rankClass, const Traffic &traffic) {
  LinkLoad load(rankClass);
  TrafficUse use;
  for (int64_t peer = 1; peer < rankClass.nodeRanks; ++peer) {
    double bytes = traffic.localBytes * weightOf(rankClass, traffic.sent, peer);
    use.localLatencySeconds = load.add(peer, 0, bytes);
  }
  if (traffic.remoteBytes > 0) {
    use.remoteLatencySeconds = load.add(otherNode(rankClass), 0, traffic.remoteBytes);
  }
  use.uses = load.uses();
  return use;
}

} // namespace headrace::simulate
