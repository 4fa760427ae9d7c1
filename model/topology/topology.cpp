// Look-ups in a topology.
#include "model/topology/topology.h"

#include <algorithm>

namespace headrace::topology {

const char *collectiveName(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::kAllReduce:
    return "all_reduce";
  case CollectiveKind::kAllGather:
    return "all_gather";
  case CollectiveKind::kReduceScatter:
    return "reduce_scatter";
  case CollectiveKind::kAllToAll:
    return "all_to_all";
  case CollectiveKind::kBroadcast:
    return "broadcast";
  }
  return "unknown";
}

const char *originName(Origin origin) {
  constexpr const char *kNames[] = {"assumed", "datasheet", "measured", "fitted"};
  return kNames[static_cast<size_t>(origin)];
}

const char *deviceClassName(DeviceClass deviceClass) {
  constexpr const char *kNames[] = {"cpu", "gpu", "storage"};
  return kNames[static_cast<size_t>(deviceClass)];
}

const char *tierName(Tier tier) {
  constexpr const char *kNames[] = {"device", "pinned", "host", "file"};
  return kNames[static_cast<size_t>(tier)];
}

const char *failureLevelName(FailureLevel level) {
  constexpr const char *kNames[] = {"device", "node", "rack", "power"};
  return kNames[static_cast<size_t>(level)];
}

const DeviceGroup *NodeType::findGroup(std::string_view group) const {
  auto it = std::find_if(devices.begin(), devices.end(),
                         [&](const DeviceGroup &device) { return device.name == group; });
  return it == devices.end() ? nullptr : &*it;
}

const Resource *NodeType::findResource(std::string_view resource) const {
  auto it = std::find_if(resources.begin(), resources.end(),
                         [&](const Resource &candidate) { return candidate.name == resource; });
  return it == resources.end() ? nullptr : &*it;
}

int64_t Route::speciality() const {
  return (source.index == Endpoint::kEvery ? 0 : 2) + (target.index == Endpoint::kEvery ? 0 : 1);
}

const Route *NodeType::findRoute(const Endpoint &source, const Endpoint &target) const {
  auto matches = [](const Endpoint &written, const Endpoint &wanted) {
    return written.group == wanted.group && written.space == wanted.space &&
           (written.index == Endpoint::kEvery || written.index == wanted.index);
  };
  const Route *found = nullptr;
  for (const Route &route : routes) {
    if (matches(route.source, source) && matches(route.target, target) &&
        (!found || route.speciality() > found->speciality())) {
      found = &route;
    }
  }
  return found;
}

const DeviceGroup *rankGroup(const Topology &topology, const NodeType &node) {
  for (DeviceClass wanted : {DeviceClass::kGpu, DeviceClass::kCpu}) {
    for (const DeviceGroup &group : node.devices) {
      auto type = topology.deviceTypes.find(group.type);
      if (type != topology.deviceTypes.end() && type->second.deviceClass == wanted) {
        return &group;
      }
    }
  }
  return nullptr;
}

std::vector<MemoryTier> memoryTiers(const Topology &topology, const NodeType &node) {
  if (!node.tiers.empty()) {
    return node.tiers;
  }
  std::vector<MemoryTier> tiers;
  auto add = [&](DeviceClass wanted, Tier tier) {
    for (const DeviceGroup &group : node.devices) {
      const DeviceType &type = topology.deviceTypes.at(group.type);
      if (type.deviceClass != wanted) {
        continue;
      }
      double count = static_cast<double>(group.count);
      if (tier == Tier::kHost && type.pinnedBytesMax.value > 0) {
        tiers.push_back({Tier::kPinned, group.name, type.space, type.pinnedBytesMax.value * count});
      }
      tiers.push_back({tier, group.name, type.space, type.capacityBytes * count});
    }
  };
  add(DeviceClass::kGpu, Tier::kDevice);
  add(DeviceClass::kCpu, Tier::kHost);
  add(DeviceClass::kStorage, Tier::kFile);
  return tiers;
}

int64_t Topology::nodeCount() const {
  int64_t count = 0;
  for (const Instance &instance : instances) {
    count += instance.count;
  }
  return count;
}

int64_t Topology::rankCount() const {
  int64_t count = 0;
  for (const Instance &instance : instances) {
    if (const DeviceGroup *group = rankGroup(*this, nodeTypes.at(instance.type))) {
      count += instance.count * group->count;
    }
  }
  return count;
}

} // namespace headrace::topology
