// Whatever names a topology: this machine, a shipped one, a text, a file.
#include "model/topology/topology.h"

#include <algorithm>
#include <filesystem>

namespace headrace::topology {
namespace {

std::string joined(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names) {
    text += name + ", ";
  }
  return text;
}

} // namespace

Expected<Topology> openTopology(const std::string &name, int64_t ranks, double memoryBytes) {
  if (name.empty() || name == "machine") {
    return hostTopology(ranks, memoryBytes);
  }
  std::vector<std::string> shipped = shippedTopologyNames();
  if (std::find(shipped.begin(), shipped.end(), name) != shipped.end()) {
    return shippedTopology(name);
  }
  size_t first = name.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && name[first] == '{') {
    return parseTopology(name);
  }
  std::error_code error;
  if (!std::filesystem::exists(name, error)) {
    return makeError(ErrorKind::kUser, "no such topology: expected a file, or one of ",
                     joined(shipped), "machine; got ", name);
  }
  return readTopologyFile(name);
}

} // namespace headrace::topology
