// What must be done to a read topology beside checkTopology. Private to model/topology.
#pragma once

#include "model/topology/topology.h"

namespace headrace::topology {

/// Fills space and capacity of stated tiers from their devices; refuses unknown device groups.
Status completeTiers(Topology &topology);

/// The checks of one node type: names resolve, indexes stay in range, routes neither repeat nor
/// return to where they were, and every two ranks have one between them. `path` is the node type's.
enum class Nodes : uint8_t { kOne, kSeveral };
Status checkNode(const Topology &topology, const NodeType &node, Nodes nodes,
                 const std::string &path);

} // namespace headrace::topology
