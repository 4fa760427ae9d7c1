// From a machine's parts and rates to device types, resources and routes.
#include "tools/headrace-topo/figures.h"
#include "tools/headrace-topo/gpu_type.h"
#include "tools/headrace-topo/node_structure.h"

#include <algorithm>
#include <cmath>

namespace headrace::topo {
namespace {

using topology::DeviceType;
using topology::Direction;
using topology::Endpoint;
using topology::Hop;
using topology::IndexExpression;
using topology::Origin;
using topology::Quantity;
using topology::Resource;

// Assumed for what nobody measured: a server of the early 2020s.
constexpr double kCoreStream = 8e9;
constexpr double kSocketStream = 4e10;
// Of one that holds GPUs: eight channels, a core for each GPU's copies and more.
constexpr double kServerSocketStream = 2e11;
constexpr int64_t kServerSocketCores = 32;
constexpr double kServerMemory = 5e11;
constexpr double kCoreRandom = 1.2e9;
constexpr double kHandOver = 1e-5;
constexpr double kTaskLaunch = 5e-6;
constexpr double kPcieBytes = 3.2e10; // generation 4, 16 lanes
constexpr double kPcieLatency = 1.5e-6;
constexpr double kNetworkLatency = 1.8e-5;
constexpr double kNvlinkLatency = 9e-7;
constexpr double kNvlinkEfficiency = 0.77;
constexpr double kPcieEfficiency = 0.8;
constexpr double kNetworkEfficiency = 0.84;
constexpr double kNetworkBytes = 1.25e9;

/// Bytes per second of one NVLink, each direction, by generation.
double nvlinkBytes(const std::string &architecture) {
  if (architecture == "sm_70" || architecture == "sm_80" || architecture == "sm_90") {
    return 2.5e10;
  }
  return architecture.starts_with("sm_1") ? 5e10 : 2.5e10;
}

class Describer {
public:
  Describer(const NodeStructure &structure, const Rates &rates, const Placement &placement)
      : structure_(structure), rates_(rates), placement_(placement), notes_(structure.notes) {}

  Expected<Description> describe() {
    made_.name = structure_.name.empty() ? "machine" : structure_.name;
    node_.name = "node";
    slots_ = structure_.gpus.empty() ? placement_.ranks : 1;
    addCpu();
    if (!structure_.gpus.empty()) {
      HR_RETURN_IF_ERROR(addGpus());
    }
    addDisks();
    addNetwork();
    made_.nodeTypes[node_.name] = node_;
    made_.placements = {{node_.name, made_.name, placement_.nodes}};
    HR_RETURN_IF_ERROR(topology::expandPlacements(made_));
    HR_RETURN_IF_ERROR(topology::checkTopology(made_));
    made_.hash = topology::topologyHash(made_);
    return Description{made_, notes_};
  }

private:
  void note(const std::string &text) { notes_.push_back(text); }

  /// A part of a rate, if it was measured.
  Quantity measured(const Measured &rate, double fallback, double part = 1) const {
    double value = rate.value * part;
    if (value <= 0) {
      return assumed(fallback);
    }
    // What was measured is good for three digits, not for sixteen.
    double step = std::pow(10, std::floor(std::log10(value)) - 2);
    Quantity quantity(std::round(value / step) * step, rate.relativeError);
    quantity.provenance = rates_.provenance;
    return quantity;
  }

  bool isMeasured() const { return rates_.provenance.origin == Origin::kMeasured; }

  int64_t coreCount() const {
    bool known = structure_.cores > 0;
    return known ? structure_.cores
                 : kServerSocketCores * std::max<int64_t>(1, structure_.numaNodes);
  }

  double machineStream() const {
    double socket = structure_.gpus.empty() ? kSocketStream : kServerSocketStream;
    double guess = std::min(socket * static_cast<double>(structure_.numaNodes),
                            kCoreStream * static_cast<double>(coreCount()));
    return rates_.streamBytesPerSecond > 0 ? rates_.streamBytesPerSecond.value : guess;
  }

  static Hop hop(const std::string &resource, IndexExpression::Base base, int64_t divisor,
                 Direction direction) {
    IndexExpression index;
    index.base = base;
    index.divisor = divisor;
    return {resource, index, direction};
  }

