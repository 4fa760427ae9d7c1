// Ranks on the nodes of a topology.
#pragma once

#include "model/topology/topology.h"

#include <cstdint>
#include <vector>

namespace headrace::topology {

/// How many of the first `ranks` ranks each node has, in the order of the nodes; no node without
/// any.
std::vector<int64_t> ranksOfNodes(const Topology &topology, int64_t ranks);

} // namespace headrace::topology
