// Resolves routes of the topology to links between ranks.
#include "model/cost/network.h"
#include "runtime/base/check.h"

#include <algorithm>

namespace headrace::cost {

using topology::Direction;
using topology::Resource;
using topology::Route;
using topology::Sharing;

namespace {

// Layout of one resource's links: [out 0, in 0, both 0, out 1, …]; half duplex: one link each.
int32_t linksPerUnit(const Resource &resource) {
  return resource.fullDuplex ? (resource.bothDirectionsMax > 0 ? 3 : 2) : 1;
}

int64_t resolveIndex(const topology::IndexExpression &index, int64_t source, int64_t target) {
  switch (index.base) {
  case topology::IndexExpression::Base::kConstant:
    return index.constant;
  case topology::IndexExpression::Base::kSource:
    return source / index.divisor;
  case topology::IndexExpression::Base::kTarget:
    return target / index.divisor;
  }
  return 0;
}

} // namespace

std::string Link::name() const {
  bool directed = !resource || resource->fullDuplex;
  const char *side = !directed || port == Port::kBoth ? "" : port == Port::kOut ? ".out" : ".in";
  std::string base = resource ? resource->name + "[" + std::to_string(unit) + "]" : "fabric";
  return base + side;
}

int32_t Network::addLink(Link link) {
  links_.push_back(link);
  return static_cast<int32_t>(links_.size()) - 1;
}

topology::Quantity storageRate(const topology::Topology &topology, const topology::NodeType &node) {
  topology::Quantity rate(0, 0);
  for (const topology::DeviceGroup &group : node.devices) {
    const topology::DeviceType &type = topology.deviceTypes.at(group.type);
    if (type.deviceClass == topology::DeviceClass::kStorage) {
      rate.value += static_cast<double>(group.count) * type.readBandwidth.value;
      rate.relativeError = std::max(rate.relativeError, type.readBandwidth.relativeError);
    }
  }
  return rate;
}

Network::Network(const topology::Topology &topology, int64_t ranks) : topology_(topology) {
  HR_CHECK(ranks <= topology.rankCount());
  topology::Quantity fabricBandwidth;
  if (topology.fabric) {
    double perPort = topology.fabric->tiers.front().bandwidth.value;
    double oversubscription = 1;
    for (const topology::FabricTier &tier : topology.fabric->tiers) {
      perPort = std::min(perPort, tier.bandwidth.value);
      oversubscription *= tier.oversubscription;
      fabricLatency_ += 2 * tier.latencySeconds;
    }
    fabricBandwidth = {perPort * static_cast<double>(topology.fabric->rails) *
                           topology.fabric->efficiency / oversubscription,
                       topology.fabric->tiers.front().bandwidth.relativeError};
  }
  for (const topology::Instance &instance : topology.instances) {
    const topology::NodeType &type = topology.nodeTypes.at(instance.type);
    const topology::DeviceGroup *group = topology::rankGroup(topology, type);
    for (int64_t copy = 0; copy < instance.count; ++copy) {
      if (static_cast<int64_t>(places_.size()) >= ranks) {
        return;
      }
      int64_t node = static_cast<int64_t>(nodes_.size());
      NodeLinks links;
      for (const Resource &resource : type.resources) {
        links.resourceBase.push_back(static_cast<int32_t>(links_.size()));
        for (int64_t unit = 0; unit < resource.count; ++unit) {
          int32_t count = linksPerUnit(resource);
          for (int32_t link = 0; link < count; ++link) {
            double bandwidth =
                link == 2 ? resource.bothDirectionsMax.value : resource.bandwidth.value;
            addLink({bandwidth, resource.sharing, resource.bandwidth.relativeError, &resource,
                     static_cast<int32_t>(unit), static_cast<Link::Port>(link)});
          }
        }
      }
      if (topology.fabric) {
        Link port{fabricBandwidth.value, Sharing::kShared, fabricBandwidth.relativeError};
        links.fabricOut = addLink(port);
        port.port = Link::Port::kIn;
        links.fabricIn = addLink(port);
      }
      nodes_.push_back(std::move(links));
      nodeTypes_.push_back(&type);
      for (int64_t device = 0; group && device < group->count; ++device) {
        if (static_cast<int64_t>(places_.size()) < ranks) {
          places_.push_back({node, device, &type, &topology.deviceTypes.at(group->type)});
        }
      }
    }
  }
}

void Network::appendRoute(Path &path, const Route &route, int64_t node, int64_t sourceDevice,
                          int64_t targetDevice, Way way) const {
  const topology::NodeType &type = *nodeTypes_[node];
  for (const topology::Hop &hop : route.via) {
    const Resource *resource = type.findResource(hop.resource);
    if (!resource) {
      continue; // Storage: never between two ranks' memories.
    }
    int64_t index = resolveIndex(hop.index, sourceDevice, targetDevice);
    size_t position = static_cast<size_t>(resource - type.resources.data());
    int32_t base =
        nodes_[node].resourceBase[position] + static_cast<int32_t>(index) * linksPerUnit(*resource);
    path.latencySeconds += resource->latencySeconds;
    path.postSeconds += resource->postSeconds;
    if (!resource->fullDuplex) {
      path.links.push_back(base);
      continue;
    }
    bool out = (hop.direction == Direction::kOut) == (way == Way::kForward);
    path.links.push_back(out ? base : base + 1);
    if (resource->bothDirectionsMax > 0) {
      path.links.push_back(base + 2);
    }
  }
}

topology::Endpoint Network::endOf(const RankPlace &place) const {
  return {topology::rankGroup(topology_, *place.nodeType)->name, place.deviceType->space,
          place.device};
}

Path Network::path(int64_t source, int64_t target) const {
  Path path;
  if (source == target) {
    return path;
  }
  const RankPlace &from = places_[source];
  const RankPlace &to = places_[target];
  if (from.node == to.node) {
    const topology::NodeType &node = *from.nodeType;
    const Route *there = node.findRoute(endOf(from), endOf(to));
    const Route *back = node.findRoute(endOf(to), endOf(from));
    HR_CHECK(there && back); // topology::parseTopology refuses nodes without the pattern for all
    // A route of one pair serves both ways, and goes before the pattern.
    if (back->speciality() > there->speciality()) {
      appendRoute(path, *back, from.node, to.device, from.device, Way::kBackward);
      std::reverse(path.links.begin(), path.links.end());
    } else {
      appendRoute(path, *there, from.node, from.device, to.device, Way::kForward);
    }
    return path;
  }
  path = outward(source);
  Path way = inward(target);
  path.links.insert(path.links.end(), way.links.begin(), way.links.end());
  return path;
}

Path Network::outward(int64_t rank) const {
  const RankPlace &from = places_[rank];
  const Route *up = from.nodeType->findRoute(endOf(from), {});
  HR_CHECK(up); // topology::parseTopology refuses several nodes without it
  Path path;
  appendRoute(path, *up, from.node, from.device, from.device, Way::kForward);
  path.links.push_back(nodes_[from.node].fabricOut);
  path.latencySeconds += fabricLatency_;
  return path;
}

Path Network::inward(int64_t rank) const {
  const RankPlace &to = places_[rank];
  const Route *down = to.nodeType->findRoute(endOf(to), {});
  HR_CHECK(down);
  Path path;
  path.links.push_back(nodes_[to.node].fabricIn);
  // The way down is the way up walked backwards; its latency was already paid by posting once.
  appendRoute(path, *down, to.node, to.device, to.device, Way::kBackward);
  path.latencySeconds = 0;
  return path;
}

} // namespace headrace::cost
