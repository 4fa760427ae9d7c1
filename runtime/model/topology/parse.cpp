// Reads schema topology/1 into the structs. What needs several parts together is checked in
// validate.cpp.
#include "runtime/base/content_hash.h"
#include "runtime/model/topology/json_reader.h"
#include "runtime/model/topology/route_text.h"
#include "runtime/model/topology/topology.h"
#include "runtime/model/topology/validate.h"

#include <fstream>
#include <sstream>

namespace headrace::topology {
namespace {

constexpr const char *kSchema = "topology/1";

/// What `defaults` says for figures that do not state their own error.
struct Defaults {
  double relativeError = 0.15;
};

/// A figure: a number, or {"v", "eff" or "eff_stream", "rel_err", and provenance}.
Quantity readQuantity(JsonReader &reader, const Defaults &defaults) {
  Quantity quantity{0, defaults.relativeError};
  if (!reader.isObject()) {
    quantity.value = reader.asNumber();
    return quantity;
  }
  double efficiency = reader.number("eff", Presence::kOptional, 1);
  efficiency *= reader.number("eff_stream", Presence::kOptional, 1);
  if (efficiency <= 0 || efficiency > 1.2) {
    reader.fail("efficiency must be above 0 and at most 1.2, got ", efficiency);
  }
  quantity.value = reader.number("v", Presence::kRequired) * efficiency;
  quantity.relativeError = reader.number("rel_err", Presence::kOptional, defaults.relativeError);
  if (quantity.relativeError < 0) {
    reader.fail("rel_err must not be negative, got ", quantity.relativeError);
  }
  reader.ignore({"kind", "src", "date", "const"});
  reader.finish();
  return quantity;
}

Quantity readBandwidth(JsonReader &object, const char *key, Presence presence,
                       const Defaults &defaults) {
  Quantity quantity{0, defaults.relativeError};
  object.child(key, presence, [&](JsonReader &reader) {
    quantity = readQuantity(reader, defaults);
    if (reader.ok() && quantity.value <= 0) {
      reader.fail("bandwidth must be positive, got ", quantity.value);
    }
  });
  return quantity;
}

double readNotNegative(JsonReader &object, const char *key, Presence presence,
                       double fallback = 0) {
  double number = object.number(key, presence, fallback);
  if (object.ok() && number < 0) {
    object.fail(key, " must not be negative, got ", number);
  }
  return number;
}

void readMemory(JsonReader &memory, DeviceType &type, const Defaults &defaults) {
  type.space = memory.text("space", Presence::kRequired);
  double capacity = readNotNegative(memory, "capacity", Presence::kRequired);
  double reserved = readNotNegative(memory, "reserved", Presence::kOptional);
  if (memory.ok() && reserved >= capacity) {
    memory.fail("reserved must be below capacity, got ", reserved);
  }
  type.capacityBytes = capacity - reserved;
  type.memoryBandwidth = readBandwidth(memory, "bw", Presence::kRequired, defaults);
  memory.elements("random_gather", Presence::kOptional, [&](JsonReader &point) {
    if (!point.value().is_array() || point.value().size() != 2) {
      point.fail("expected [working set bytes, bytes per second]");
      return;
    }
    RandomAccessPoint access;
    JsonReader workingSet(point.value()[0], point.path() + "[0]", *memory.failure());
    JsonReader rate(point.value()[1], point.path() + "[1]", *memory.failure());
    access = {workingSet.asNumber(), rate.asNumber()};
    bool ascending = type.randomAccess.empty() ||
                     access.workingSetBytes > type.randomAccess.back().workingSetBytes;
    if (memory.ok() && (access.bytesPerSecond <= 0 || !ascending)) {
      point.fail("expected ascending working sets and positive rates");
      return;
    }
    type.randomAccess.push_back(access);
  });
  memory.ignore({"l2", "sat_blocks", "pinned_max", "copy_core"});
  memory.finish();
}

void readCodecs(JsonReader &reader, DeviceType &type, const Defaults &defaults) {
  reader.members("codecs", Presence::kOptional, [&](const std::string &name, JsonReader &value) {
    Codec codec;
    codec.name = name;
    codec.compressBytesPerSecond = value.number("enc", Presence::kRequired);
    codec.decompressBytesPerSecond = value.number("dec", Presence::kRequired);
    codec.ratio = value.number("ratio", Presence::kOptional, codec.ratio);
    codec.relativeError = value.number("rel_err", Presence::kOptional, defaults.relativeError);
    std::string per = value.text("per", Presence::kOptional, "device");
    if (per == "core") {
      codec.compressBytesPerSecond *= static_cast<double>(type.cores);
      codec.decompressBytesPerSecond *= static_cast<double>(type.cores);
    } else if (per != "device") {
      value.fail("per must be core or device, got ", per);
    }
    bool positive = codec.compressBytesPerSecond > 0 && codec.decompressBytesPerSecond > 0 &&
                    codec.ratio > 0 && codec.relativeError >= 0;
    if (value.ok() && !positive) {
      value.fail("enc, dec and ratio must be positive");
    }
    value.ignore({"kind", "src", "date"});
    value.finish();
    type.codecs.push_back(std::move(codec));
  });
}

DeviceType readDeviceType(const std::string &name, JsonReader &reader, const Defaults &defaults) {
  DeviceType type;
  type.name = name;
  std::string className = reader.text("class", Presence::kRequired);
  if (className == "cpu") {
    type.deviceClass = DeviceClass::kCpu;
  } else if (className == "gpu") {
    type.deviceClass = DeviceClass::kGpu;
  } else if (className == "storage") {
    type.deviceClass = DeviceClass::kStorage;
  } else {
    reader.fail("class must be cpu, gpu or storage, got ", className);
  }
  type.architecture = reader.text("arch", Presence::kOptional);
  type.cores = reader.integer(reader.has("sms") ? "sms" : "cores", Presence::kOptional, 1);
  if (type.deviceClass == DeviceClass::kStorage) {
    type.space = reader.text("space", Presence::kRequired);
    type.capacityBytes = readNotNegative(reader, "capacity", Presence::kRequired);
    reader.child("read", Presence::kRequired, [&](JsonReader &read) {
      type.readBandwidth = readBandwidth(read, "bw", Presence::kRequired, defaults);
      type.latencySeconds = readNotNegative(read, "alpha", Presence::kOptional);
      read.ignore({"qd"});
      read.finish();
    });
    reader.child("write", Presence::kRequired, [&](JsonReader &write) {
      type.writeBandwidth = readBandwidth(write, "bw", Presence::kRequired, defaults);
      write.ignore({"qd", "alpha"});
      write.finish();
    });
    reader.ignore({"gds"});
  } else {
    reader.child("mem", Presence::kRequired,
                 [&](JsonReader &memory) { readMemory(memory, type, defaults); });
    double efficiency = 1;
    type.computeRelativeError = defaults.relativeError;
    reader.members("compute", Presence::kOptional, [&](const std::string &kind, JsonReader &rate) {
      double value = rate.asNumber();
      if (kind == "eff") {
        efficiency = value;
      } else {
        type.compute[kind] = value;
      }
      if (rate.ok() && value <= 0) {
        rate.fail("rate must be positive, got ", value);
      }
    });
    for (auto &[kind, rate] : type.compute) {
      rate *= efficiency;
    }
    reader.child("launch", Presence::kOptional, [&](JsonReader &launch) {
      type.launchSeconds = readNotNegative(launch, "kernel", Presence::kOptional);
      launch.ignore({"graph_node", "sync"});
      launch.finish();
    });
    readCodecs(reader, type, defaults);
    reader.ignore({"engines", "numa"});
  }
  reader.finish();
  return type;
}

Resource readResource(const std::string &name, JsonReader &reader, const Defaults &defaults) {
  Resource resource;
  resource.name = name;
  resource.count = reader.integer("count", Presence::kOptional, 1);
  resource.bandwidth = readBandwidth(reader, "bw", Presence::kRequired, defaults);
  resource.latencySeconds = readNotNegative(reader, "alpha", Presence::kOptional);
  resource.bothDirectionsMax = readNotNegative(reader, "bidir_total", Presence::kOptional);
  std::string sharing = reader.text("sharing", Presence::kOptional, "shared");
  if (sharing == "fatpipe") {
    resource.sharing = Sharing::kFatpipe;
  } else if (sharing != "shared") {
    reader.fail("sharing must be shared or fatpipe, got ", sharing);
  }
  std::string duplex = reader.text("duplex", Presence::kOptional, "half");
  if (duplex == "full") {
    resource.fullDuplex = true;
  } else if (duplex != "half") {
    reader.fail("duplex must be full or half, got ", duplex);
  }
  reader.ignore({"per", "by_engine", "pageable", "members", "limiter", "gdr", "rail", "post",
                 "multicast", "reduce"});
  reader.finish();
  return resource;
}

NodeType readNodeType(const std::string &name, JsonReader &reader, const Defaults &defaults) {
  NodeType node;
  node.name = name;
  reader.members("devices", Presence::kRequired, [&](const std::string &group, JsonReader &pair) {
    const nlohmann::json &value = pair.value();
    bool wellFormed = value.is_array() && value.size() == 2 && value[0].is_string() &&
                      value[1].is_number_integer() && value[1].get<int64_t>() >= 1 &&
                      value[1].get<int64_t>() <= 65536;
    if (!wellFormed) {
      pair.fail("expected [device type, count from 1 to 65536], got ", value.dump());
      return;
    }
    node.devices.push_back({group, value[0].get<std::string>(), value[1].get<int64_t>()});
  });
  reader.members("resources", Presence::kOptional,
                 [&](const std::string &resource, JsonReader &value) {
                   node.resources.push_back(readResource(resource, value, defaults));
                 });
  reader.elements("routes", Presence::kOptional, [&](JsonReader &value) {
    Route route;
    value.child("from", Presence::kRequired,
                [&](JsonReader &end) { route.source = readEndpoint(end, node); });
    value.child("to", Presence::kRequired,
                [&](JsonReader &end) { route.target = readEndpoint(end, node); });
    value.elements("via", Presence::kRequired,
                   [&](JsonReader &hop) { route.via.push_back(readHop(hop)); });
    value.ignore({"needs"});
    value.finish();
    node.routes.push_back(std::move(route));
  });
  reader.ignore({"domains"});
  reader.finish();
  return node;
}

Fabric readFabric(JsonReader &reader, const Defaults &defaults) {
  Fabric fabric;
  fabric.kind = reader.text("kind", Presence::kRequired);
  fabric.rails = reader.integer("rails", Presence::kOptional, 1);
  reader.elements("tiers", Presence::kRequired, [&](JsonReader &value) {
    FabricTier tier;
    tier.radix = value.integer("radix", Presence::kOptional);
    tier.bandwidth = readBandwidth(value, "bw", Presence::kRequired, defaults);
    tier.latencySeconds = readNotNegative(value, "alpha", Presence::kOptional);
    tier.oversubscription = value.number("oversub", Presence::kOptional, 1);
    if (value.ok() && tier.oversubscription < 1) {
      value.fail("oversub must be at least 1, got ", tier.oversubscription);
    }
    value.finish();
    fabric.tiers.push_back(tier);
  });
  fabric.efficiency = reader.number("ecmp_eff", Presence::kOptional, 1);
  if (reader.ok() && (fabric.efficiency <= 0 || fabric.efficiency > 1)) {
    reader.fail("ecmp_eff must be above 0 and at most 1, got ", fabric.efficiency);
  }
  if (reader.ok() && (fabric.tiers.empty() || fabric.rails < 1)) {
    reader.fail("a fabric needs at least one tier and one rail");
  }
  reader.finish();
  return fabric;
}

CollectiveFit readCollective(JsonReader &reader, const Defaults &defaults) {
  CollectiveFit fit;
  std::string op = reader.text("op", Presence::kRequired);
  bool known = false;
  for (CollectiveKind kind :
       {CollectiveKind::kAllReduce, CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
        CollectiveKind::kAllToAll, CollectiveKind::kBroadcast}) {
    if (op == collectiveName(kind)) {
      fit.kind = kind;
      known = true;
    }
  }
  if (!known) {
    reader.fail("unknown collective: ", op);
  }
  // "net" is between nodes; any other level names a domain inside one node ("nvlink", "host").
  fit.level = reader.text("level", Presence::kRequired) == "net" ? Level::kNetwork : Level::kNode;
  fit.algorithm = reader.text("algo", Presence::kOptional, "direct");
  fit.baseSeconds = readNotNegative(reader, "a0", Presence::kOptional);
  fit.perStepSeconds = readNotNegative(reader, "a_step", Presence::kOptional);
  fit.perRankSeconds = readNotNegative(reader, "a_rank", Presence::kOptional);
  fit.perPeerSeconds = readNotNegative(reader, "a_peer", Presence::kOptional);
  fit.perLog2NodeSeconds = readNotNegative(reader, "a_log2nodes", Presence::kOptional);
  fit.sqrtTerm = readNotNegative(reader, "g_sqrt", Presence::kOptional);
  fit.sqrtStepTerm = readNotNegative(reader, "g_sqrt_step", Presence::kOptional);
  fit.members = reader.integer("n", Presence::kOptional, 0);
  if (reader.ok() && (fit.members < 0 || fit.members == 1)) {
    reader.fail("n must be at least 2, or 0 for groups of any size, got ", fit.members);
  }
  fit.bandwidthIsAlgorithmic = reader.has("B_alg");
  Quantity bandwidth = readBandwidth(reader, fit.bandwidthIsAlgorithmic ? "B_alg" : "B",
                                     Presence::kRequired, defaults);
  fit.bandwidth = bandwidth.value;
  fit.relativeError =
      readNotNegative(reader, "rel_err", Presence::kOptional, bandwidth.relativeError);
  reader.ignore({"lib", "src", "kind", "date"});
  reader.finish();
  return fit;
}

} // namespace

Expected<Topology> parseTopology(std::string_view json) {
  HR_ASSIGN_OR_RETURN(nlohmann::json document, parseJson(json));
  ReadFailure failure;
  JsonReader root(document, "$", failure);
  Topology topology;
  std::string schema = root.text("schema", Presence::kRequired);
  if (root.ok() && schema != kSchema) {
    root.fail("unsupported schema: expected ", kSchema, ", got ", schema);
  }
  std::string units = root.text("units", Presence::kOptional, "SI");
  if (root.ok() && units != "SI" && !units.starts_with("SI ")) {
    root.fail("unknown units: expected SI (bytes, seconds, bytes per second), got ", units);
  }
  topology.name = root.text("name", Presence::kRequired);
  Defaults defaults;
  root.child("defaults", Presence::kOptional, [&](JsonReader &reader) {
    defaults.relativeError = readNotNegative(reader, "rel_err", Presence::kOptional, 0.15);
    reader.ignore({"kind"});
    reader.finish();
  });
  root.members("device_types", Presence::kRequired,
               [&](const std::string &name, JsonReader &value) {
                 topology.deviceTypes[name] = readDeviceType(name, value, defaults);
               });
  root.members("node_types", Presence::kRequired, [&](const std::string &name, JsonReader &value) {
    topology.nodeTypes[name] = readNodeType(name, value, defaults);
  });
  root.child("fabric", Presence::kOptional,
             [&](JsonReader &value) { topology.fabric = readFabric(value, defaults); });
  root.elements("instances", Presence::kRequired, [&](JsonReader &value) {
    Instance instance;
    instance.type = value.text("type", Presence::kRequired);
    instance.count = value.integer("count", Presence::kOptional, 1);
    instance.name = value.text("name", Presence::kOptional, instance.type);
    value.finish();
    topology.instances.push_back(std::move(instance));
  });
  root.elements("collectives", Presence::kOptional, [&](JsonReader &value) {
    topology.collectives.push_back(readCollective(value, defaults));
  });
  root.ignore({"sources"});
  root.finish();
  HR_RETURN_IF_ERROR(failure.status);
  HR_RETURN_IF_ERROR(validate(topology));
  topology.hash = ContentHasher().add(document.dump()).key().hex();
  return topology;
}

Expected<Topology> readTopologyFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return makeError(ErrorKind::kUser, "cannot open topology file: ", path);
  }
  std::ostringstream text;
  text << file.rdbuf();
  Expected<Topology> topology = parseTopology(text.str());
  if (!topology.ok()) {
    return topology.status().at(path);
  }
  return topology;
}

} // namespace headrace::topology
