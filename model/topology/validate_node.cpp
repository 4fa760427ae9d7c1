// Cross checks of one node type: names, hop directions and indexes, routes, tiers.
#include "model/topology/route_text.h"
#include "model/topology/validate.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace headrace::topology {
namespace {

constexpr int64_t kResourceCountMax = 65536; // of one name in a node

Status userError(const std::string &path, const std::string &message) {
  return Status(ErrorKind::kUser, path + ": " + message);
}

int64_t endpointCount(const NodeType &node, const Endpoint &endpoint) {
  return endpoint.isNetwork() ? 1 : node.findGroup(endpoint.group)->count;
}

/// The largest index of a device that an endpoint means.
int64_t deviceMax(const NodeType &node, const Endpoint &endpoint) {
  return endpoint.index == Endpoint::kEvery ? endpointCount(node, endpoint) - 1 : endpoint.index;
}

/// The largest value an index takes over all sources and targets of the route.
int64_t indexMax(const NodeType &node, const Route &route, const IndexExpression &index) {
  switch (index.base) {
  case IndexExpression::Base::kConstant:
    return index.constant;
  case IndexExpression::Base::kSource:
    return deviceMax(node, route.source) / index.divisor;
  case IndexExpression::Base::kTarget:
    return deviceMax(node, route.target) / index.divisor;
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

Status checkEnd(const Topology &topology, const NodeType &node, const Endpoint &endpoint,
                const std::string &path) {
  const DeviceGroup *group = node.findGroup(endpoint.group);
  if (!group) {
    return userError(path, "unknown device group: " + endpoint.group);
  }
  const DeviceType &type = topology.deviceTypes.at(group->type);
  if (type.space != endpoint.space) {
    return userError(path, "unknown memory space: " + group->type + " has " + type.space +
                               ", got " + endpoint.space);
  }
  if (endpoint.index >= group->count) {
    return userError(path, "index out of range: " + endpoint.group + " has " +
                               std::to_string(group->count));
  }
  return {};
}

/// From a memory, over something; and out of the node, where it leaves it.
Status checkEnds(const Topology &topology, const NodeType &node, const Route &route,
                 const std::string &path) {
  if (route.source.isNetwork()) {
    return userError(path + ".from",
                     "a route begins at a memory, write it the other way round: net");
  }
  HR_RETURN_IF_ERROR(checkEnd(topology, node, route.source, path + ".from"));
  if (!route.target.isNetwork()) {
    HR_RETURN_IF_ERROR(checkEnd(topology, node, route.target, path + ".to"));
  }
  if (route.via.empty()) {
    return userError(path + ".via", "a route passes at least one resource, got none");
  }
  for (size_t h = route.via.size(); route.target.isNetwork() && h-- > 0;) {
    if (route.via[h].direction == Direction::kIn) {
      return userError(path + ".via[" + std::to_string(h) + "]",
                       "the way to net goes .out (or .up), got " + hopText(route.via[h]));
    }
    if (route.via[h].direction == Direction::kOut) {
      break; // through another device, say, in and out again
    }
  }
  return {};
}

Status checkRoutes(const Topology &topology, const NodeType &node, const std::string &path) {
  using End = std::tuple<std::string, std::string, int64_t>;
  auto endOf = [](const Endpoint &end) { return End(end.group, end.space, end.index); };
  std::set<std::pair<End, End>> seen;
  for (size_t r = 0; r < node.routes.size(); ++r) {
    const Route &route = node.routes[r];
    std::string routePath = path + ".routes[" + std::to_string(r) + "]";
    HR_RETURN_IF_ERROR(checkEnds(topology, node, route, routePath));
    for (size_t h = 0; h < route.via.size(); ++h) {
      std::string hopPath = routePath + ".via[" + std::to_string(h) + "]";
      HR_RETURN_IF_ERROR(checkHop(topology, node, route, route.via[h], hopPath));
      if (std::find(route.via.begin(), route.via.begin() + static_cast<int64_t>(h), route.via[h]) !=
          route.via.begin() + static_cast<int64_t>(h)) {
        return userError(hopPath, "cycle: the route was here already: " + hopText(route.via[h]));
      }
    }
    if (!seen.insert({endOf(route.source), endOf(route.target)}).second) {
      return userError(routePath, "route appears twice: from " + endpointText(route.source, "i") +
                                      " to " + endpointText(route.target, "j"));
    }
  }
  return {};
}

Status checkReachability(const Topology &topology, const NodeType &node, Nodes nodes,
                         const std::string &path) {
  const DeviceGroup *ranks = rankGroup(topology, node);
  if (!ranks) {
    return userError(path + ".devices", "a node needs at least one cpu or gpu");
  }
  Endpoint endpoint{ranks->name, topology.deviceTypes.at(ranks->type).space};
  if (ranks->count > 1 && !node.findRoute(endpoint, endpoint)) {
    return userError(path + ".routes", "no route from " + endpointText(endpoint, "i") + " to " +
                                           endpointText(endpoint, "j"));
  }
  if (nodes == Nodes::kSeveral && !node.findRoute(endpoint, Endpoint{})) {
    return userError(path + ".routes", "no route from " + endpointText(endpoint, "i") + " to net");
  }
  return {};
}

Status checkResource(const NodeType &node, const Resource &resource, const std::string &path) {
  if (node.findGroup(resource.name)) {
    return userError(path, "a device group has this name already");
  }
  if (resource.count < 1 || resource.count > kResourceCountMax) {
    return userError(path + ".count",
                     "count must be from 1 to 65536, got " + std::to_string(resource.count));
  }
  if (const PerDevice &per = resource.per; !per.group.empty()) {
    const DeviceGroup *group = node.findGroup(per.group);
    if (!group) {
      return userError(path + ".per", "unknown device group: " + per.group);
    }
    int64_t wanted = (group->count - 1) / per.divisor + 1;
    if (wanted != resource.count) {
      return userError(path + ".count", "per " + per.group + "/" + std::to_string(per.divisor) +
                                            " there are " + std::to_string(wanted) + ", got " +
                                            std::to_string(resource.count));
    }
  }
  if (!resource.rail.empty() && !node.findGroup(resource.rail)) {
    return userError(path + ".rail", "unknown device group: " + resource.rail);
  }
  for (size_t m = 0; m < resource.members.size(); ++m) {
    const std::string &member = resource.members[m];
    if (!node.findGroup(member) && !node.findResource(member)) {
      return userError(path + ".members[" + std::to_string(m) + "]",
                       "unknown resource or device group: " + member);
    }
  }
  return {};
}

Status checkTiers(const Topology &topology, const NodeType &node, const std::string &path) {
  for (size_t t = 0; t < node.tiers.size(); ++t) {
    const MemoryTier &tier = node.tiers[t];
    std::string tierPath = path + ".tiers[" + std::to_string(t) + "]";
    const DeviceGroup *group = node.findGroup(tier.group);
    if (!group) {
      return userError(tierPath + ".of", "unknown device group: " + tier.group);
    }
    const DeviceType &type = topology.deviceTypes.at(group->type);
    bool file = type.deviceClass == DeviceClass::kStorage;
    if (file != (tier.tier == Tier::kFile)) {
      return userError(tierPath, "only storage holds files, got " +
                                     std::string(tierName(tier.tier)) + " of " + tier.group);
    }
    double most = type.totalBytes.value > 0 ? type.totalBytes.value : type.capacityBytes;
    if (tier.capacityBytes > most * static_cast<double>(group->count)) {
      return userError(tierPath + ".capacity", "more than the devices have: " + tier.group);
    }
    if (t == 0) {
      continue;
    }
    const MemoryTier &faster = node.tiers[t - 1];
    if (faster.tier >= tier.tier) {
      return userError(tierPath,
                       "tiers go from device over pinned and host to file, once each, got " +
                           std::string(tierName(tier.tier)));
    }
    Endpoint from{faster.group, faster.space};
    Endpoint to{tier.group, tier.space};
    if (!(from == to) && !node.findRoute(from, to) && !node.findRoute(to, from)) {
      return userError(path + ".routes",
                       "no route from " + endpointText(from, "i") + " to " + endpointText(to, "j"));
    }
  }
  return {};
}

} // namespace

Status completeTiers(Topology &topology) {
  for (auto &[name, node] : topology.nodeTypes) {
    for (size_t t = 0; t < node.tiers.size(); ++t) {
      MemoryTier &tier = node.tiers[t];
      const DeviceGroup *group = node.findGroup(tier.group);
      if (!group) {
        return userError("$.node_types." + name + ".tiers[" + std::to_string(t) + "].of",
                         "unknown device group: " + tier.group);
      }
      auto type = topology.deviceTypes.find(group->type);
      if (type == topology.deviceTypes.end()) {
        continue; // checkNode says so
      }
      tier.space = type->second.space;
      if (tier.capacityBytes == 0) {
        tier.capacityBytes = type->second.capacityBytes * static_cast<double>(group->count);
      }
    }
  }
  return {};
}

Status checkNode(const Topology &topology, const NodeType &node, Nodes nodes,
                 const std::string &path) {
  for (const DeviceGroup &group : node.devices) {
    if (!topology.deviceTypes.contains(group.type)) {
      return userError(path + ".devices." + group.name, "unknown device type: " + group.type);
    }
  }
  for (const Resource &resource : node.resources) {
    HR_RETURN_IF_ERROR(checkResource(node, resource, path + ".resources." + resource.name));
  }
  HR_RETURN_IF_ERROR(checkRoutes(topology, node, path));
  HR_RETURN_IF_ERROR(checkTiers(topology, node, path));
  for (const Domain &domain : node.domains) {
    if (!node.findGroup(domain.group)) {
      return userError(path + ".domains." + domain.name + ".members",
                       "unknown device group: " + domain.group);
    }
  }
  return checkReachability(topology, node, nodes, path);
}

} // namespace headrace::topology
