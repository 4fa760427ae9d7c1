// Bytes that do not fit: the tiers below a rank's memory, and what writing to one and reading back
// costs.
#pragma once

#include "model/cost/codec.h"

#include <string>
#include <vector>

namespace headrace::cost {

/// A memory space that ranks of a node can spill to. Rates are of one rank while all ranks of its
/// node spill.
struct SpillTier {
  std::string space; ///< "host", "nvme"
  topology::Quantity write;
  topology::Quantity read;
  double latencySeconds = 0;
  double capacityBytes = 0; ///< for one rank: the node's over its ranks
  std::string fullest;      ///< what bounds the writing: "pcisw", "ssd"
};

/// The tiers of a node, quickest writing first: those that a route leads to from the ranks' memory,
/// and storage without a route (then only its own rate counts).
std::vector<SpillTier> spillTiers(const topology::Topology &topology,
                                  const topology::NodeType &node);

struct SpillWork {
  double bytes = 0; ///< of one rank; each is written once and read once
  /// Work that goes on meanwhile; all of the spill but a twentieth of the shorter hides behind it.
  double kernelSeconds = 0;
  double ratio =
      0; ///< that the data are known to give when compressed; 0: what codecs usually give
};

struct SpillCost {
  Breakdown parts; ///< "start", "write", "read back", with codec their steps; what shows of each
  const topology::Codec *codec = nullptr; ///< null: plain bytes
  double hiddenSeconds = 0;               ///< behind the kernel
};

/// Writes bytes to a tier and reads them back; compresses iff it pays for both ways together.
SpillCost spillCost(const topology::DeviceType &device, const SpillTier &tier,
                    const SpillWork &work);

} // namespace headrace::cost
