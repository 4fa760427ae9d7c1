// Ranks that are equal to each other, so that one of them is simulated for all: those on full nodes
// of one instance of the topology, and those on a node that is filled in part.
#pragma once

#include "runtime/model/cost/network.h"
#include "runtime/model/simulate/graph.h"

#include <memory>
#include <vector>

namespace headrace::simulate {

/// Ranks that differ from the others.
struct RankSkew {
  int64_t first = 0; ///< rank
  int64_t count = 1;
  double speed = 1; ///< of the device's memory and compute; above 0
  double rows = 1;  ///< of what it loads, against the others
  double keys = 1;  ///< of what it receives by hash, against the others
};

/// What a rank has more or less of than the mean rank has.
enum class Weight : uint8_t { kEven, kRows, kKeys };

/// One class. Its node's links are simulated once; what goes through them is what all ranks of one
/// node send. Classes of unequal ranks on one node share its links and storage.
struct RankClass {
  std::string name;
  std::string ranks; ///< for people: those of the first node, and of how many: "ranks 0-71 ×1400"
  int64_t nodes = 1;
  int64_t ranksPerNode = 1; ///< of this class
  int64_t nodeRanks = 1;    ///< of all classes of the node
  enum class Links : uint8_t { kOwn, kShared } linksOwner = Links::kOwn; ///< of the node's first class: own
  double speed = 1;
  double rows = 1; ///< against the mean rank
  double keys = 1;
  std::vector<double> rowsOfDevice; ///< of every rank of the node; only where kOwn
  std::vector<double> keysOfDevice;
  const topology::NodeType *nodeType = nullptr;
  const topology::DeviceType *deviceType = nullptr;
  std::shared_ptr<const topology::Topology> pair; ///< two such nodes, to see what a route takes
  std::shared_ptr<const cost::Network>
      network; ///< of `pair`; node 0 has the first half of the links
  // Where the class's resources are in the graph.
  int32_t memory = kNone;  ///< of one rank's device
  int32_t compute = kNone; ///< likewise, in bytes that the memory would have moved meanwhile
  int32_t storage = kNone; ///< all storage of the node together; kNone if it has none
  int32_t links = 0;       ///< the first of the node's links
  int32_t tier = kNone;    ///< the device's memory, in Graph::tiers
  // Where states go that do not fit; kNone if the node has no other memory or storage.
  int32_t spillTier = kNone;
  int32_t spillWrite = kNone; ///< one rank's share of the way there, as a resource
  int32_t spillRead = kNone;
  double spillLatencySeconds = 0;

  double weight(Weight kind) const {
    return kind == Weight::kRows ? rows : kind == Weight::kKeys ? keys : 1;
  }
};

/// How the ranks are to be divided.
struct Division {
  int64_t ranks = 1;
  std::vector<RankSkew> skews;
  double memoryBytes = 0; ///< of a rank; 0 = its device's
};

/// The classes of the first ranks, in order; adds their resources and tiers to the graph. Fails
/// (kUser) if the topology has fewer, or if skews overlap or make no sense. Takes time and memory by
/// the number of instances, of skews and the size of a node, not by ranks.
Expected<std::vector<RankClass>> makeClasses(const topology::Topology &topology,
                                             const Division &division, Graph &graph);

/// What the mean rank sends for each byte of an activity's work; all ranks together receive as much
/// as they send.
struct Traffic {
  double localBytes = 0;  ///< to each other rank of its node
  double remoteBytes = 0; ///< to all ranks of other nodes together
  Weight sent = Weight::kEven;
  Weight received = Weight::kEven;
};
/// What that takes of the links of one node of the class, which owns them, with the latency of a local and a remote
/// message.
struct TrafficUse {
  std::vector<Use> uses;
  double localLatencySeconds = 0;
  double remoteLatencySeconds = 0;
};
TrafficUse usesOf(const RankClass &rankClass, const Traffic &traffic);
/// Likewise if only the node's first rank receives: `localBytes` of each other rank of its node,
/// and `remoteBytes` from elsewhere.
TrafficUse usesOfGather(const RankClass &rankClass, const Traffic &traffic);

} // namespace headrace::simulate
