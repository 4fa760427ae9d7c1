// Nodes are filled one after the other.
#include "model/topology/rank_nodes.h"

#include <algorithm>

namespace headrace::topology {

std::vector<int64_t> ranksOfNodes(const Topology &topology, int64_t ranks) {
  std::vector<int64_t> counts;
  for (const Instance &instance : topology.instances) {
    int64_t each = rankGroup(topology, topology.nodeTypes.at(instance.type))->count;
    for (int64_t node = 0; node < instance.count && ranks > 0; ++node) {
      counts.push_back(std::min(each, ranks));
      ranks -= counts.back();
    }
  }
  return counts;
}

} // namespace headrace::topology