  void addCpu() {
    double slots = static_cast<double>(slots_);
    double cores = static_cast<double>(coreCount()) / slots;
    if (structure_.cores == 0) {
      note("no cores in it: assumed " + std::to_string(coreCount()));
    }
    if (!isMeasured()) {
      note(structure_.memoryBytes > 0 ? "rates of the host's memory and cores: assumed"
                                      : "the host's memory, rates of memory and cores: assumed");
    }
    if (!structure_.gpus.empty() && structure_.numaNodes > 1) {
      note("the memories of " + std::to_string(structure_.numaNodes) +
           " sockets count as one: the link between them is left out");
    }
    DeviceType cpu;
    cpu.name = "cpu";
    cpu.deviceClass = topology::DeviceClass::kCpu;
    cpu.architecture = structure_.architecture;
    cpu.cores = std::max<int64_t>(1, static_cast<int64_t>(cores));
    cpu.numaNodes = std::max<int64_t>(1, structure_.numaNodes);
    for (const auto &[kind, rate] : rates_.coreCompute) {
      cpu.compute[kind] = measured(rate, 0, cores);
    }
    if (cpu.compute.empty()) {
      cpu.compute = {{"f32", assumed(3.2e10 * cores)},
                     {"f64", assumed(1.6e10 * cores)},
                     {"scalar", assumed(1.5e9 * cores)}};
    }
    cpu.computeRelativeError = cpu.compute.begin()->second.relativeError;
    cpu.launchSeconds = measured(rates_.taskLaunchSeconds, kTaskLaunch);
    cpu.space = "host";
    double unknown = structure_.gpus.empty() ? 8e9 : kServerMemory;
    double memory = structure_.memoryBytes > 0 ? structure_.memoryBytes : unknown;
    cpu.totalBytes =
        structure_.memoryBytes > 0 ? Quantity(memory / slots, 0) : assumed(memory / slots);
    cpu.totalBytes.provenance =
        structure_.memoryBytes > 0 ? rates_.provenance : topology::Provenance{};
    cpu.capacityBytes = cpu.totalBytes.value;
    cpu.memoryBandwidth = measured(rates_.streamBytesPerSecond, machineStream() / slots, 1 / slots);
    if (rates_.memoryLatencySeconds > 0) {
      cpu.latencySeconds = measured(rates_.memoryLatencySeconds, 0);
    }
    if (rates_.coreCopyBytesPerSecond > 0) {
      cpu.coreCopyBandwidth = measured(rates_.coreCopyBytesPerSecond, 0);
    }
    for (const auto &[workingSet, rate] : rates_.randomAccess) {
      cpu.randomAccess.push_back({workingSet, measured(rate, 0, 1 / slots)});
    }
    if (cpu.randomAccess.empty()) {
      double stream = machineStream() / slots;
      cpu.randomAccess = {{1e6, assumed(stream)},
                          {6.4e7, assumed(std::min(stream, kCoreRandom * cores))}};
    }
    for (const CodecRates &codec : rates_.codecs) {
      cpu.codecs.push_back(codecOf(codec, slots));
    }
    cpu.caches = structure_.caches;
    cpu.pageBytes = 4096;
    made_.deviceTypes["cpu"] = cpu;
    node_.devices.push_back({"cpu", "cpu", slots_});

    Resource memoryBus;
    memoryBus.name = "dram";
    // Each byte between ranks of CPUs is written once and read once.
    double copies = structure_.gpus.empty() ? 2 : 1;
    memoryBus.bandwidth =
        measured(rates_.streamBytesPerSecond, machineStream() / copies, 1 / copies);
    if (structure_.gpus.empty()) {
      memoryBus.latencySeconds = measured(rates_.handOverSeconds, kHandOver);
    } else if (rates_.memoryLatencySeconds > 0) {
      memoryBus.latencySeconds = measured(rates_.memoryLatencySeconds, 0);
    }
    memoryBus.members = {"cpu"};
    node_.resources.push_back(memoryBus);
    node_.tiers.push_back(
        {topology::Tier::kHost, "cpu", "host", made_.deviceTypes["cpu"].capacityBytes * slots});
    if (structure_.gpus.empty()) {
      Endpoint host{"cpu", "host"};
      node_.routes.push_back({host, host, {Hop{"dram", {}, Direction::kNone}}});
    }
  }

