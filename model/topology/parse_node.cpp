// Reads one node type: its devices, shared resources, routes, tiers and domains.
#include "model/topology/parse_types.h"
#include "model/topology/route_text.h"

#include <charconv>

namespace headrace::topology {
namespace {

constexpr size_t kGroupsMax = 64;
constexpr size_t kResourcesMax = 256;
constexpr size_t kRoutesMax = 4096;
constexpr size_t kHopsMax = 64;
constexpr int64_t kDevicesMax = 65536; // of one group in a node

/// "gpu" or "gpu/2".
PerDevice readPerDevice(JsonReader &reader) {
  PerDevice per;
  std::string text = reader.asText();
  size_t slash = text.find('/');
  per.group = text.substr(0, slash);
  if (slash != std::string::npos) {
    const char *end = text.data() + text.size();
    auto [stop, error] = std::from_chars(text.data() + slash + 1, end, per.divisor);
    if (reader.ok() && (error != std::errc() || stop != end || per.divisor < 1)) {
      reader.fail("expected a device group, as gpu or gpu/2, got ", text);
    }
  }
  return per;
}

Sharing readSharing(JsonReader &reader) {
  std::string sharing = reader.text("sharing", Presence::kOptional, "shared");
  if (reader.ok() && sharing != "fatpipe" && sharing != "shared") {
    reader.failAt("sharing", "sharing must be shared or fatpipe, got ", sharing);
  }
  return sharing == "fatpipe" ? Sharing::kFatpipe : Sharing::kShared;
}

Resource readResource(const std::string &name, JsonReader &reader, const FigureDefaults &defaults) {
  Resource resource;
  resource.name = name;
  expectName(reader, name);
  resource.count = reader.integer("count", Presence::kOptional, 1);
  resource.bandwidth = readFigure(reader, "bw", Presence::kRequired, Bound::kPositive, defaults);
  resource.latencySeconds =
      readFigure(reader, "alpha", Presence::kOptional, Bound::kNotNegative, defaults);
  resource.sharing = readSharing(reader);
  std::string duplex = reader.text("duplex", Presence::kOptional, "half");
  resource.fullDuplex = duplex == "full";
  if (reader.ok() && duplex != "full" && duplex != "half") {
    reader.failAt("duplex", "duplex must be full or half, got ", duplex);
  }
  resource.bothDirectionsMax =
      readFigure(reader, "bidir_total", Presence::kOptional, Bound::kPositive, defaults);
  if (reader.ok() && resource.bothDirectionsMax.value > 0 && !resource.fullDuplex) {
    reader.failAt("bidir_total", "bidir_total needs duplex full");
  }
  reader.child("per", Presence::kOptional,
               [&](JsonReader &value) { resource.per = readPerDevice(value); });
  resource.rail = reader.text("rail", Presence::kOptional);
  resource.postSeconds =
      readFigure(reader, "post", Presence::kOptional, Bound::kNotNegative, defaults);
  reader.members("by_engine", Presence::kOptional,
                 [&](const std::string &engine, JsonReader &part) {
                   if (expectName(part, engine)) {
                     resource.byEngine[engine] = readFigure(part, Bound::kPositive, defaults);
                   }
                 });
  reader.child("pageable", Presence::kOptional, [&](JsonReader &value) {
    resource.pageableFraction =
        readFigure(value, "factor", Presence::kRequired, Bound::kPositive, defaults);
    resource.pageableBoundBy = value.text("bound_by", Presence::kOptional);
    value.finish();
  });
  reader.elements("members", Presence::kOptional,
                  [&](JsonReader &member) { resource.members.push_back(member.asText()); });
  resource.ability.multicast = reader.flag("multicast");
  resource.ability.reduce = reader.flag("reduce");
  resource.ability.directAccess = reader.flag("gdr");
  resource.ability.limiter = reader.flag("limiter");
  reader.finish();
  return resource;
}

Route readRoute(JsonReader &reader, const NodeType &node) {
  Route route;
  reader.child("from", Presence::kRequired,
               [&](JsonReader &end) { route.source = readEndpoint(end, node); });
  reader.child("to", Presence::kRequired,
               [&](JsonReader &end) { route.target = readEndpoint(end, node); });
  reader.elements("via", Presence::kRequired, [&](JsonReader &hop) {
    route.via.push_back(readHop(hop));
    if (hop.ok() && route.via.size() > kHopsMax) {
      hop.fail("more than ", kHopsMax, " hops are not supported");
    }
  });
  route.needs = reader.text("needs", Presence::kOptional);
  bool known =
      route.needs.empty() || route.needs == "gds" || route.needs == "gdr" || route.needs == "p2p";
  if (reader.ok() && !known) {
    reader.failAt("needs", "needs must be gds, gdr or p2p, got ", route.needs);
  }
  reader.finish();
  return route;
}

MemoryTier readTier(JsonReader &reader, const FigureDefaults &defaults) {
  MemoryTier tier;
  tier.tier = reader.oneOf("tier", Presence::kRequired,
                           {Tier::kDevice, Tier::kPinned, Tier::kHost, Tier::kFile}, tierName,
                           tier.tier, "tier must be device, pinned, host or file, got ");
  tier.group = reader.text("of", Presence::kRequired);
  tier.capacityBytes =
      readFigure(reader, "capacity", Presence::kOptional, Bound::kPositive, defaults);
  reader.finish();
  return tier;
}

Domain readDomain(const std::string &name, JsonReader &reader) {
  Domain domain;
  domain.name = name;
  std::string members = reader.text("members", Presence::kRequired);
  if (reader.ok() && !members.ends_with("[*]")) {
    reader.failAt("members", "members must be a device group, as gpu[*], got ", members);
    return domain;
  }
  domain.group = members.substr(0, members.size() - std::min<size_t>(3, members.size()));
  domain.clique = reader.text("clique", Presence::kOptional, "auto");
  reader.finish();
  return domain;
}

void readDevices(JsonReader &reader, NodeType &node) {
  reader.members("devices", Presence::kRequired, [&](const std::string &group, JsonReader &pair) {
    const nlohmann::json &value = pair.value();
    bool pairOf = value.is_array() && value.size() == 2 && value[0].is_string();
    int64_t count = pairOf ? countOf(value[1]).value_or(0) : 0;
    if (count < 1 || count > kDevicesMax) {
      pair.fail("expected [device type, count from 1 to 65536], got ", shownValue(value));
      return;
    }
    expectName(pair, group);
    node.devices.push_back(
        {group, JsonReader(value[0], pair.path() + "[0]", *pair.failure()).asText(), count});
    if (pair.ok() && node.devices.size() > kGroupsMax) {
      pair.fail("more than ", kGroupsMax, " device groups are not supported");
    }
  });
}

} // namespace

NodeType readNodeType(const std::string &name, JsonReader &reader, const FigureDefaults &defaults) {
  NodeType node;
  node.name = name;
  readDevices(reader, node);
  reader.members("resources", Presence::kOptional,
                 [&](const std::string &resource, JsonReader &value) {
                   node.resources.push_back(readResource(resource, value, defaults));
                   if (value.ok() && node.resources.size() > kResourcesMax) {
                     value.fail("more than ", kResourcesMax, " resources are not supported");
                   }
                 });
  reader.elements("routes", Presence::kOptional, [&](JsonReader &value) {
    node.routes.push_back(readRoute(value, node));
    if (value.ok() && node.routes.size() > kRoutesMax) {
      value.fail("more than ", kRoutesMax, " routes are not supported");
    }
  });
  reader.elements("tiers", Presence::kOptional,
                  [&](JsonReader &value) { node.tiers.push_back(readTier(value, defaults)); });
  reader.members("domains", Presence::kOptional, [&](const std::string &domain, JsonReader &value) {
    node.domains.push_back(readDomain(domain, value));
  });
  node.meanTimeBetweenFailures =
      readFigure(reader, "mtbf", Presence::kOptional, Bound::kPositive, defaults);
  reader.finish();
  return node;
}

} // namespace headrace::topology
