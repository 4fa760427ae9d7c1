// The first ranks of a topology as runs of equal nodes: what is computed for one node of a run
// holds for all, so that nothing grows with their number.
#pragma once

#include "model/cost/network.h"

#include <memory>
#include <string>
#include <vector>

namespace headrace::cost {

/// What a rank has more or less of than the mean rank has.
enum class Weight : uint8_t {
  kEven,
  kRows,  ///< what it loads
  kKeys,  ///< what it receives by hash
  kSpeed, ///< what it loads where ranks share morsels
};

/// Neighbours of one type that hold equally many of the ranks.
struct NodeRun {
  std::string instance;
  int64_t nodes = 1;
  int64_t ranks = 1; ///< of each node
  int64_t firstRank = 0;
  std::shared_ptr<const topology::Topology> pair; ///< two such nodes, to see what a route takes
  std::shared_ptr<const Network> network;         ///< of `pair`; node 0 has the first links
  // Of each rank of a node against the mean rank; empty: all are alike.
  std::vector<double> rows;
  std::vector<double> keys;
  std::vector<double> speeds;

  const topology::NodeType &nodeType() const { return *network->places().front().nodeType; }
  const topology::DeviceType &deviceType() const { return *network->places().front().deviceType; }
  /// Links of one node: the first of those of `network`.
  size_t linkCount() const { return network->links().size() / 2; }
  int64_t rankCount() const { return nodes * ranks; }
  double weight(Weight kind, int64_t device) const;
  /// Of the rank that has most.
  double fullest(Weight kind) const;

private:
  const std::vector<double> &weights(Weight kind) const;
};

/// `ranks` of each of `nodes` nodes of an instance's type.
NodeRun makeNodeRun(const topology::Topology &topology, const topology::Instance &instance,
                    int64_t nodes, int64_t ranks, int64_t firstRank);

/// The runs of the first `ranks` ranks, in order; at most topology.rankCount(). Takes time and
/// memory by the number of instances, not of nodes.
std::vector<NodeRun> nodeRuns(const topology::Topology &topology, int64_t ranks);

} // namespace headrace::cost
