// Ranks that are equal to each other, so that one of them is simulated for all: those on full nodes
// of one instance of the topology, and those on a node that is filled in part.
#pragma once

#include "model/cost/rank_groups.h"
#include "model/simulate/graph.h"

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

using cost::Weight;

/// One class. Its node's links are simulated once; what goes through them is what all ranks of one
/// node send. Classes of unequal ranks on one node share its links and storage.
struct RankClass {
  std::string name;
  std::string ranks; ///< for people: those of the first node, and of how many: "ranks 0-71 ×1400"
  int32_t run = 0;   ///< in Classes::runs: the nodes that these ranks are on
  int64_t ranksPerNode = 1; ///< of this class
  double speed = 1;
  double rows = 1; ///< against the mean rank
  double keys = 1;
  double speedShare = 1; ///< likewise, of the speeds of all
  const topology::DeviceType *deviceType = nullptr;
  // Where the class's resources are in the graph.
  int32_t memory = kNone;  ///< of one rank's device
  int32_t compute = kNone; ///< likewise, in bytes that the memory would have moved meanwhile
  int32_t storage = kNone; ///< all storage of the node together; kNone if it has none
  int32_t tier = kNone;    ///< the device's memory, in Graph::tiers
  // Where states go that do not fit; kNone if the node has no other memory or storage.
  int32_t spillTier = kNone;
  int32_t spillWrite = kNone; ///< one rank's share of the way there, as a resource
  int32_t spillRead = kNone;
  double spillLatencySeconds = 0;

  double weight(Weight kind) const {
    switch (kind) {
    case Weight::kEven:
      return 1;
    case Weight::kRows:
      return rows;
    case Weight::kKeys:
      return keys;
    case Weight::kSpeed:
      return speedShare;
    }
    return 1;
  }
};

/// How the ranks are to be divided.
struct Division {
  int64_t ranks = 1;
  std::vector<RankSkew> skews;
  bool keysBySpeed = false; ///< slow ranks receive fewer keys: see Plan::movableKeys
  double memoryBytes = 0;   ///< of a rank; 0 = its device's
};

/// The classes of the first ranks in order, and the runs of equal nodes that they are on.
struct Classes {
  std::vector<RankClass> classes;
  std::vector<cost::NodeRun> runs;
  std::vector<int32_t> links; ///< of each run: where the resources of one node's links begin
};

/// Adds their resources and tiers to the graph. Fails (kUser) if the topology has fewer ranks, or
/// if skews overlap or make no sense. Takes time and memory by the number of instances, of skews
/// and the size of a node, not by ranks.
Expected<Classes> makeClasses(const topology::Topology &topology, const Division &division,
                              Graph &graph);

} // namespace headrace::simulate
