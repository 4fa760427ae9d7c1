// Slurm's topology.conf: which nodes share a leaf switch or a block.
#pragma once

#include "tools/headrace-topo/node_structure.h"

namespace headrace::topo {

/// Replaces the instances of the topology by the nodes of the file, all of its one node type, in
/// templates that follow switches (topology/tree) or blocks (topology/block) and what BlockSizes
/// puts together. Leaf switches and blocks are failure domains of level rack. `node` is the name
/// that the topology came by. Errors: kUser, with file and line.
Status applySlurmTopology(const std::string &path, const std::string &node, Description &made);

} // namespace headrace::topo
