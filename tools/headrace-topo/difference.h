// What differs between two topologies, by JSON path.
#pragma once

#include "model/topology/topology.h"

#include <string>
#include <vector>

namespace headrace::topo {

struct Difference {
  std::string path;   ///< "$.node_types.p5.resources.nic.bw.v"
  std::string left;   ///< as JSON; empty: only on the right
  std::string right;  ///< as JSON; empty: only on the left
  std::string remark; ///< of figures: " (×1.41, more than the error)"
};

/// In the order of the files. Figures are compared by value, error and origin, however they are
/// written; what a file leaves to its defaults counts as said.
std::vector<Difference> differences(const topology::Topology &left,
                                    const topology::Topology &right);

} // namespace headrace::topo