  topology::Codec codecOf(const CodecRates &rates, double slots) const {
    constexpr double kRatioError = 0.5; // other rows are more or less alike
    topology::Codec codec;
    codec.name = rates.name;
    codec.ratio = measured(Measured(rates.ratio, kRatioError), 0);
    codec.compressBytesPerSecond = measured(rates.compressBytesPerSecond, 0, 1 / slots);
    codec.decompressBytesPerSecond = measured(rates.decompressBytesPerSecond, 0, 1 / slots);
    codec.relativeError = kRatioError;
    return codec;
  }

  Status addGpus() {
    const std::vector<Gpu> &gpus = structure_.gpus;
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
      note((gpus.front().model.empty() ? "a GPU that is not known"
                                       : "no figures of a " + gpus.front().model + " are shipped") +
           ": what it computes is assumed, that of a modest one");
    } else if (gpus.front().memoryBytes == 0) {
      note("memory of the GPU: that of " + type.name);
    }
    if (isMeasured() && gpus.front().memoryBytes > 0) {
      type.totalBytes.provenance = rates_.provenance;
    }
    if (rates_.gpu.memoryBytesPerSecond > 0) {
      type.memoryBandwidth = measured(rates_.gpu.memoryBytesPerSecond, 0);
    }
    made_.deviceTypes[type.name] = type;
    gpuCount_ = static_cast<int64_t>(gpus.size());
    node_.devices.push_back({"gpu", type.name, gpuCount_});
    node_.tiers.insert(node_.tiers.begin(), {topology::Tier::kDevice, "gpu", "hbm",
                                             type.capacityBytes * static_cast<double>(gpuCount_)});
    addPcie();
    addHostLink();
    std::vector<Hop> toHost = hostUp_;
    toHost.push_back({"dram", {}, Direction::kNone});
    node_.routes.push_back({kGpuMemory, {"cpu", "host"}, toHost});
    bool switched = structure_.gpuLinks == NodeStructure::GpuLinks::kSwitch;
    std::vector<Hop> ways = switched ? addSwitchedLinks() : overTheHost();
    node_.routes.push_back({kGpuMemory, kGpuMemory, ways});
    if (structure_.gpuLinks == NodeStructure::GpuLinks::kDirect) {
      addDirectLinks();
    }
    return {};
  }

  void addPcie() {
    Resource pcie;
    pcie.name = "pcie";
    pcie.count = gpuCount_;
    pcie.per = {"gpu", 1};
    double bytes = structure_.gpus.front().linkBytesPerSecond;
    pcie.bandwidth =
        bytes > 0 ? datasheet(bytes, kPcieEfficiency) : assumed(kPcieBytes * kPcieEfficiency);
    if (bytes <= 0 && rates_.gpu.toHostBytesPerSecond <= 0) {
      note("PCIe of the GPUs: assumed generation 4 with 16 lanes");
    }
    pcie.latencySeconds = assumed(kPcieLatency);
    if (rates_.gpu.toHostBytesPerSecond > 0) { // of each direction: what both reach
      const Measured &to = rates_.gpu.toHostBytesPerSecond;
      const Measured &from = rates_.gpu.fromHostBytesPerSecond;
      pcie.bandwidth = measured(to.value < from.value ? to : from, 0);
      pcie.latencySeconds = measured(rates_.gpu.hostLatencySeconds, kPcieLatency);
    }
    pcie.fullDuplex = true;
    node_.resources.push_back(pcie);
    gpuUp_ = {hop("pcie", IndexExpression::Base::kSource, 1, Direction::kOut)};
    int64_t group = gpusPerSwitch();
    if (group > 1) {
      Resource uplink = pcie;
      uplink.name = "pcisw";
      uplink.count = (gpuCount_ - 1) / group + 1;
      uplink.per = {"gpu", group};
      uplink.latencySeconds = {};
      uplink.members = {"pcie"};
      node_.resources.push_back(uplink);
      gpuUp_.push_back(hop("pcisw", IndexExpression::Base::kSource, group, Direction::kOut));
    }
  }

