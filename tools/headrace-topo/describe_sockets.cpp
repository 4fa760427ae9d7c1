// CPU sockets: which devices are on which, and the link between them.
#include "tools/headrace-topo/draft.h"

#include <algorithm>
#include <cstdio>

namespace headrace::topo {
namespace {

using topology::Direction;
using topology::Endpoint;
using topology::Hop;
using topology::IndexExpression;
using topology::Resource;

// More than the way to the own socket's memory, where firmware does not tell.
constexpr double kLinkLatency = 1e-7;
// To the own socket's memory, where it was not measured.
constexpr double kMemoryLatency = 1e-7;
constexpr double kLinkBytes = 2e10;
// Of CPU devices on one socket each pair is a route.
constexpr int64_t kPairsMax = 1024;

struct KnownLink {
  const char *vendor;
  int64_t modelMin; ///< of family 6, if the vendor is Intel; otherwise of any
  double bytesPerSecond;
};
// What NCCL takes between CPUs of these kinds (src/graph/topo.h), the latest first.
constexpr KnownLink kKnownLinks[] = {{"GenuineIntel", 0xcf, 4e10},
                                     {"GenuineIntel", 0x8f, 2.2e10},
                                     {"GenuineIntel", 0x55, 1e10},
                                     {"AuthenticAMD", 0, 1.6e10}};

/// 0 if it is not among those.
double knownBytes(const CpuModel &cpu) {
  for (const KnownLink &known : kKnownLinks) {
    bool intel = cpu.vendor == "GenuineIntel";
    if (cpu.vendor == known.vendor && (!intel || cpu.family == 6) && cpu.model >= known.modelMin) {
      return known.bytesPerSecond;
    }
  }
  return 0;
}

/// GPUs of the first socket, if the next ones have as many, in order, until there are no more; else
/// 0.
int64_t gpusOfSocket(const NodeStructure &structure) {
  const std::vector<Gpu> &gpus = structure.gpus;
  int64_t each =
      std::count_if(gpus.begin(), gpus.end(), [](const Gpu &gpu) { return gpu.socket == 0; });
  for (size_t i = 0; each > 0 && i < gpus.size(); ++i) {
    int64_t expected = static_cast<int64_t>(i) / each;
    if (gpus[i].socket != expected || expected >= structure.sockets) {
      return 0;
    }
  }
  return each;
}

topology::Quantity linkBandwidth(Draft &draft) {
  const NodeStructure &structure = draft.structure;
  auto say = [&](double bytes, const char *why) {
    char text[96];
    std::snprintf(text, sizeof text, "the link between sockets: %.3g GB/s, %s", bytes / 1e9, why);
    draft.notes.push_back(text);
  };
  if (double bytes = structure.socketLink.bytesPerSecond; bytes > 0) {
    say(bytes, "as the firmware tells");
    return datasheet(bytes, 1);
  }
  if (double bytes = knownBytes(structure.cpu); bytes > 0) {
    say(bytes, "assumed, as NCCL does for such CPUs");
    draft.topology.sources["nccl"] = {"NVIDIA/nccl@5067397c src/graph/topo.h: between CPUs",
                                      "2026-06", "Apache-2.0"};
    topology::Quantity quantity = assumed(bytes);
    quantity.provenance.source = "nccl";
    return quantity;
  }
  say(kLinkBytes, "assumed");
  return assumed(kLinkBytes);
}

topology::Quantity linkLatency(const Draft &draft) {
  double own = draft.rates.memoryLatencySeconds > 0 ? draft.rates.memoryLatencySeconds.value
                                                    : kMemoryLatency;
  double ratio = draft.structure.socketLink.latencyRatio;
  double whole = ratio > 1 ? (ratio - 1) * own : kLinkLatency;
  return assumed(whole / 2); // a route passes the link's two ends
}

} // namespace

void divideSockets(Draft &draft) {
  const NodeStructure &structure = draft.structure;
  bool gpus = !structure.gpus.empty();
  int64_t ranks = draft.placement.ranks;
  draft.slots = gpus ? 1 : ranks;
  if (structure.sockets < 2 || (!gpus && ranks == 1)) {
    return;
  }
  std::string asOne =
      "the memories of " + std::to_string(structure.sockets) + " sockets count as one: ";
  int64_t each = gpus ? gpusOfSocket(structure) : ranks / structure.sockets;
  if (gpus && each == 0) {
    draft.notes.push_back(asOne + "GPUs are not divided evenly among them, in order");
    return;
  }
  if (!gpus && ranks % structure.sockets != 0) {
    draft.notes.push_back(asOne + std::to_string(ranks) + " ranks are not divided evenly");
    return;
  }
  if (!gpus && ranks * (each - 1) / 2 > kPairsMax) {
    draft.notes.push_back(asOne + std::to_string(ranks) +
                          " ranks are too many for routes of pairs");
    return;
  }
  draft.slots = gpus ? structure.sockets : ranks;
  draft.sockets = {structure.sockets, draft.slots / structure.sockets, gpus ? each : 1};
}

Hop memoryHop(const Draft &draft, IndexExpression::Base base, int64_t devicesEach) {
  return draft.sockets.several() ? hop("dram", base, devicesEach, Direction::kNone)
                                 : Hop{"dram", {}, Direction::kNone};
}

std::vector<Hop> betweenMemories(const Draft &draft, int64_t devicesEach) {
  constexpr auto kSource = IndexExpression::Base::kSource;
  constexpr auto kTarget = IndexExpression::Base::kTarget;
  return {
      memoryHop(draft, kSource, devicesEach), hop("socket", kSource, devicesEach, Direction::kOut),
      hop("socket", kTarget, devicesEach, Direction::kIn), memoryHop(draft, kTarget, devicesEach)};
}

void addSocketLink(Draft &draft) {
  int64_t each = draft.sockets.slotsEach;
  Resource link;
  link.name = "socket";
  link.count = draft.sockets.count;
  link.per = {"cpu", each};
  link.bandwidth = linkBandwidth(draft);
  link.latencySeconds = linkLatency(draft);
  link.fullDuplex = true;
  draft.node.resources.push_back(link);
  Endpoint host{"cpu", "host"};
  draft.node.routes.push_back({host, host, betweenMemories(draft, each)});
  for (int64_t source = 0; source < draft.slots; ++source) {
    for (int64_t target = source + 1; target < (source / each + 1) * each; ++target) {
      Endpoint first = host;
      Endpoint second = host;
      first.index = source;
      second.index = target;
      IndexExpression socket;
      socket.constant = source / each;
      draft.node.routes.push_back({first, second, {{"dram", socket, Direction::kNone}}});
    }
  }
}

} // namespace headrace::topo
