// A node's description while it is made: each part of the machine adds its own.
#pragma once

#include "tools/headrace-topo/figures.h"
#include "tools/headrace-topo/node_structure.h"

#include <string>
#include <vector>

namespace headrace::topo {

/// What it is made of, and what has been made. Not thread-safe.
struct Draft {
  const NodeStructure &structure;
  const Rates &rates;
  const Placement &placement;
  topology::Topology topology;
  topology::NodeType node;
  std::vector<std::string> notes;    ///< for people: what was assumed, and what was left out
  int64_t slots = 1;                 ///< CPU devices of the node
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

/// CPUs and their memory. First of all.
void addCpus(Draft &draft);
/// GPUs and the ways to and between them, if there are any. Before the network.
/// Errors: kUnsupported, several models.
Status addGpus(Draft &draft);
void addDisks(Draft &draft);
/// Network cards, and the fabric between nodes.
void addNetwork(Draft &draft);

} // namespace headrace::topo