  /// How many neighbours share each PCIe switch; 1 if that is not the same for all.
  int64_t gpusPerSwitch() const {
    const std::vector<Gpu> &gpus = structure_.gpus;
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

  /// A link of its own to the CPU carries what goes to the host; PCIe what goes to network cards.
  void addHostLink() {
    hostUp_ = gpuUp_;
    double bytes = structure_.gpus.front().hostLinkBytesPerSecond;
    if (bytes <= 0) {
      return;
    }
    Resource link;
    link.name = "c2c";
    link.count = gpuCount_;
    link.per = {"gpu", 1};
    link.bandwidth = datasheet(bytes, kPcieEfficiency);
    link.latencySeconds = assumed(kPcieLatency);
    link.fullDuplex = true;
    node_.resources.push_back(link);
    hostUp_ = {hop("c2c", IndexExpression::Base::kSource, 1, Direction::kOut)};
  }

  std::vector<Hop> overTheHost() const {
    std::vector<Hop> via = hostUp_;
    via.push_back({"dram", {}, Direction::kNone});
    for (auto up = hostUp_.rbegin(); up != hostUp_.rend(); ++up) {
      Hop down = *up;
      down.direction = Direction::kIn;
      down.index.base = IndexExpression::Base::kTarget;
      via.push_back(down);
    }
    return via;
  }

  Resource nvlink(const std::string &name, int64_t count, int64_t links) const {
    Resource link;
    link.name = name;
    link.count = count;
    link.bandwidth =
        datasheet(static_cast<double>(links) * nvlinkBytes(structure_.gpus.front().architecture),
                  kNvlinkEfficiency);
    link.latencySeconds = assumed(kNvlinkLatency);
    link.fullDuplex = true;
    return link;
  }

  std::vector<Hop> addSwitchedLinks() {
    Resource link = nvlink("nvl", gpuCount_, structure_.gpus.front().nvlinks);
    link.per = {"gpu", 1};
    if (rates_.gpu.peerBytesPerSecond > 0) {
      link.bandwidth = measured(rates_.gpu.peerBytesPerSecond, 0);
      link.latencySeconds = measured(rates_.gpu.peerLatencySeconds, kNvlinkLatency);
    }
    node_.resources.push_back(link);
    Resource crossbar;
    crossbar.name = "nvsw";
    crossbar.bandwidth =
        assumed(link.bandwidth.nominal * static_cast<double>(gpuCount_), kRuleError);
    crossbar.sharing = topology::Sharing::kFatpipe;
    node_.resources.push_back(crossbar);
    node_.domains.push_back({"nvlink", "gpu", "auto"});
    return {hop("nvl", IndexExpression::Base::kSource, 1, Direction::kOut),
            {"nvsw", {}, Direction::kNone},
            hop("nvl", IndexExpression::Base::kTarget, 1, Direction::kIn)};
  }

  /// Each pair has links of its own and a route over them; pairs of as many links are one resource.
  void addDirectLinks() {
    std::map<int64_t, std::vector<GpuLink>> pairs;
    int64_t ofFirstPair = 0; // that was measured
    for (const GpuLink &link : structure_.directLinks) {
      pairs[link.links].push_back(link);
      ofFirstPair = link.first == 0 && link.second == 1 ? link.links : ofFirstPair;
    }
    for (const auto &[links, linked] : pairs) {
      std::string name = pairs.size() == 1 ? "nvl" : "nvl" + std::to_string(links);
      Resource link = nvlink(name, static_cast<int64_t>(linked.size()), links);
      if (ofFirstPair > 0 && rates_.gpu.peerBytesPerSecond > 0) {
        double part = static_cast<double>(links) / static_cast<double>(ofFirstPair);
        link.bandwidth = measured(rates_.gpu.peerBytesPerSecond, 0, part);
        link.latencySeconds = measured(rates_.gpu.peerLatencySeconds, kNvlinkLatency);
      }
      node_.resources.push_back(link);
      for (size_t i = 0; i < linked.size(); ++i) {
        IndexExpression pair;
        pair.constant = static_cast<int64_t>(i);
        Endpoint first = kGpuMemory;
        Endpoint second = kGpuMemory;
        first.index = linked[i].first;
        second.index = linked[i].second;
        node_.routes.push_back({first, second, {{name, pair, Direction::kOut}}});
      }
    }
    if (static_cast<int64_t>(structure_.directLinks.size()) == gpuCount_ * (gpuCount_ - 1) / 2) {
      node_.domains.push_back({"nvlink", "gpu", "auto"});
    }
  }

  void addDisks() {
    if (structure_.disks.empty()) {
      return;
    }
    DeviceType disk;
    disk.name = "disk";
    disk.deviceClass = topology::DeviceClass::kStorage;
    disk.space = "file";
    disk.totalBytes = Quantity(structure_.disks.front().capacityBytes, 0);
    disk.totalBytes.provenance = rates_.provenance;
    disk.capacityBytes = disk.totalBytes.value;
    disk.readBandwidth = measured(rates_.diskReadBytesPerSecond, 1e9);
    disk.writeBandwidth = measured(rates_.diskWriteBytesPerSecond, 5e8);
    disk.latencySeconds = measured(rates_.diskLatencySeconds, 1e-4);
    made_.deviceTypes["disk"] = disk;
    node_.devices.push_back({"ssd", "disk", 1});
    node_.routes.push_back({{"cpu", "host"},
                            {"ssd", "file"},
                            {{"dram", {}, Direction::kNone}, {"ssd", {}, Direction::kWrite}}});
    node_.tiers.push_back({topology::Tier::kFile, "ssd", "file", disk.capacityBytes});
  }

  void addNetwork() {
    const std::vector<NetworkCard> &cards = structure_.networkCards;
    if (cards.empty() && placement_.nodes == 1) {
      return;
    }
    double bytes = 0;
    double latency = kNetworkLatency;
    int64_t unknown = cards.empty() ? 1 : 0;
    for (const NetworkCard &card : cards) {
      unknown += card.bytesPerSecond <= 0 ? 1 : 0;
      bytes += card.bytesPerSecond > 0 ? card.bytesPerSecond : kNetworkBytes;
      latency = card.latencySeconds > 0 ? card.latencySeconds : latency;
    }
    if (cards.empty()) {
      note("no network card in it: one of 1.25 GB/s is assumed");
    } else if (unknown > 0) {
      note("rates of " + std::to_string(unknown) + " of " + std::to_string(cards.size()) +
           " network cards: 1.25 GB/s assumed");
    }
    bool known = unknown == 0;
    bytes = cards.empty() ? kNetworkBytes : bytes;
    int64_t count = std::max<int64_t>(1, static_cast<int64_t>(cards.size()));
    int64_t ranks = gpuCount_ > 0 ? gpuCount_ : slots_;
    // Routes name cards by the rank's index: as many as divide the ranks evenly, each with its
    // part.
    while (ranks % count != 0) {
      --count;
    }
    if (count < static_cast<int64_t>(cards.size())) {
      note(std::to_string(cards.size()) + " network cards for " + std::to_string(ranks) +
           " ranks: taken together as " + std::to_string(count));
    }
    Resource card;
    card.name = "nic";
    card.count = count;
    double each = bytes / static_cast<double>(count);
    card.bandwidth = known ? datasheet(each, kNetworkEfficiency) : assumed(each);
    card.latencySeconds = assumed(latency);
    card.fullDuplex = true;
    const char *group = gpuCount_ > 0 ? "gpu" : "cpu";
    card.per = {group, ranks / count};
    card.rail = count > 1 ? group : "";
    bool direct = gpuCount_ > 0 && structure_.gpus.front().networkDirect == Gpu::Direct::kYes;
    card.ability.directAccess = direct;
    node_.resources.push_back(card);
    std::vector<Hop> via;
    if (gpuCount_ > 0) {
      via = direct ? std::vector<Hop>{gpuUp_.front()} : hostUp_;
    }
    if (!direct) {
      via.push_back({"dram", {}, Direction::kNone});
    }
    via.push_back(hop("nic", IndexExpression::Base::kSource, ranks / count, Direction::kOut));
    node_.routes.push_back({{group, gpuCount_ > 0 ? "hbm" : "host"}, {}, via});
    if (placement_.nodes > 1) {
      topology::Fabric fabric;
      fabric.kind = "switch";
      fabric.rails = count;
      topology::FabricTier tier;
      tier.bandwidth = known ? datasheet(each, 1) : assumed(each);
      tier.latencySeconds = assumed(6e-7);
      fabric.tiers = {tier};
      made_.fabric = fabric;
    }
  }

  inline static const Endpoint kGpuMemory{"gpu", "hbm"};

  const NodeStructure &structure_;
  const Rates &rates_;
  const Placement &placement_;
  std::vector<std::string> notes_;
  topology::Topology made_;
  topology::NodeType node_;
  int64_t slots_ = 1;
  int64_t gpuCount_ = 0;
  std::vector<Hop> gpuUp_;  ///< from a GPU over PCIe to the CPU
  std::vector<Hop> hostUp_; ///< from a GPU to the CPU's memory: likewise, or over its own link
};

} // namespace

Expected<Description> describe(const NodeStructure &structure, const Rates &rates,
                               const Placement &placement) {
  return Describer(structure, rates, placement).describe();
}

} // namespace headrace::topo
