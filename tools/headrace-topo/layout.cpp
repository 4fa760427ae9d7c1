// Levels from routes: what is farther from the devices that compute stands farther from their row.
#include "tools/headrace-topo/layout.h"
#include "tools/headrace-topo/units.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace headrace::topo {

using topology::DeviceClass;
using topology::DeviceGroup;
using topology::DeviceType;
using topology::IndexExpression;
using topology::NodeType;
using topology::Resource;
using topology::Route;
using topology::Topology;

namespace {

constexpr const char *kNetworkName = "net";

std::string endName(const topology::Endpoint &endpoint) {
  return endpoint.isNetwork() ? kNetworkName : endpoint.group;
}

Part devicePart(const Topology &topology, const DeviceGroup &group) {
  const DeviceType &type = topology.deviceTypes.at(group.type);
  Part part;
  part.name = group.name;
  part.count = group.count;
  part.title = integerText(group.count) + " × " + type.name;
  part.figures = bytesText(type.capacityBytes);
  switch (type.deviceClass) {
  case DeviceClass::kCpu:
    part.kind = PartKind::kProcessor;
    part.title += ", " + integerText(type.cores) + (type.cores == 1 ? " core" : " cores");
    break;
  case DeviceClass::kGpu:
    part.kind = PartKind::kGpu;
    break;
  case DeviceClass::kStorage:
    part.kind = PartKind::kStorage;
    part.figures +=
        " · read " + rateText(type.readBandwidth) + ", write " + rateText(type.writeBandwidth);
    part.main = &type.readBandwidth;
    return part;
  }
  part.figures += " at " + rateText(type.memoryBandwidth);
  part.main = &type.memoryBandwidth;
  return part;
}

Part resourcePart(const Resource &resource) {
  Part part;
  part.name = resource.name;
  part.count = resource.count;
  part.title = (resource.count > 1 ? integerText(resource.count) + " × " : "") + resource.name;
  part.figures = rateText(resource.bandwidth);
  part.figures += resource.fullDuplex ? " each way" : "";
  part.figures += resource.sharing == topology::Sharing::kFatpipe ? " a transfer" : "";
  if (resource.latencySeconds > 0) {
    part.figures += " · " + secondsText(resource.latencySeconds);
  }
  part.main = &resource.bandwidth;
  return part;
}

Part networkPart(const Topology &topology) {
  Part part;
  part.name = kNetworkName;
  part.kind = PartKind::kNetwork;
  part.title = "network";
  if (topology.fabric) {
    const topology::Fabric &fabric = *topology.fabric;
    part.title = fabric.kind;
    part.figures = (fabric.rails > 1 ? integerText(fabric.rails) + " rails × " : "") +
                   rateText(fabric.tiers.front().bandwidth) + " a port";
    part.main = &fabric.tiers.front().bandwidth;
  }
  return part;
}

/// Levels of all parts by name: 0 the devices that compute, above what leads away from them.
std::map<std::string, int64_t> levelsOf(const Topology &topology, const NodeType &node) {
  const DeviceGroup *ranks = topology::rankGroup(topology, node);
  std::map<std::string, int64_t> levels = {{ranks->name, 0}};
  auto raise = [&](const std::string &name, int64_t level) {
    auto [known, added] = levels.emplace(name, level);
    if (!added && known->first != ranks->name) {
      known->second = std::max(known->second, level);
    }
  };
  auto isPeer = [&](const Route &route) {
    return route.source.group == ranks->name && route.target.group == ranks->name;
  };
  int64_t top = 0;
  for (const Route &route : node.routes) {
    if (isPeer(route) || route.source.group != ranks->name) {
      continue;
    }
    int64_t level = 0;
    for (const topology::Hop &hop : route.via) {
      raise(hop.resource, ++level);
    }
    if (!route.target.isNetwork()) {
      raise(endName(route.target), level + 1);
    }
    top = std::max(top, level + 1);
  }
  for (const Route &route : node.routes) {
    if (isPeer(route)) {
      int64_t level = 0;
      for (const topology::Hop &hop : route.via) {
        if (!levels.contains(hop.resource)) {
          levels[hop.resource] = --level;
        }
      }
    }
  }
  // What is reached from elsewhere only (a disk of the host) stands beside where its route ends.
  for (const Route &route : node.routes) {
    for (const topology::Hop &hop : route.via) {
      levels.emplace(hop.resource, 1);
    }
    for (const topology::Endpoint *end : {&route.source, &route.target}) {
      if (!end->isNetwork()) {
        levels.emplace(end->group, top);
      }
    }
  }
  for (const DeviceGroup &group : node.devices) {
    levels.emplace(group.name, top);
  }
  for (const Resource &resource : node.resources) {
    levels.emplace(resource.name, 1);
  }
  for (const auto &[name, level] : levels) {
    top = std::max(top, level);
  }
  bool network = std::any_of(node.routes.begin(), node.routes.end(),
                             [](const Route &route) { return route.target.isNetwork(); });
  if (network) {
    levels[kNetworkName] = top + 1;
  }
  return levels;
}

int64_t unitOf(const IndexExpression &index, int64_t source, int64_t target) {
  switch (index.base) {
  case IndexExpression::Base::kConstant:
    return index.constant;
  case IndexExpression::Base::kSource:
    return source / index.divisor;
  case IndexExpression::Base::kTarget:
    return target / index.divisor;
  }
  return 0;
}

struct Spot {
  size_t row = 0;
  size_t part = 0;
  int64_t unit = 0;
};

class WireMaker {
public:
  WireMaker(const NodeType &node, const NodeDrawing &drawing, int64_t unitsMax)
      : node_(node), unitsMax_(unitsMax) {
    for (size_t row = 0; row < drawing.rows.size(); ++row) {
      for (size_t part = 0; part < drawing.rows[row].size(); ++part) {
        spots_[drawing.rows[row][part].name] = {row, part, 0};
      }
    }
  }

