// Writes a topology as the file that reads back the same: the canonical text, whose hash names it.
#include "model/topology/pretty_json.h"
#include "model/topology/route_text.h"
#include "model/topology/topology.h"
#include "runtime/base/content_hash.h"

#include <algorithm>
#include <array>

namespace headrace::topology {
namespace {

using Json = nlohmann::ordered_json;

// What holds for figures that say nothing, in a file without `defaults`.
constexpr double kUnsaidError = 0.15;
constexpr const char *kSaying[] = {"kind", "src", "date"};

/// Says everything; what most figures say is moved to `defaults` in the end.
void putProvenance(Json &object, const Provenance &provenance, double relativeError) {
  object["rel_err"] = relativeError;
  object["kind"] = originName(provenance.origin);
  object["src"] = provenance.source;
  object["date"] = provenance.date;
}

Json figure(const Quantity &quantity) {
  Json object;
  // A value that was set by itself goes before what it was read from.
  bool derived = quantity.nominal * quantity.efficiency == quantity.value;
  object["v"] = derived ? quantity.nominal : quantity.value;
  if (derived && quantity.efficiency != 1) {
    object["eff"] = quantity.efficiency;
  }
  putProvenance(object, quantity.provenance, quantity.relativeError);
  return object;
}

/// Leaves out what is 0, which means unknown or none.
void put(Json &object, const char *key, const Quantity &quantity) {
  if (quantity.value != 0) {
    object[key] = figure(quantity);
  }
}

void putText(Json &object, const char *key, const std::string &text, const char *unsaid = "") {
  if (text != unsaid) {
    object[key] = text;
  }
}

void putCount(Json &object, const char *key, int64_t count, int64_t unsaid) {
  if (count != unsaid) {
    object[key] = count;
  }
}

void putFlag(Json &object, const char *key, bool value) {
  if (value) {
    object[key] = true;
  }
}

void putCapacity(Json &object, const DeviceType &type) {
  bool stated = type.totalBytes.value - type.reservedBytes.value == type.capacityBytes;
  object["capacity"] = stated ? figure(type.totalBytes) : Json(type.capacityBytes);
  if (stated) {
    put(object, "reserved", type.reservedBytes);
  }
}

Json memoryJson(const DeviceType &type) {
  Json memory;
  memory["space"] = type.space;
  putCapacity(memory, type);
  memory["bw"] = figure(type.memoryBandwidth);
  put(memory, "alpha", type.latencySeconds);
  for (const RandomAccessPoint &point : type.randomAccess) {
    memory["random_gather"].push_back({point.workingSetBytes, figure(point.bytesPerSecond)});
  }
  for (const Cache &cache : type.caches) {
    Json entry;
    entry["level"] = cache.level;
    entry["capacity"] = cache.capacityBytes;
    put(entry, "bw", cache.bandwidth);
    putCount(entry, "sharers", cache.sharers, 1);
    memory["caches"].push_back(std::move(entry));
  }
  put(memory, "pinned_max", type.pinnedBytesMax);
  put(memory, "pin_cost", type.pinSecondsPerByte);
  put(memory, "copy_core", type.coreCopyBandwidth);
  putCount(memory, "page", static_cast<int64_t>(type.pageBytes), 0);
  putCount(memory, "sat_cores", type.saturatingCores, 0);
  return memory;
}

Json codecJson(const Codec &codec) {
  Json object;
  object["ratio"] = figure(codec.ratio);
  object["enc"] = figure(codec.compressBytesPerSecond);
  object["dec"] = figure(codec.decompressBytesPerSecond);
  return object;
}

void putStorage(Json &object, const DeviceType &type) {
  object["space"] = type.space;
  putCapacity(object, type);
  Json &read = object["read"];
  read["bw"] = figure(type.readBandwidth);
  put(read, "alpha", type.latencySeconds);
  putCount(read, "qd", type.readQueueDepth, 0);
  Json &write = object["write"];
  write["bw"] = figure(type.writeBandwidth);
  put(write, "alpha", type.writeLatencySeconds);
  putCount(write, "qd", type.writeQueueDepth, 0);
  putFlag(object, "gds", type.directAccess == DeviceType::DirectAccess::kYes);
}

void putProcessor(Json &object, const DeviceType &type) {
  putCount(object, type.deviceClass == DeviceClass::kGpu ? "sms" : "cores", type.cores, 1);
  putCount(object, "numa", type.numaNodes, 1);
  for (const auto &[kind, rate] : type.compute) {
    object["compute"][kind] = figure(rate);
  }
  Json launch;
  put(launch, "kernel", type.launchSeconds);
  put(launch, "graph_node", type.graphLaunchSeconds);
  put(launch, "sync", type.synchronizeSeconds);
  if (!launch.empty()) {
    object["launch"] = std::move(launch);
  }
  object["mem"] = memoryJson(type);
  if (!type.workSeconds.empty()) {
    Json &work = object["work"] = type.workSeconds;
    work["relative_error"] = type.workRelativeError;
  }
  Json engines;
  putCount(engines, "copy", type.copyEngines, 0);
  putCount(engines, "comm_sms_max", type.communicationCoresMax, 0);
  if (!engines.empty()) {
    object["engines"] = std::move(engines);
  }
}

Json deviceJson(const DeviceType &type) {
  Json object;
  object["class"] = deviceClassName(type.deviceClass);
  putText(object, "arch", type.architecture);
  if (type.deviceClass == DeviceClass::kStorage) {
    putStorage(object, type);
  } else {
    putProcessor(object, type);
  }
  for (const Codec &codec : type.codecs) {
    object["codecs"][codec.name] = codecJson(codec);
  }
  put(object, "mtbf", type.meanTimeBetweenFailures);
  return object;
}

Json resourceJson(const Resource &resource) {
  Json object;
  putCount(object, "count", resource.count, 1);
  if (!resource.per.group.empty()) {
    int64_t divisor = resource.per.divisor;
    object["per"] = resource.per.group + (divisor == 1 ? "" : "/" + std::to_string(divisor));
  }
  object["bw"] = figure(resource.bandwidth);
  put(object, "alpha", resource.latencySeconds);
  putText(object, "sharing", resource.sharing == Sharing::kFatpipe ? "fatpipe" : "");
  putText(object, "duplex", resource.fullDuplex ? "full" : "");
  put(object, "bidir_total", resource.bothDirectionsMax);
  putText(object, "rail", resource.rail);
  put(object, "post", resource.postSeconds);
  for (const auto &[engine, part] : resource.byEngine) {
    object["by_engine"][engine] = figure(part);
  }
  if (resource.pageableFraction.value > 0) {
    object["pageable"]["factor"] = figure(resource.pageableFraction);
    putText(object["pageable"], "bound_by", resource.pageableBoundBy);
  }
  for (const std::string &member : resource.members) {
    object["members"].push_back(member);
  }
  putFlag(object, "multicast", resource.ability.multicast);
  putFlag(object, "reduce", resource.ability.reduce);
  putFlag(object, "gdr", resource.ability.directAccess);
  putFlag(object, "limiter", resource.ability.limiter);
  return object;
}

Json routeJson(const Route &route) {
  Json object;
  object["from"] = endpointText(route.source, "i");
  object["to"] = endpointText(route.target, "j");
  object["via"] = Json::array();
  for (const Hop &hop : route.via) {
    object["via"].push_back(hopText(hop));
  }
  putText(object, "needs", route.needs);
  return object;
}

Json nodeJson(const Topology &topology, const NodeType &node) {
  Json object;
  object["devices"] = Json::object();
  for (const DeviceGroup &group : node.devices) {
    object["devices"][group.name] = {group.type, group.count};
  }
  for (const Resource &resource : node.resources) {
    object["resources"][resource.name] = resourceJson(resource);
  }
  for (const Route &route : node.routes) {
    object["routes"].push_back(routeJson(route));
  }
  for (const MemoryTier &tier : node.tiers) {
    Json entry;
    entry["tier"] = tierName(tier.tier);
    entry["of"] = tier.group;
    const DeviceGroup *group = node.findGroup(tier.group);
    double whole =
        topology.deviceTypes.at(group->type).capacityBytes * static_cast<double>(group->count);
    if (tier.capacityBytes != whole) {
      entry["capacity"] = tier.capacityBytes;
    }
    object["tiers"].push_back(std::move(entry));
  }
  for (const Domain &domain : node.domains) {
    Json entry;
    entry["members"] = domain.group + "[*]";
    putText(entry, "clique", domain.clique, "auto");
    object["domains"][domain.name] = std::move(entry);
  }
  put(object, "mtbf", node.meanTimeBetweenFailures);
  return object;
}

Json groupJson(const Group &group) {
  Json object;
  for (const Member &member : group.members) {
    object["members"].push_back({member.type, member.count});
  }
  if (group.failureDomain) {
    object["failure_domain"] = failureLevelName(*group.failureDomain);
  }
  put(object, "mtbf", group.meanTimeBetweenFailures);
  return object;
}

Json fabricJson(const Fabric &fabric) {
  Json object;
  object["kind"] = fabric.kind;
  putCount(object, "rails", fabric.rails, 1);
  for (const FabricTier &tier : fabric.tiers) {
    Json entry;
    putCount(entry, "radix", tier.radix, 0);
    entry["bw"] = figure(tier.bandwidth);
    put(entry, "alpha", tier.latencySeconds);
    if (tier.oversubscription != 1) {
      entry["oversub"] = tier.oversubscription;
    }
    object["tiers"].push_back(std::move(entry));
  }
  object["ecmp_eff"] = figure(fabric.efficiency);
  return object;
}

Json collectiveJson(const CollectiveFit &fit) {
  Json object;
  object["level"] = !fit.domain.empty()            ? fit.domain
                    : fit.level == Level::kNetwork ? "net"
                                                   : "node";
  object["op"] = collectiveName(fit.kind);
  putText(object, "algo", fit.algorithm, "direct");
  putText(object, "lib", fit.library);
  putCount(object, "n", fit.members, 0);
  auto term = [&](const char *key, double value) {
    if (value != 0) {
      object[key] = value;
    }
  };
  term("a0", fit.baseSeconds);
  term("a_step", fit.perStepSeconds);
  term("a_rank", fit.perRankSeconds);
  term("a_peer", fit.perPeerSeconds);
  term("a_log2nodes", fit.perLog2NodeSeconds);
  term("g_sqrt", fit.sqrtTerm);
  term("g_sqrt_step", fit.sqrtStepTerm);
  term("message_min", fit.messageBytesMin);
  term("message_below", fit.messageBytesBelow);
  object[fit.sent == SentBytes::kWhole  ? "B_alg"
         : fit.sent == SentBytes::kTree ? "B_tree"
                                        : "B"] = fit.bandwidth;
  putProvenance(object, fit.provenance, fit.relativeError);
  return object;
}

Json sourcesJson(const Topology &topology) {
  Json sources;
  for (const auto &[name, source] : topology.sources) {
    Json entry;
    entry["ref"] = source.reference;
    putText(entry, "date", source.date);
    putText(entry, "license", source.license);
    sources[name] = std::move(entry);
  }
  return sources;
}

/// Figures, and collectives, which have one error and origin each.
template <typename Visit> void visitFigures(Json &value, const Visit &visit) {
  if (value.is_object() && value.contains("rel_err")) {
    visit(value);
  }
  if (value.is_structured()) {
    for (Json &inner : value) {
      visitFigures(inner, visit);
    }
  }
}

/// What most figures say, as (rel_err, kind, src, date).
Json usualSaying(Json &document) {
  std::map<double, int64_t> errors;
  std::map<std::array<std::string, 3>, int64_t> origins;
  visitFigures(document, [&](Json &figure) {
    ++errors[figure["rel_err"].get<double>()];
    ++origins[{figure["kind"].get<std::string>(), figure["src"].get<std::string>(),
               figure["date"].get<std::string>()}];
  });
  auto fewer = [](const auto &left, const auto &right) { return left.second < right.second; };
  Json usual = {{"rel_err", kUnsaidError}, {"kind", "assumed"}, {"src", ""}, {"date", ""}};
  if (!errors.empty()) {
    usual["rel_err"] = std::max_element(errors.begin(), errors.end(), fewer)->first;
    auto most = std::max_element(origins.begin(), origins.end(), fewer);
    for (size_t i = 0; i < most->first.size(); ++i) {
      usual[kSaying[i]] = most->first[i];
    }
  }
  return usual;
}

/// Leaves out of every figure what is usual, and makes plain numbers of those with nothing left.
Json factorDefaults(Json &document) {
  Json usual = usualSaying(document);
  visitFigures(document, [&](Json &figure) {
    for (const auto &[key, value] : usual.items()) {
      if (figure[key] == value) {
        figure.erase(key);
      }
    }
    if (figure.size() == 1 && figure.contains("v")) {
      Json plain = figure["v"];
      figure = std::move(plain);
    }
  });
  const Json unsaid = {{"rel_err", kUnsaidError}, {"kind", "assumed"}, {"src", ""}, {"date", ""}};
  for (const auto &[key, value] : unsaid.items()) {
    if (usual[key] == value) {
      usual.erase(key);
    }
  }
  return usual;
}

Json topologyJson(const Topology &topology, FigureText figures) {
  Json body;
  body["device_types"] = Json::object();
  for (const auto &[name, type] : topology.deviceTypes) {
    body["device_types"][name] = deviceJson(type);
  }
  body["node_types"] = Json::object();
  for (const auto &[name, node] : topology.nodeTypes) {
    body["node_types"][name] = nodeJson(topology, node);
  }
  for (const auto &[name, group] : topology.groups) {
    body["groups"][name] = groupJson(group);
  }
  if (topology.fabric) {
    body["fabric"] = fabricJson(*topology.fabric);
  }
  for (const Instance &instance :
       topology.placements.empty() ? topology.instances : topology.placements) {
    Json entry;
    entry["type"] = instance.type;
    putText(entry, "name", instance.name, instance.type.c_str());
    putCount(entry, "count", instance.count, 1);
    body["instances"].push_back(std::move(entry));
  }
  for (const CollectiveFit &fit : topology.collectives) {
    body["collectives"].push_back(collectiveJson(fit));
  }
  Json defaults = figures == FigureText::kShort ? factorDefaults(body) : Json::object();

  Json document;
  document["schema"] = "topology/1";
  document["name"] = topology.name;
  document["units"] = "SI (bytes, seconds, bytes/s, flop/s)";
  if (!defaults.empty()) {
    document["defaults"] = std::move(defaults);
  }
  if (!topology.sources.empty()) {
    document["sources"] = sourcesJson(topology);
  }
  document.update(body);
  return document;
}

} // namespace

std::string formatTopology(const Topology &topology, FigureText figures) {
  return prettyJson(topologyJson(topology, figures));
}

std::string topologyHash(const Topology &topology) {
  return ContentHasher().add(topologyJson(topology, FigureText::kShort).dump()).key().hex();
}

} // namespace headrace::topology
