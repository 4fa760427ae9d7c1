// Resolves routes from ranks' memory to other tiers, and prices the way there and back.
#include "model/cost/spill.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace headrace::cost {

using topology::DeviceGroup;
using topology::DeviceType;
using topology::IndexExpression;
using topology::NodeType;
using topology::Resource;
using topology::Route;

namespace {

constexpr double kOverlap = 0.95; // as of compute and memory in a kernel

int64_t unitOf(const IndexExpression &index, int64_t device) {
  return index.base == IndexExpression::Base::kConstant ? index.constant : device / index.divisor;
}

/// Of one rank, while all ranks of the node send one byte each.
struct Slowest {
  double secondsPerByte = 0;
  double relativeError = 0;
  std::string name;
  void take(double seconds, double error, const std::string &of) {
    if (seconds > secondsPerByte) {
      *this = {seconds, error, of};
    }
  }
  topology::Quantity rate() const { return {1 / secondsPerByte, relativeError}; }
};

enum class Way : uint8_t { kWrite, kRead };

Slowest slowestOf(const topology::Topology &topology, const NodeType &node, const Route &route,
                  int64_t ranks, Way way) {
  std::map<std::pair<std::string, int64_t>, double> load; // users of each unit
  for (const topology::Hop &hop : route.via) {
    for (int64_t rank = 0; rank < ranks; ++rank) {
      const Resource *resource = node.findResource(hop.resource);
      bool alone = resource && resource->sharing == topology::Sharing::kFatpipe;
      double &users = load[{hop.resource, unitOf(hop.index, rank)}];
      users = alone ? 1 : users + 1;
    }
  }
  Slowest slowest;
  for (const auto &[unit, users] : load) {
    if (const Resource *resource = node.findResource(unit.first)) {
      slowest.take(users / resource->bandwidth.value, resource->bandwidth.relativeError,
                   unit.first);
    } else if (const DeviceGroup *group = node.findGroup(unit.first)) {
      const DeviceType &storage = topology.deviceTypes.at(group->type);
      topology::Quantity rate = way == Way::kWrite ? storage.writeBandwidth : storage.readBandwidth;
      slowest.take(users / rate.value, rate.relativeError, unit.first);
    }
  }
  return slowest;
}

double latencyOf(const NodeType &node, const Route &route) {
  double latency = 0;
  for (const topology::Hop &hop : route.via) {
    if (const Resource *resource = node.findResource(hop.resource)) {
      latency += resource->latencySeconds;
    }
  }
  return latency;
}

} // namespace

std::vector<SpillTier> spillTiers(const topology::Topology &topology, const NodeType &node) {
  std::vector<SpillTier> tiers;
  const DeviceGroup *ranks = topology::rankGroup(topology, node);
  if (!ranks) {
    return tiers;
  }
  double count = static_cast<double>(ranks->count);
  for (const DeviceGroup &group : node.devices) {
    if (group.name == ranks->name) {
      continue;
    }
    const DeviceType &device = topology.deviceTypes.at(group.type);
    const Route *route = node.findRoute({ranks->name, topology.deviceTypes.at(ranks->type).space},
                                        {group.name, device.space});
    SpillTier tier;
    tier.space = device.space;
    tier.capacityBytes = device.capacityBytes * static_cast<double>(group.count) / count;
    tier.latencySeconds = device.latencySeconds;
    Slowest write;
    Slowest read;
    if (route) {
      write = slowestOf(topology, node, *route, ranks->count, Way::kWrite);
      read = slowestOf(topology, node, *route, ranks->count, Way::kRead);
      tier.latencySeconds += latencyOf(node, *route);
    } else if (device.deviceClass == topology::DeviceClass::kStorage) {
      double share = count / static_cast<double>(group.count);
      write.take(share / device.writeBandwidth.value, device.writeBandwidth.relativeError,
                 group.name);
      read.take(share / device.readBandwidth.value, device.readBandwidth.relativeError, group.name);
    }
    if (write.secondsPerByte > 0 && read.secondsPerByte > 0) {
      tier.write = write.rate();
      tier.read = read.rate();
      tier.fullest = write.name;
      tiers.push_back(std::move(tier));
    }
  }
  std::sort(tiers.begin(), tiers.end(),
            [](const SpillTier &a, const SpillTier &b) { return a.write.value > b.write.value; });
  return tiers;
}

SpillCost spillCost(const DeviceType &device, const SpillTier &tier, const SpillWork &work) {
  SpillCost cost;
  if (work.bytes <= 0) {
    return cost;
  }
  auto both = [&](double ratio, const topology::Codec *codec) {
    double wire = work.bytes / ratio;
    double ratioError = codec && work.ratio <= 0 ? codec->relativeError : 0;
    Breakdown parts;
    parts.parts.push_back({"start", {2 * tier.latencySeconds, tier.write.relativeError}});
    if (codec) {
      parts.parts.push_back(
          {"compress", {work.bytes / codec->compressBytesPerSecond, codec->relativeError}});
    }
    parts.parts.push_back(
        {"write", {wire / tier.write.value, std::hypot(tier.write.relativeError, ratioError)}});
    parts.parts.push_back(
        {"read back", {wire / tier.read.value, std::hypot(tier.read.relativeError, ratioError)}});
    if (codec) {
      parts.parts.push_back(
          {"decompress", {work.bytes / codec->decompressBytesPerSecond, codec->relativeError}});
    }
    return parts;
  };
  cost.parts = both(1, nullptr);
  for (const topology::Codec &codec : device.codecs) {
    Breakdown parts = both(work.ratio > 0 ? work.ratio : codec.ratio.value, &codec);
    if (parts.total().seconds < cost.parts.total().seconds) {
      cost.parts = std::move(parts);
      cost.codec = &codec;
    }
  }
  double whole = cost.parts.total().seconds;
  cost.hiddenSeconds = kOverlap * std::min(whole, std::max(work.kernelSeconds, 0.0));
  for (Breakdown::Part &part : cost.parts.parts) {
    part.cost.seconds *= (whole - cost.hiddenSeconds) / whole;
  }
  return cost;
}

} // namespace headrace::cost