  void add(const Route &route) {
    int64_t sources = countOf(route.source);
    int64_t targets = countOf(route.target);
    bool peers = route.source == route.target;
    int64_t most = std::max(sources, targets);
    for (int64_t unit = 0; unit < std::min(most, unitsMax_); ++unit) {
      int64_t source = deviceOf(route.source, unit * sources / most);
      // One other target shows the way; all of them would hide it.
      int64_t target =
          peers ? (source + 1) % targets : deviceOf(route.target, unit * targets / most);
      std::vector<Spot> way = {spot(endName(route.source), source)};
      for (const topology::Hop &hop : route.via) {
        way.push_back(spot(hop.resource, unitOf(hop.index, source, target)));
      }
      if (way.back().row != spots_.at(endName(route.target)).row ||
          way.back().part != spots_.at(endName(route.target)).part) {
        way.push_back(spot(endName(route.target), target));
      }
      for (size_t step = 1; step < way.size(); ++step) {
        join(way[step - 1], way[step]);
      }
    }
  }

  std::vector<Wire> wires() const { return {wires_.begin(), wires_.end()}; }

private:
  static bool isEvery(const topology::Endpoint &endpoint) {
    return endpoint.index == topology::Endpoint::kEvery;
  }
  int64_t countOf(const topology::Endpoint &endpoint) const {
    bool several = !endpoint.isNetwork() && isEvery(endpoint);
    return several ? node_.findGroup(endpoint.group)->count : 1;
  }
  static int64_t deviceOf(const topology::Endpoint &endpoint, int64_t unit) {
    return isEvery(endpoint) ? unit : endpoint.index;
  }
  Spot spot(const std::string &name, int64_t unit) const {
    Spot found = spots_.at(name);
    found.unit = unit;
    return found;
  }
  void join(Spot from, Spot to) {
    if (from.unit >= unitsMax_ || to.unit >= unitsMax_) {
      return;
    }
    auto key = [](const Spot &spot) { return std::tie(spot.row, spot.part, spot.unit); };
    if (key(to) < key(from)) {
      std::swap(from, to);
    }
    wires_.insert({from.row, from.part, from.unit, to.row, to.part, to.unit});
  }

  const NodeType &node_;
  int64_t unitsMax_;
  std::map<std::string, Spot> spots_;
  std::set<Wire> wires_;
};

} // namespace

bool Wire::operator<(const Wire &other) const {
  return std::tie(fromRow, fromPart, fromUnit, toRow, toPart, toUnit) <
         std::tie(other.fromRow, other.fromPart, other.fromUnit, other.toRow, other.toPart,
                  other.toUnit);
}

NodeDrawing layOut(const Topology &topology, const NodeType &node, int64_t unitsMax) {
  std::map<std::string, Part> parts;
  for (const DeviceGroup &group : node.devices) {
    parts[group.name] = devicePart(topology, group);
  }
  for (const Resource &resource : node.resources) {
    parts[resource.name] = resourcePart(resource);
  }
  parts[kNetworkName] = networkPart(topology);
  std::map<int64_t, std::vector<Part>, std::greater<>> rows;
  for (const auto &[name, level] : levelsOf(topology, node)) {
    rows[level].push_back(parts.at(name));
  }
  NodeDrawing drawing;
  for (auto &[level, row] : rows) {
    drawing.rows.push_back(std::move(row));
  }
  WireMaker wires(node, drawing, unitsMax);
  for (const Route &route : node.routes) {
    wires.add(route);
  }
  drawing.wires = wires.wires();
  return drawing;
}

} // namespace headrace::topo
