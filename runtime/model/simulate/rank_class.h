// Ranks that are equal to each other, so that one of them is simulated for all: those on full nodes
// of one instance of the topology, and those on a node that is filled in part.
#pragma once

#include "runtime/model/cost/cost.h"
#include "runtime/model/simulate/graph.h"

#include <memory>
#include <vector>

namespace headrace::simulate {

/// One class. Its node's links are simulated once; what goes through them is what all ranks of one
/// node send.
struct RankClass {
  std::string name;
  int64_t nodes = 1;
  int64_t ranksPerNode = 1;
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
};

/// The classes of the first `ranks` ranks, in order; adds their resources and tiers to the graph.
/// Fails (kUser) if the topology has fewer. Takes time and memory by the number of instances and
/// the size of a node, not by ranks.
Expected<std::vector<RankClass>> makeClasses(const topology::Topology &topology, int64_t ranks,
                                             Graph &graph);

/// What every rank sends for each byte of an activity's work; all ranks receive as much as they
/// send.
struct Traffic {
  double localBytes = 0;  ///< to each other rank of its node
  double remoteBytes = 0; ///< to all ranks of other nodes together
};
/// What that takes of the links of one node of the class, with the latency of a local and a remote
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
