// Cross checks of a topology as a whole: instances, totals, fabric, collectives.
#include "model/topology/validate.h"

#include <algorithm>
#include <set>

namespace headrace::topology {
namespace {

constexpr int64_t kRankCountMax = int64_t{1} << 20;
constexpr size_t kTypesMax = 1024;

Status userError(const std::string &path, const std::string &message) {
  return Status(ErrorKind::kUser, path + ": " + message);
}

/// A model of the machine keeps a few words for each resource.
Status checkResourceTotal(const Topology &topology) {
  constexpr uint64_t kResourcesMax = uint64_t{1} << 22;
  uint64_t total = 0;
  for (const Instance &instance : topology.instances) {
    uint64_t ofNode = 0;
    for (const Resource &resource : topology.nodeTypes.at(instance.type).resources) {
      ofNode += static_cast<uint64_t>(resource.count);
    }
    // At most 256 resources of 2^16 each, and 2^20 nodes.
    total += ofNode * static_cast<uint64_t>(instance.count);
    if (total > kResourcesMax) {
      return userError("$.instances", "more than 4194304 resources are not supported");
    }
  }
  return {};
}

Status checkInstances(const Topology &topology) {
  if (topology.instances.empty()) {
    return userError("$.instances", "a topology needs at least one instance");
  }
  const std::vector<Instance> &named =
      topology.placements.empty() ? topology.instances : topology.placements;
  std::set<std::string> names;
  for (size_t i = 0; i < named.size(); ++i) {
    if (!names.insert(named[i].name).second) {
      return userError("$.instances[" + std::to_string(i) + "].name",
                       "name appears twice: " + named[i].name);
    }
  }
  return {};
}

Status checkCollectives(const Topology &topology) {
  std::set<std::string> domains = {"", "node", "net"};
  for (const auto &[name, node] : topology.nodeTypes) {
    for (const Domain &domain : node.domains) {
      domains.insert(domain.name);
    }
  }
  for (size_t c = 0; c < topology.collectives.size(); ++c) {
    if (!domains.contains(topology.collectives[c].domain)) {
      return userError("$.collectives[" + std::to_string(c) + "].level",
                       "level must be node, net or a domain of a node type, got " +
                           topology.collectives[c].domain);
    }
  }
  return {};
}

} // namespace

Status checkTopology(const Topology &topology) {
  if (topology.deviceTypes.size() > kTypesMax) {
    return userError("$.device_types", "more than 1024 are not supported");
  }
  if (topology.nodeTypes.size() > kTypesMax) {
    return userError("$.node_types", "more than 1024 are not supported");
  }
  HR_RETURN_IF_ERROR(checkInstances(topology));
  Nodes nodes = topology.nodeCount() > 1 ? Nodes::kSeveral : Nodes::kOne;
  for (const auto &[name, node] : topology.nodeTypes) {
    HR_RETURN_IF_ERROR(checkNode(topology, node, nodes, "$.node_types." + name));
  }
  HR_RETURN_IF_ERROR(checkResourceTotal(topology));
  HR_RETURN_IF_ERROR(checkCollectives(topology));
  if (nodes == Nodes::kSeveral && !topology.fabric) {
    return userError("$", "several nodes need a fabric");
  }
  if (topology.rankCount() > kRankCountMax) {
    return userError("$.instances", "more than 1048576 ranks are not supported");
  }
  return {};
}

} // namespace headrace::topology
