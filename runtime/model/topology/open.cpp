// Whatever names a topology: this machine, a shipped one, a text, a file.
#include "runtime/model/topology/topology.h"

#include <algorithm>

namespace headrace::topology {

Expected<Topology> openTopology(const std::string &name, int64_t ranks, double memoryBytes) {
  if (name.empty() || name == "machine") {
    return hostTopology(ranks, memoryBytes);
  }
  std::vector<std::string> shipped = shippedTopologyNames();
  if (std::find(shipped.begin(), shipped.end(), name) != shipped.end()) {
    return shippedTopology(name);
  }
  size_t first = name.find_first_not_of(" \t\r\n");
  bool isText = first != std::string::npos && name[first] == '{';
  return isText ? parseTopology(name) : readTopologyFile(name);
}

} // namespace headrace::topology
