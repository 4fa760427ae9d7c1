// Divides ranks into runs of equal nodes, and those into classes of equal ranks.
#include "model/simulate/rank_class.h"
#include "model/cost/spill.h"

#include <algorithm>
#include <cmath>

namespace headrace::simulate {
namespace {

int32_t addResource(Graph &graph, Resource resource) {
  graph.resources.push_back(std::move(resource));
  return static_cast<int32_t>(graph.resources.size()) - 1;
}

/// The way to the first tier below the device's memory, if the node has one.
void addSpill(RankClass &made, const cost::NodeRun &run, Graph &graph) {
  std::vector<cost::SpillTier> tiers = cost::spillTiers(*run.pair, run.nodeType());
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
void addOfRank(RankClass &made, const cost::NodeRun &run, double memoryBytes, Graph &graph) {
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
  addSpill(made, run, graph);
}

/// Links and storage of one node of a run; returns where the links begin.
int32_t addOfNode(RankClass &made, const cost::NodeRun &run, Graph &graph) {
  int32_t first = static_cast<int32_t>(graph.resources.size());
  for (size_t index = 0; index < run.linkCount(); ++index) {
    const cost::Link &link = run.network->links()[index];
    addResource(graph,
                {made.name + " " + link.name(), link.bandwidth, link.sharing, link.relativeError});
  }
  topology::Quantity storage = cost::storageRate(*run.pair, run.nodeType());
  if (storage.value > 0) {
    made.storage = addResource(graph, {made.name + " storage", storage.value,
                                       topology::Sharing::kShared, storage.relativeError});
  }
  return first;
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
    double speeds = rows;
    for (RankSkew &skew : skews_) {
      skew.keys *= division.keysBySpeed ? skew.speed : 1;
      rows += static_cast<double>(skew.count) * (skew.rows - 1);
      keys += static_cast<double>(skew.count) * (skew.keys - 1);
      speeds += static_cast<double>(skew.count) * (skew.speed - 1);
    }
    // Factors are against the mean rank: all together they are the number of ranks.
    rowsScale_ = rows > 0 ? static_cast<double>(division.ranks) / rows : 1;
    keysScale_ = keys > 0 ? static_cast<double>(division.ranks) / keys : 1;
    speedScale_ = static_cast<double>(division.ranks) / speeds;
  }

  Classes run() {
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
    return std::move(made_);
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
    int32_t run = static_cast<int32_t>(made_.runs.size());
    made_.runs.push_back(cost::makeNodeRun(topology_, instance, nodes, size, rank));
    cost::NodeRun &nodeRun = made_.runs.back();
    for (const Kind &kind : kinds) {
      nodeRun.rows.push_back(kind.rows);
      nodeRun.keys.push_back(kind.keys);
      nodeRun.speeds.push_back(kind.speed * speedScale_);
    }
    int32_t storage = kNone; // that the classes of a node share
    for (int64_t device = 0; device < size; ++device) {
      const Kind &kind = kinds[static_cast<size_t>(device)];
      if (std::find(kinds.begin(), kinds.begin() + device, kind) != kinds.begin() + device) {
        continue;
      }
      RankClass made;
      made.name =
          instance.name + (made_.classes.empty() ? "" : "/" + std::to_string(made_.classes.size()));
      made.ranks = ranksText(kinds, kind, rank, nodes);
      made.run = run;
      made.ranksPerNode = std::count(kinds.begin(), kinds.end(), kind);
      made.speed = kind.speed;
      made.rows = kind.rows;
      made.keys = kind.keys;
      made.speedShare = kind.speed * speedScale_;
      made.deviceType = &nodeRun.deviceType();
      if (device == 0) {
        made_.links.push_back(addOfNode(made, nodeRun, graph_));
        storage = made.storage;
      }
      made.storage = storage;
      addOfRank(made, nodeRun, division_.memoryBytes, graph_);
      made_.classes.push_back(std::move(made));
    }
  }

  const topology::Topology &topology_;
  const Division &division_;
  std::vector<RankSkew> skews_;
  Graph &graph_;
  double rowsScale_ = 1;
  double keysScale_ = 1;
  double speedScale_ = 1;
  Classes made_;
};

} // namespace

Expected<Classes> makeClasses(const topology::Topology &topology, const Division &division,
                              Graph &graph) {
  if (division.ranks < 1 || division.ranks > topology.rankCount()) {
    return makeError(ErrorKind::kUser, "topology ", topology.name, " has ", topology.rankCount(),
                     " ranks, got ", division.ranks);
  }
  HR_ASSIGN_OR_RETURN(std::vector<RankSkew> skews, sortedSkews(division));
  return Divider(topology, division, std::move(skews), graph).run();
}

} // namespace headrace::simulate
