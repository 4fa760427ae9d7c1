// Cross checks: names, hop directions and indexes, and a route for every pair that must talk.
#include "runtime/model/topology/validate.h"
#include "runtime/model/topology/route_text.h"

#include <algorithm>

namespace headrace::topology {
namespace {

constexpr int64_t kRankCountMax = int64_t{1} << 20;
constexpr int64_t kResourceCountMax = 65536; // of one name in a node

Status userError(const std::string &path, const std::string &message) {
  return Status(ErrorKind::kUser, path + ": " + message);
}

int64_t endpointCount(const NodeType &node, const Endpoint &endpoint) {
  return endpoint.isNetwork() ? 1 : node.findGroup(endpoint.group)->count;
}

/// The largest value an index takes over all sources and targets of the route.
int64_t indexMax(const NodeType &node, const Route &route, const IndexExpression &index) {
  switch (index.base) {
  case IndexExpression::Base::kConstant:
    return index.constant;
  case IndexExpression::Base::kSource:
    return (endpointCount(node, route.source) - 1) / index.divisor;
  case IndexExpression::Base::kTarget:
    return (endpointCount(node, route.target) - 1) / index.divisor;
  }
  return 0;
}

Status checkHop(const Topology &topology, const NodeType &node, const Route &route, const Hop &hop,
                const std::string &path) {
  int64_t count = 0;
  bool fullDuplex = false;
  bool storage = false;
  if (const Resource *resource = node.findResource(hop.resource)) {
    count = resource->count;
    fullDuplex = resource->fullDuplex;
  } else if (const DeviceGroup *group = node.findGroup(hop.resource)) {
    count = group->count;
    storage = topology.deviceTypes.at(group->type).deviceClass == DeviceClass::kStorage;
    if (!storage) {
      return userError(path, "only a storage device can be a hop, got " + hop.resource);
    }
  } else {
    return userError(path, "unknown resource: " + hop.resource);
  }
  bool reads = hop.direction == Direction::kRead || hop.direction == Direction::kWrite;
  bool moves = hop.direction == Direction::kIn || hop.direction == Direction::kOut;
  if (storage != reads) {
    return userError(path, storage ? "a storage hop needs .read or .write: " + hop.resource
                                   : ".read and .write are for storage, got " + hop.resource);
  }
  if (!storage && fullDuplex != moves) {
    return userError(path, fullDuplex ? "a full duplex resource needs .in or .out: " + hop.resource
                                      : "not full duplex, drop the direction: " + hop.resource);
  }
  if (indexMax(node, route, hop.index) >= count) {
    return userError(path, "index out of range: " + hop.resource + " has " + std::to_string(count));
  }
  return {};
}

Status checkRoutes(const Topology &topology, const NodeType &node, const std::string &path) {
  for (size_t r = 0; r < node.routes.size(); ++r) {
    const Route &route = node.routes[r];
    std::string routePath = path + ".routes[" + std::to_string(r) + "]";
    for (const Endpoint *endpoint : {&route.source, &route.target}) {
      if (endpoint->isNetwork()) {
        continue;
      }
      const DeviceGroup *group = node.findGroup(endpoint->group);
      if (!group) {
        return userError(routePath, "unknown device group: " + endpoint->group);
      }
      const DeviceType &type = topology.deviceTypes.at(group->type);
      if (type.space != endpoint->space) {
        return userError(routePath, "unknown memory space: " + group->type + " has " + type.space +
                                        ", got " + endpoint->space);
      }
    }
    for (size_t h = 0; h < route.via.size(); ++h) {
      HR_RETURN_IF_ERROR(checkHop(topology, node, route, route.via[h],
                                  routePath + ".via[" + std::to_string(h) + "]"));
    }
  }
  return {};
}

bool hasRoute(const NodeType &node, const Endpoint &source, const Endpoint &target) {
  return std::any_of(node.routes.begin(), node.routes.end(), [&](const Route &route) {
    return route.source.group == source.group && route.source.space == source.space &&
           route.target.group == target.group && route.target.space == target.space;
  });
}

Status checkReachability(const Topology &topology, const NodeType &node, const std::string &path) {
  const DeviceGroup *ranks = rankGroup(topology, node);
  if (!ranks) {
    return userError(path + ".devices", "a node needs at least one cpu or gpu");
  }
  Endpoint endpoint{ranks->name, topology.deviceTypes.at(ranks->type).space};
  if (ranks->count > 1 && !hasRoute(node, endpoint, endpoint)) {
    return userError(path + ".routes", "no route from " + endpointText(endpoint, "i") + " to " +
                                           endpointText(endpoint, "j"));
  }
  if (topology.nodeCount() > 1 && !hasRoute(node, endpoint, Endpoint{})) {
    return userError(path + ".routes", "no route from " + endpointText(endpoint, "i") + " to net");
  }
  return {};
}

/// A model of the machine keeps a few words for each resource.
Status checkResourceTotal(const Topology &topology) {
  constexpr uint64_t kResourcesMax = uint64_t{1} << 24;
  uint64_t total = 0;
  for (size_t i = 0; i < topology.instances.size(); ++i) {
    const Instance &instance = topology.instances[i];
    uint64_t ofNode = 0;
    for (const Resource &resource : topology.nodeTypes.at(instance.type).resources) {
      ofNode += static_cast<uint64_t>(resource.count);
    }
    total += ofNode * static_cast<uint64_t>(instance.count); // both at most 2^20
    if (total > kResourcesMax) {
      return userError("$.instances[" + std::to_string(i) + "]", "more than 16777216 resources are not supported");
    }
  }
  return {};
}

} // namespace

Status validate(const Topology &topology) {
  for (const auto &[name, node] : topology.nodeTypes) {
    std::string path = "$.node_types." + name;
    for (const DeviceGroup &group : node.devices) {
      if (!topology.deviceTypes.contains(group.type)) {
        return userError(path + ".devices." + group.name, "unknown device type: " + group.type);
      }
      if (node.findResource(group.name)) {
        return userError(path + ".resources." + group.name, "a device group has this name already");
      }
    }
    for (const Resource &resource : node.resources) {
      if (resource.count < 1 || resource.count > kResourceCountMax) {
        return userError(path + ".resources." + resource.name,
                         "count must be from 1 to 65536, got " + std::to_string(resource.count));
      }
    }
    HR_RETURN_IF_ERROR(checkRoutes(topology, node, path));
  }
  if (topology.instances.empty()) {
    return userError("$.instances", "a topology needs at least one instance");
  }
  for (size_t i = 0; i < topology.instances.size(); ++i) {
    const Instance &instance = topology.instances[i];
    std::string path = "$.instances[" + std::to_string(i) + "]";
    if (!topology.nodeTypes.contains(instance.type)) {
      return userError(path + ".type", "unknown node type: " + instance.type);
    }
    if (instance.count < 1 || instance.count > kRankCountMax) {
      return userError(path + ".count", "count must be from 1 to 1048576");
    }
  }
  HR_RETURN_IF_ERROR(checkResourceTotal(topology));
  for (const auto &[name, node] : topology.nodeTypes) {
    HR_RETURN_IF_ERROR(checkReachability(topology, node, "$.node_types." + name));
  }
  if (topology.nodeCount() > 1 && !topology.fabric) {
    return userError("$", "several nodes need a fabric");
  }
  if (topology.rankCount() > kRankCountMax) {
    return userError("$.instances", "more than 1048576 ranks are not supported");
  }
  return {};
}

} // namespace headrace::topology
