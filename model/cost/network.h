// The topology flattened for ranks: where each rank sits, and which resources a transfer between
// two ranks uses.
#pragma once

#include "model/topology/topology.h"

#include <string>
#include <vector>

namespace headrace::cost {

/// One shared thing with a bandwidth, after instances, indexes and directions are resolved.
struct Link {
  double bandwidth = 0; ///< bytes per second
  topology::Sharing sharing = topology::Sharing::kShared;
  double relativeError = 0;
  const topology::Resource *resource = nullptr; ///< null: the node's port into the fabric
  int32_t unit = 0;                             ///< which of the resource's units
  enum class Port : uint8_t { kOut, kIn, kBoth } port = Port::kOut; ///< of a full duplex resource

  /// "nic[2].in", "dram[0]", "fabric.out".
  std::string name() const;
};

/// The way from one rank's memory to another's.
struct Path {
  std::vector<int32_t> links; ///< indexes into Network::links()
  double latencySeconds = 0;
  double postSeconds = 0; ///< until the next transfer may be posted; 0: not known
};

struct RankPlace {
  int64_t node = 0;
  int64_t device = 0; ///< index in the node's group of rank devices
  const topology::NodeType *nodeType = nullptr;
  const topology::DeviceType *deviceType = nullptr;
};

/// At which all ranks of a node together read tables from its storage; 0 without any.
topology::Quantity storageRate(const topology::Topology &topology, const topology::NodeType &node);

/// Places the first `ranks` compute devices of the topology. Keeps pointers into it: the topology
/// must outlive the network. Immutable after construction.
class Network {
public:
  /// `ranks` at most topology.rankCount().
  Network(const topology::Topology &topology, int64_t ranks);

  const std::vector<RankPlace> &places() const { return places_; }
  const std::vector<Link> &links() const { return links_; }
  /// Empty path with no latency if source == target.
  Path path(int64_t source, int64_t target) const;
  /// The halves of a path between nodes: from a rank through its node's port into the fabric, with
  /// the latency of the whole, and from the fabric to a rank. The topology must have a fabric.
  Path outward(int64_t rank) const;
  Path inward(int64_t rank) const;

private:
  struct NodeLinks {
    std::vector<int32_t> resourceBase; ///< first link of each resource of the node type
    int32_t fabricOut = -1;
    int32_t fabricIn = -1;
  };
  int32_t addLink(Link link);
  enum class Way : uint8_t { kForward, kBackward };
  topology::Endpoint endOf(const RankPlace &place) const;
  void appendRoute(Path &path, const topology::Route &route, int64_t node, int64_t sourceDevice,
                   int64_t targetDevice, Way way) const;

  const topology::Topology &topology_;
  std::vector<RankPlace> places_;
  std::vector<Link> links_;
  std::vector<NodeLinks> nodes_;
  std::vector<const topology::NodeType *> nodeTypes_;
  double fabricLatency_ = 0;
};

} // namespace headrace::cost
