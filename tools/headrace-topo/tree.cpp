// The tree of templates and the limits of routes, for both drawings.
#include "tools/headrace-topo/draw.h"

#include <algorithm>
#include <map>
#include <set>

namespace headrace::topo {
namespace {

using topology::Topology;

struct Size {
  int64_t nodes = 0;
  int64_t ranks = 0;
};

class TreeMaker {
public:
  explicit TreeMaker(const Topology &topology) : topology_(topology) {}

  // Templates nest at most 16 deep: they were checked.
  // `name` is that of a placement, if it has one of its own.
  void add(const std::string &type, int64_t count, int64_t depth, const std::string &name = "") {
    Size size = sizeOf(type);
    TreeLine line{depth, type, count, size.nodes, size.ranks, ""};
    if (!name.empty() && name != type) {
      line.name += " (" + name + ")";
    }
    auto group = topology_.groups.find(type);
    if (group == topology_.groups.end()) {
      line.failure = "node";
      lines_.push_back(line);
      return;
    }
    if (group->second.failureDomain) {
      line.failure = topology::failureLevelName(*group->second.failureDomain);
    }
    lines_.push_back(line);
    if (!told_.insert(type).second) {
      return;
    }
    for (const topology::Member &member : group->second.members) {
      add(member.type, member.count, depth + 1);
    }
  }

  std::vector<TreeLine> lines() const { return lines_; }

private:
  Size sizeOf(const std::string &type) {
    if (auto known = sizes_.find(type); known != sizes_.end()) {
      return known->second;
    }
    Size size;
    if (auto group = topology_.groups.find(type); group != topology_.groups.end()) {
      for (const topology::Member &member : group->second.members) {
        Size inner = sizeOf(member.type);
        size.nodes += inner.nodes * member.count;
        size.ranks += inner.ranks * member.count;
      }
    } else {
      const topology::NodeType &node = topology_.nodeTypes.at(type);
      size = {1, topology::rankGroup(topology_, node)->count};
    }
    return sizes_[type] = size;
  }

  const Topology &topology_;
  std::vector<TreeLine> lines_;
  std::map<std::string, Size> sizes_;
  std::set<std::string> told_;
};

} // namespace

std::vector<TreeLine> treeOf(const Topology &topology) {
  TreeMaker maker(topology);
  const auto &placements = topology.placements.empty() ? topology.instances : topology.placements;
  for (const topology::Instance &placed : placements) {
    maker.add(placed.type, placed.count, 0, placed.name);
  }
  return maker.lines();
}

RouteLimit limitOf(const Topology &topology, const topology::NodeType &node,
                   const topology::Route &route) {
  RouteLimit limit;
  auto bound = [&](double rate, const std::string &name) {
    if (limit.bytesPerSecond == 0 || rate < limit.bytesPerSecond) {
      limit.bytesPerSecond = rate;
      limit.resource = name;
    }
  };
  for (const topology::Hop &hop : route.via) {
    if (const topology::Resource *resource = node.findResource(hop.resource)) {
      bound(resource->bandwidth, resource->name);
      limit.latencySeconds += resource->latencySeconds;
      continue;
    }
    const topology::DeviceGroup *group = node.findGroup(hop.resource);
    const topology::DeviceType &type = topology.deviceTypes.at(group->type);
    bool reads = hop.direction == topology::Direction::kRead;
    bound(reads ? type.readBandwidth : type.writeBandwidth, group->name);
    limit.latencySeconds += reads ? type.latencySeconds : type.writeLatencySeconds;
  }
  return limit;
}

} // namespace headrace::topo
