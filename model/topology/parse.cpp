// Reads schema topology/1 into the structs. What needs several parts together is checked in
// validate.cpp.
#include "model/topology/figure.h"
#include "model/topology/parse_types.h"
#include "model/topology/validate.h"

#include <array>
#include <fstream>

namespace headrace::topology {
namespace {

constexpr const char *kSchema = "topology/1";
constexpr size_t kFileBytesMax = size_t{16} << 20;

Fabric readFabric(JsonReader &reader, const FigureDefaults &defaults) {
  Fabric fabric;
  fabric.kind = reader.text("kind", Presence::kRequired);
  bool known = false;
  for (const char *kind : {"switch", "fat-tree", "rail-optimized", "dragonfly", "torus"}) {
    known |= fabric.kind == kind;
  }
  if (reader.ok() && !known) {
    reader.failAt("kind", "kind must be switch, fat-tree, rail-optimized, dragonfly or torus, got ",
                  fabric.kind);
  }
  fabric.rails = reader.integer("rails", Presence::kOptional, 1);
  reader.elements("tiers", Presence::kRequired, [&](JsonReader &value) {
    FabricTier tier;
    tier.radix = value.integer("radix", Presence::kOptional);
    tier.bandwidth = readFigure(value, "bw", Presence::kRequired, Bound::kPositive, defaults);
    tier.latencySeconds =
        readFigure(value, "alpha", Presence::kOptional, Bound::kNotNegative, defaults);
    tier.oversubscription = value.number("oversub", Presence::kOptional, 1);
    if (value.ok() && (tier.oversubscription < 1 || tier.oversubscription > 1e6)) {
      value.failAt("oversub", "oversub must be at least 1, got ", tier.oversubscription);
    }
    value.finish();
    fabric.tiers.push_back(tier);
  });
  fabric.efficiency =
      readFigure(reader, "ecmp_eff", Presence::kOptional, Bound::kPositive, defaults, 1);
  if (reader.ok() && fabric.efficiency.value > 1) {
    reader.failAt("ecmp_eff", "ecmp_eff must be above 0 and at most 1, got ",
                  fabric.efficiency.value);
  }
  if (reader.ok() && (fabric.tiers.empty() || fabric.tiers.size() > 16 || fabric.rails < 1)) {
    reader.fail("a fabric needs 1 to 16 tiers and at least one rail");
  }
  reader.finish();
  return fabric;
}

CollectiveFit readCollective(JsonReader &reader, const FigureDefaults &defaults) {
  CollectiveFit fit;
  fit.kind = reader.oneOf("op", Presence::kRequired,
                          {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                           CollectiveKind::kReduceScatter, CollectiveKind::kAllToAll,
                           CollectiveKind::kBroadcast},
                          collectiveName, fit.kind, "unknown collective: ");
  // "net" is between nodes; any other level names a domain inside one node ("nvlink", "host").
  fit.domain = reader.text("level", Presence::kRequired);
  fit.level = fit.domain == "net" ? Level::kNetwork : Level::kNode;
  fit.algorithm = reader.text("algo", Presence::kOptional, "direct");
  fit.library = reader.text("lib", Presence::kOptional);
  auto term = [&](const char *key) {
    return readFigure(reader, key, Presence::kOptional, Bound::kNotNegative, defaults).value;
  };
  fit.baseSeconds = term("a0");
  fit.perStepSeconds = term("a_step");
  fit.perRankSeconds = term("a_rank");
  fit.perPeerSeconds = term("a_peer");
  fit.perLog2NodeSeconds = term("a_log2nodes");
  fit.sqrtTerm = term("g_sqrt");
  fit.sqrtStepTerm = term("g_sqrt_step");
  fit.messageBytesMin = term("message_min");
  fit.messageBytesBelow = term("message_below");
  fit.members = reader.integer("n", Presence::kOptional, 0);
  if (reader.ok() && fit.members == 1) {
    reader.failAt("n", "n must be at least 2, or 0 for groups of any size, got ", fit.members);
  }
  Quantity bus = readFigure(reader, "B", Presence::kOptional, Bound::kPositive, defaults);
  Quantity whole = readFigure(reader, "B_alg", Presence::kOptional, Bound::kPositive, defaults);
  Quantity tree = readFigure(reader, "B_tree", Presence::kOptional, Bound::kPositive, defaults);
  fit.sent = whole.value > 0  ? SentBytes::kWhole
             : tree.value > 0 ? SentBytes::kTree
                              : SentBytes::kShares;
  if (reader.ok() && (bus.value > 0) + (whole.value > 0) + (tree.value > 0) != 1) {
    reader.fail("needs one of B, B_alg and B_tree");
  }
  fit.bandwidth = bus.value + whole.value + tree.value;
  fit.provenance = readProvenance(reader, defaults);
  fit.relativeError = readRelativeError(reader, defaults.relativeError);
  reader.finish();
  return fit;
}

Group readGroup(const std::string &name, JsonReader &reader, const FigureDefaults &defaults) {
  Group group;
  group.name = name;
  reader.elements("members", Presence::kRequired, [&](JsonReader &pair) {
    const nlohmann::json &value = pair.value();
    bool pairOf = value.is_array() && value.size() == 2 && value[0].is_string();
    int64_t count = pairOf ? countOf(value[1]).value_or(0) : 0;
    if (count < 1 || count > 1048576) {
      pair.fail("expected [node type or group, count from 1 to 1048576], got ", shownValue(value));
      return;
    }
    group.members.push_back(
        {JsonReader(value[0], pair.path() + "[0]", *pair.failure()).asText(), count});
  });
  std::string domain = reader.text("failure_domain", Presence::kOptional);
  if (domain == "rack") {
    group.failureDomain = FailureLevel::kRack;
  } else if (domain == "power") {
    group.failureDomain = FailureLevel::kPower;
  } else if (reader.ok() && !domain.empty()) {
    reader.failAt("failure_domain", "failure_domain must be rack or power, got ", domain);
  }
  group.meanTimeBetweenFailures =
      readFigure(reader, "mtbf", Presence::kOptional, Bound::kPositive, defaults);
  reader.finish();
  return group;
}

Source readSource(JsonReader &reader) {
  Source source;
  source.reference = reader.text("ref", Presence::kRequired);
  source.date = readDate(reader, {});
  source.license = reader.text("license", Presence::kOptional);
  reader.finish();
  return source;
}

/// The topology's head: schema, units, name, sources, and the defaults of all figures.
FigureDefaults readHead(JsonReader &root, Topology &topology) {
  std::string schema = root.text("schema", Presence::kRequired);
  if (root.ok() && schema != kSchema) {
    root.failAt("schema", "unsupported schema: expected ", kSchema, ", got ", schema);
  }
  std::string units = root.text("units", Presence::kOptional, "SI");
  if (root.ok() && units != "SI" && !units.starts_with("SI ")) {
    root.failAt("units", "unknown units: expected SI (bytes, seconds, bytes per second), got ",
                units);
  }
  topology.name = root.text("name", Presence::kRequired);
  if (root.ok() && topology.name.empty()) {
    root.failAt("name", "a topology needs a name");
  }
  root.members("sources", Presence::kOptional, [&](const std::string &name, JsonReader &value) {
    topology.sources[name] = readSource(value);
  });
  FigureDefaults defaults;
  defaults.sources = &topology.sources;
  root.child("defaults", Presence::kOptional, [&](JsonReader &reader) {
    defaults.relativeError = readRelativeError(reader, defaults.relativeError);
    defaults.provenance = readProvenance(reader, defaults);
    reader.finish();
  });
  return defaults;
}

void readDocument(JsonReader &root, Topology &topology) {
  FigureDefaults defaults = readHead(root, topology);
  root.members("device_types", Presence::kRequired,
               [&](const std::string &name, JsonReader &value) {
                 topology.deviceTypes[name] = readDeviceType(name, value, defaults);
               });
  root.members("node_types", Presence::kRequired, [&](const std::string &name, JsonReader &value) {
    topology.nodeTypes[name] = readNodeType(name, value, defaults);
  });
  root.members("groups", Presence::kOptional, [&](const std::string &name, JsonReader &value) {
    topology.groups[name] = readGroup(name, value, defaults);
  });
  root.child("fabric", Presence::kOptional,
             [&](JsonReader &value) { topology.fabric = readFabric(value, defaults); });
  root.elements("instances", Presence::kRequired, [&](JsonReader &value) {
    Instance instance;
    instance.type = value.text("type", Presence::kRequired);
    instance.count = value.integer("count", Presence::kOptional, 1);
    instance.name = value.text("name", Presence::kOptional, instance.type);
    if (value.ok() && instance.name.empty()) {
      value.failAt("name", "an instance needs a name");
    }
    value.finish();
    topology.placements.push_back(std::move(instance));
  });
  root.elements("collectives", Presence::kOptional, [&](JsonReader &value) {
    topology.collectives.push_back(readCollective(value, defaults));
  });
  root.finish();
}

} // namespace

Expected<Topology> parseTopology(std::string_view json) {
  HR_ASSIGN_OR_RETURN(nlohmann::json document, parseJson(json));
  ReadFailure failure;
  JsonReader root(document, "$", failure);
  Topology topology;
  readDocument(root, topology);
  HR_RETURN_IF_ERROR(failure.status);
  HR_RETURN_IF_ERROR(completeTiers(topology));
  HR_RETURN_IF_ERROR(expandPlacements(topology));
  HR_RETURN_IF_ERROR(checkTopology(topology));
  topology.hash = topologyHash(topology);
  return topology;
}

Expected<Topology> readTopologyFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return makeError(ErrorKind::kUser, "cannot open topology file: ", path);
  }
  // Endless files end a little beyond what is supported: their length refuses them.
  std::string text;
  std::array<char, 65536> block;
  while (text.size() <= kFileBytesMax && file.read(block.data(), block.size()).gcount() > 0) {
    text.append(block.data(), static_cast<size_t>(file.gcount()));
  }
  if (file.bad()) {
    return makeError(ErrorKind::kUser, "cannot read topology file: ", path);
  }
  Expected<Topology> topology = parseTopology(text);
  if (!topology.ok()) {
    return topology.status().at(path);
  }
  return topology;
}

} // namespace headrace::topology
