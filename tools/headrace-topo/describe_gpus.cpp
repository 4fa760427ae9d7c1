// GPUs: their type, and the ways to the host and to each other.
#include "tools/headrace-topo/draft.h"
#include "tools/headrace-topo/gpu_type.h"

#include <algorithm>

namespace headrace::topo {
namespace {

using topology::DeviceType;
using topology::Direction;
using topology::Endpoint;
using topology::Hop;
using topology::IndexExpression;
using topology::Resource;

constexpr double kPcieBytes = 3.2e10; // generation 4, 16 lanes
constexpr double kPcieLatency = 1.5e-6;
constexpr double kNvlinkLatency = 9e-7;
constexpr double kNvlinkEfficiency = 0.77;
constexpr double kPcieEfficiency = 0.8;

const Endpoint kGpuMemory{"gpu", "hbm"};

/// Bytes per second of one NVLink, each direction, by generation.
double nvlinkBytes(const std::string &architecture) {
  if (architecture == "sm_70" || architecture == "sm_80" || architecture == "sm_90") {
    return 2.5e10;
  }
  return architecture.starts_with("sm_1") ? 5e10 : 2.5e10;
}

/// How many neighbours share each PCIe switch; 1 if that is not the same for all.
int64_t gpusPerSwitch(const NodeStructure &structure) {
  const std::vector<Gpu> &gpus = structure.gpus;
  int64_t first = std::count_if(gpus.begin(), gpus.end(), [&](const Gpu &gpu) {
    return gpu.pcieSwitch >= 0 && gpu.pcieSwitch == gpus.front().pcieSwitch;
  });
  if (first < 2) {
    return 1;
  }
  for (size_t i = 0; i < gpus.size(); ++i) {
    size_t leader = i - i % static_cast<size_t>(first);
    bool begins = i == leader;
    bool same = gpus[i].pcieSwitch == gpus[leader].pcieSwitch;
    bool changes = i == 0 || gpus[i].pcieSwitch != gpus[i - 1].pcieSwitch;
    if (!same || (begins && !changes)) {
      return 1;
    }
  }
  return first;
}

void addPcie(Draft &draft) {
  Resource pcie;
  pcie.name = "pcie";
  pcie.count = draft.gpuCount();
  pcie.per = {"gpu", 1};
  double bytes = draft.structure.gpus.front().linkBytesPerSecond;
  pcie.bandwidth =
      bytes > 0 ? datasheet(bytes, kPcieEfficiency) : assumed(kPcieBytes * kPcieEfficiency);
  if (bytes <= 0 && draft.rates.gpu.toHostBytesPerSecond <= 0) {
    draft.notes.push_back("PCIe of the GPUs: assumed generation 4 with 16 lanes");
  }
  pcie.latencySeconds = assumed(kPcieLatency);
  if (draft.rates.gpu.toHostBytesPerSecond > 0) { // of each direction: what both reach
    const Measured &to = draft.rates.gpu.toHostBytesPerSecond;
    const Measured &from = draft.rates.gpu.fromHostBytesPerSecond;
    pcie.bandwidth = draft.measured(to.value < from.value ? to : from, 0);
    pcie.latencySeconds = draft.measured(draft.rates.gpu.hostLatencySeconds, kPcieLatency);
  }
  pcie.fullDuplex = true;
  draft.node.resources.push_back(pcie);
  draft.gpuUp = {hop("pcie", IndexExpression::Base::kSource, 1, Direction::kOut)};
  int64_t group = gpusPerSwitch(draft.structure);
  if (group > 1) {
    Resource uplink = pcie;
    uplink.name = "pcisw";
    uplink.count = (draft.gpuCount() - 1) / group + 1;
    uplink.per = {"gpu", group};
    uplink.latencySeconds = {};
    uplink.members = {"pcie"};
    draft.node.resources.push_back(uplink);
    draft.gpuUp.push_back(hop("pcisw", IndexExpression::Base::kSource, group, Direction::kOut));
  }
}

/// A link of its own to the CPU carries what goes to the host; PCIe what goes to network cards.
void addHostLink(Draft &draft) {
  draft.hostUp = draft.gpuUp;
  double bytes = draft.structure.gpus.front().hostLinkBytesPerSecond;
  if (bytes <= 0) {
    return;
  }
  Resource link;
  link.name = "c2c";
  link.count = draft.gpuCount();
  link.per = {"gpu", 1};
  link.bandwidth = datasheet(bytes, kPcieEfficiency);
  link.latencySeconds = assumed(kPcieLatency);
  link.fullDuplex = true;
  draft.node.resources.push_back(link);
  draft.hostUp = {hop("c2c", IndexExpression::Base::kSource, 1, Direction::kOut)};
}

Hop hostMemory(const Draft &draft) {
  return memoryHop(draft, IndexExpression::Base::kSource, draft.sockets.gpusEach);
}

bool gpusOnSeveralSockets(const Draft &draft) {
  return draft.sockets.several() && draft.gpuCount() > draft.sockets.gpusEach;
}

/// Through the memory of the host; and of two sockets, where GPUs are on several.
std::vector<Hop> overTheHost(const Draft &draft) {
  std::vector<Hop> via = draft.hostUp;
  std::vector<Hop> memories = gpusOnSeveralSockets(draft)
                                  ? betweenMemories(draft, draft.sockets.gpusEach)
                                  : std::vector<Hop>{hostMemory(draft)};
  via.insert(via.end(), memories.begin(), memories.end());
  for (auto up = draft.hostUp.rbegin(); up != draft.hostUp.rend(); ++up) {
    Hop down = *up;
    down.direction = Direction::kIn;
    down.index.base = IndexExpression::Base::kTarget;
    via.push_back(down);
  }
  return via;
}

/// The same for two of one socket, whose indexes are known.
std::vector<Hop> overOneSocket(const Draft &draft, int64_t source, int64_t target) {
  std::vector<Hop> via;
  auto add = [&](const Hop &hop, int64_t device, Direction direction) {
    IndexExpression index;
    index.constant = device / hop.index.divisor;
    via.push_back({hop.resource, index, direction});
  };
  for (const Hop &up : draft.hostUp) {
    add(up, source, Direction::kOut);
  }
  add(hostMemory(draft), source, Direction::kNone);
  for (auto up = draft.hostUp.rbegin(); up != draft.hostUp.rend(); ++up) {
    add(*up, target, Direction::kIn);
  }
  return via;
}

/// Pairs on one socket need not go over the link to another, and those with NVLinks not over the
/// host.
void addRoutesWithinSockets(Draft &draft) {
  const std::vector<GpuLink> &direct = draft.structure.directLinks;
  int64_t each = draft.sockets.gpusEach;
  for (int64_t source = 0; source < draft.gpuCount(); ++source) {
    int64_t end = std::min(draft.gpuCount(), (source / each + 1) * each);
    for (int64_t target = source + 1; target < end; ++target) {
      bool linked = std::any_of(direct.begin(), direct.end(), [&](const GpuLink &link) {
        return link.first == source && link.second == target;
      });
      if (!linked) {
        Endpoint first = kGpuMemory;
        Endpoint second = kGpuMemory;
        first.index = source;
        second.index = target;
        draft.node.routes.push_back({first, second, overOneSocket(draft, source, target)});
      }
    }
  }
}

Resource nvlink(const Draft &draft, const std::string &name, int64_t count, int64_t links) {
  Resource link;
  link.name = name;
  link.count = count;
  link.bandwidth =
      datasheet(static_cast<double>(links) * nvlinkBytes(draft.structure.gpus.front().architecture),
                kNvlinkEfficiency);
  link.latencySeconds = assumed(kNvlinkLatency);
  link.fullDuplex = true;
  return link;
}

std::vector<Hop> addSwitchedLinks(Draft &draft) {
  Resource link = nvlink(draft, "nvl", draft.gpuCount(), draft.structure.gpus.front().nvlinks);
  link.per = {"gpu", 1};
  if (draft.rates.gpu.peerBytesPerSecond > 0) {
    link.bandwidth = draft.measured(draft.rates.gpu.peerBytesPerSecond, 0);
    link.latencySeconds = draft.measured(draft.rates.gpu.peerLatencySeconds, kNvlinkLatency);
  }
  draft.node.resources.push_back(link);
  Resource crossbar;
  crossbar.name = "nvsw";
  crossbar.bandwidth =
      assumed(link.bandwidth.nominal * static_cast<double>(draft.gpuCount()), kRuleError);
  crossbar.sharing = topology::Sharing::kFatpipe;
  draft.node.resources.push_back(crossbar);
  draft.node.domains.push_back({"nvlink", "gpu", "auto"});
  return {hop("nvl", IndexExpression::Base::kSource, 1, Direction::kOut),
          {"nvsw", {}, Direction::kNone},
          hop("nvl", IndexExpression::Base::kTarget, 1, Direction::kIn)};
}

/// Each pair has links of its own and a route over them; pairs of as many links are one resource.
void addDirectLinks(Draft &draft) {
  std::map<int64_t, std::vector<GpuLink>> pairs;
  int64_t ofFirstPair = 0; // that was measured
  for (const GpuLink &link : draft.structure.directLinks) {
    pairs[link.links].push_back(link);
    ofFirstPair = link.first == 0 && link.second == 1 ? link.links : ofFirstPair;
  }
  for (const auto &[links, linked] : pairs) {
    std::string name = pairs.size() == 1 ? "nvl" : "nvl" + std::to_string(links);
    Resource link = nvlink(draft, name, static_cast<int64_t>(linked.size()), links);
    if (ofFirstPair > 0 && draft.rates.gpu.peerBytesPerSecond > 0) {
      double part = static_cast<double>(links) / static_cast<double>(ofFirstPair);
      link.bandwidth = draft.measured(draft.rates.gpu.peerBytesPerSecond, 0, part);
      link.latencySeconds = draft.measured(draft.rates.gpu.peerLatencySeconds, kNvlinkLatency);
    }
    draft.node.resources.push_back(link);
    for (size_t i = 0; i < linked.size(); ++i) {
      IndexExpression pair;
      pair.constant = static_cast<int64_t>(i);
      Endpoint first = kGpuMemory;
      Endpoint second = kGpuMemory;
      first.index = linked[i].first;
      second.index = linked[i].second;
      draft.node.routes.push_back({first, second, {{name, pair, Direction::kOut}}});
    }
  }
  if (static_cast<int64_t>(draft.structure.directLinks.size()) ==
      draft.gpuCount() * (draft.gpuCount() - 1) / 2) {
    draft.node.domains.push_back({"nvlink", "gpu", "auto"});
  }
}

} // namespace

Status addGpus(Draft &draft) {
  const std::vector<Gpu> &gpus = draft.structure.gpus;
  if (gpus.empty()) {
    return {};
  }
  for (const Gpu &gpu : gpus) {
    if (gpu.model != gpus.front().model) {
      return makeError(ErrorKind::kUnsupported,
                       "GPUs of several models in one node are not supported: ",
                       gpus.front().model.empty() ? "unknown" : gpus.front().model, " and ",
                       gpu.model.empty() ? "unknown" : gpu.model);
    }
  }
  DeviceType type = gpuType(gpus.front());
  if (type.name == "gpu") {
    draft.notes.push_back((gpus.front().model.empty()
                               ? "a GPU that is not known"
                               : "no figures of a " + gpus.front().model + " are shipped") +
                          ": what it computes is assumed, that of a modest one");
  } else if (gpus.front().memoryBytes == 0) {
    draft.notes.push_back("memory of the GPU: that of " + type.name);
  }
  if (draft.isMeasured() && gpus.front().memoryBytes > 0) {
    type.totalBytes.provenance = draft.rates.provenance;
  }
  if (draft.rates.gpu.memoryBytesPerSecond > 0) {
    type.memoryBandwidth = draft.measured(draft.rates.gpu.memoryBytesPerSecond, 0);
  }
  draft.topology.deviceTypes[type.name] = type;
  draft.node.devices.push_back({"gpu", type.name, draft.gpuCount()});
  draft.node.tiers.insert(draft.node.tiers.begin(),
                          {topology::Tier::kDevice, "gpu", "hbm",
                           type.capacityBytes * static_cast<double>(draft.gpuCount())});
  addPcie(draft);
  addHostLink(draft);
  std::vector<Hop> toHost = draft.hostUp;
  toHost.push_back(hostMemory(draft));
  draft.node.routes.push_back({kGpuMemory, {"cpu", "host"}, toHost});
  bool switched = draft.structure.gpuLinks == NodeStructure::GpuLinks::kSwitch;
  std::vector<Hop> ways = switched ? addSwitchedLinks(draft) : overTheHost(draft);
  draft.node.routes.push_back({kGpuMemory, kGpuMemory, ways});
  if (!switched && gpusOnSeveralSockets(draft)) {
    addRoutesWithinSockets(draft);
  }
  if (draft.structure.gpuLinks == NodeStructure::GpuLinks::kDirect) {
    addDirectLinks(draft);
  }
  return {};
}

} // namespace headrace::topo
