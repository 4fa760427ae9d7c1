// A node's description while it is made: each part of the machine adds its own.
#pragma once

#include "tools/headrace-topo/figures.h"
#include "tools/headrace-topo/node_structure.h"

#include <string>
#include <vector>

namespace headrace::topo {

/// How devices are divided among CPU sockets that have memory of their own: device i of a group is
/// on socket i / (devices each).
struct SocketDivision {
  int64_t count = 1; ///< 1: memory is not divided
  int64_t slotsEach = 1;
  int64_t gpusEach = 1; ///< the last socket with GPUs may have fewer
  bool several() const { return count > 1; }
};

/// What it is made of, and what has been made. Not thread-safe.
struct Draft {
  const NodeStructure &structure;
  const Rates &rates;
  const Placement &placement;
  topology::Topology topology;
  topology::NodeType node;
  std::vector<std::string> notes; ///< for people: what was assumed, and what was left out
  int64_t slots = 1;              ///< CPU devices of the node
  SocketDivision sockets;
  std::vector<topology::Hop> gpuUp;  ///< from a GPU over PCIe to the CPU
  std::vector<topology::Hop> hostUp; ///< from a GPU to the CPU's memory

  bool isMeasured() const { return rates.provenance.origin == topology::Origin::kMeasured; }
  int64_t gpuCount() const { return static_cast<int64_t>(structure.gpus.size()); }
  /// A part of a rate, if it was measured; else what is assumed.
  topology::Quantity measured(const Measured &rate, double fallback, double part = 1) const;
};

/// Of a resource, or of the one for each of `divisor` neighbours.
topology::Hop hop(const std::string &resource, topology::IndexExpression::Base base,
                  int64_t divisor, topology::Direction direction);

/// How many CPU devices there are, and which sockets they are on. First of all.
void divideSockets(Draft &draft);
/// The link between sockets, and ways over it between their memories.
void addSocketLink(Draft &draft);
/// The memory of a device's socket, as a hop; `devicesEach` are on one.
topology::Hop memoryHop(const Draft &draft, topology::IndexExpression::Base base,
                        int64_t devicesEach);
/// From the memory of the source's socket to that of the target's.
std::vector<topology::Hop> betweenMemories(const Draft &draft, int64_t devicesEach);

/// CPUs and their memory.
void addCpus(Draft &draft);
/// GPUs and the ways to and between them, if there are any. Before the network.
/// Errors: kUnsupported, several models.
Status addGpus(Draft &draft);
void addDisks(Draft &draft);
/// Network cards, and the fabric between nodes.
void addNetwork(Draft &draft);

} // namespace headrace::topo
