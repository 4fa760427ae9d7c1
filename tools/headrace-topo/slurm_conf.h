// Slurm's topology.conf: which nodes share a leaf switch or a block.
#pragma once

#include "runtime/model/topology/topology.h"

namespace headrace::topo {

/// Replaces the instances of `topology` by the nodes of the file, all of its first node type, in
/// templates that follow switches (topology/tree) or blocks (topology/block). Leaf switches and
/// blocks are failure domains of level rack. Errors: kUser, with file and line.
Status applySlurmTopology(const std::string &path, topology::Topology &topology);

} // namespace headrace::topo
