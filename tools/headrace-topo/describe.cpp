// From a machine's parts and rates to device types, resources and routes.
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
constexpr double kServerMemory = 5e11; // of one that holds GPUs
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
constexpr double kAssumedError = 0.5;
// What people derive from datasheets by rules for like systems.
constexpr double kRuleError = 0.2;

/// Bytes per second of one NVLink, each direction, by generation.
double nvlinkBytes(const std::string &architecture) {
  if (architecture == "sm_70" || architecture == "sm_80" || architecture == "sm_90") {
    return 2.5e10;
  }
  return architecture.starts_with("sm_1") ? 5e10 : 2.5e10;
}

Quantity assumed(double value, double relativeError = kAssumedError) {
  Quantity quantity(value, relativeError);
  quantity.provenance.origin = Origin::kAssumed;
  return quantity;
}

Quantity datasheet(double nominal, double efficiency) {
  Quantity quantity(nominal, kRuleError);
  quantity.efficiency = efficiency;
  quantity.value = nominal * efficiency;
  quantity.provenance.origin = Origin::kDatasheet;
  return quantity;
}

class Describer {
public:
  Describer(const NodeStructure &structure, const Rates &rates, const Placement &placement)
      : structure_(structure), rates_(rates), placement_(placement) {}

  Expected<topology::Topology> describe() {
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
    return made_;
  }

private:
  Quantity measured(double value, double fallback) const {
    if (value <= 0) {
      return assumed(fallback);
    }
    // What was measured is good for three digits, not for sixteen.
    double step = std::pow(10, std::floor(std::log10(value)) - 2);
    Quantity quantity(std::round(value / step) * step, rates_.relativeError);
    quantity.provenance = rates_.provenance;
    return quantity;
  }

  double machineStream() const {
    double guess = std::min(kSocketStream * static_cast<double>(structure_.numaNodes),
                            kCoreStream * static_cast<double>(structure_.cores));
    return rates_.streamBytesPerSecond > 0 ? rates_.streamBytesPerSecond : guess;
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
    double cores = static_cast<double>(structure_.cores) / slots;
    DeviceType cpu;
    cpu.name = "cpu";
    cpu.deviceClass = topology::DeviceClass::kCpu;
    cpu.architecture = structure_.architecture;
    cpu.cores = std::max<int64_t>(1, static_cast<int64_t>(cores));
    cpu.numaNodes = std::max<int64_t>(1, structure_.numaNodes);
    for (const auto &[kind, rate] : rates_.coreCompute) {
      cpu.compute[kind] = measured(rate * cores, rate * cores);
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
    cpu.memoryBandwidth = measured(rates_.streamBytesPerSecond / slots, machineStream() / slots);
    if (rates_.memoryLatencySeconds > 0) {
      cpu.latencySeconds = measured(rates_.memoryLatencySeconds, 0);
    }
    if (rates_.coreCopyBytesPerSecond > 0) {
      cpu.coreCopyBandwidth = measured(rates_.coreCopyBytesPerSecond, 0);
    }
    for (const topology::RandomAccessPoint &point : rates_.randomAccess) {
      cpu.randomAccess.push_back(
          {point.workingSetBytes, measured(point.bytesPerSecond / slots, 0)});
    }
    if (cpu.randomAccess.empty()) {
      cpu.randomAccess = {{1e6, assumed(machineStream() / slots)},
                          {6.4e7, assumed(kCoreRandom * cores)}};
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
    memoryBus.bandwidth = measured(rates_.streamBytesPerSecond / copies, machineStream() / copies);
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
    codec.ratio = measured(rates.ratio, rates.ratio);
    codec.ratio.relativeError = kRatioError;
    codec.compressBytesPerSecond = measured(rates.compressBytesPerSecond / slots, 0);
    codec.decompressBytesPerSecond = measured(rates.decompressBytesPerSecond / slots, 0);
    codec.relativeError = kRatioError;
    return codec;
  }

  /// A device type shipped for a GPU whose name has the same word ("H100"), or a modest one.
  DeviceType gpuType(const Gpu &gpu) const {
    DeviceType best;
    for (const std::string &name : topology::shippedTopologyNames()) {
      topology::Topology shipped = *topology::shippedTopology(name);
      for (const auto &[key, type] : shipped.deviceTypes) {
        std::string word = key.substr(0, key.find('-'));
        if (type.deviceClass == topology::DeviceClass::kGpu && best.name.empty() &&
            gpu.model.find(word) != std::string::npos) {
          best = type;
        }
      }
    }
    if (best.name.empty()) {
      best.name = "gpu";
      best.deviceClass = topology::DeviceClass::kGpu;
      best.cores = 64;
      best.compute = {{"f32", assumed(1e13)}, {"f64", assumed(3e11)}, {"scalar", assumed(5e12)}};
      best.launchSeconds = assumed(2.5e-6);
      best.totalBytes = assumed(1.6e10);
      best.memoryBandwidth = assumed(4e11);
    }
    best.codecs.clear(); // of other people's measurements: not of this machine
    best.meanTimeBetweenFailures = {};
    auto dropSource = [](Quantity &quantity) { quantity.provenance.source.clear(); };
    for (auto &[kind, rate] : best.compute) {
      dropSource(rate);
    }
    for (Quantity *quantity : {&best.memoryBandwidth, &best.totalBytes, &best.reservedBytes,
                               &best.launchSeconds, &best.latencySeconds}) {
      dropSource(*quantity);
    }
    best.architecture = gpu.architecture;
    best.space = "hbm";
    if (gpu.memoryBytes > 0) {
      best.totalBytes = Quantity(gpu.memoryBytes, 0);
      best.totalBytes.provenance = rates_.provenance;
    }
    if (best.reservedBytes.value >= best.totalBytes.value / 2) {
      best.reservedBytes = {};
    }
    best.capacityBytes = best.totalBytes.value - best.reservedBytes.value;
    if (rates_.gpu.memoryBytesPerSecond > 0) {
      best.memoryBandwidth = measured(rates_.gpu.memoryBytesPerSecond, 0);
    }
    return best;
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
    made_.deviceTypes[type.name] = type;
    gpuCount_ = static_cast<int64_t>(gpus.size());
    node_.devices.push_back({"gpu", type.name, gpuCount_});
    node_.tiers.insert(node_.tiers.begin(), {topology::Tier::kDevice, "gpu", "hbm",
                                             type.capacityBytes * static_cast<double>(gpuCount_)});
    addPcie();
    Endpoint memory{"gpu", "hbm"};
    std::vector<Hop> toHost = gpuUp_;
    toHost.push_back({"dram", {}, Direction::kNone});
    node_.routes.push_back({memory, {"cpu", "host"}, toHost});
    addGpuLinks();
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
    pcie.latencySeconds = assumed(kPcieLatency);
    if (rates_.gpu.toHostBytesPerSecond > 0) { // of each direction: what both reach
      pcie.bandwidth =
          measured(std::min(rates_.gpu.toHostBytesPerSecond, rates_.gpu.fromHostBytesPerSecond), 0);
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

  void addGpuLinks() {
    Endpoint memory{"gpu", "hbm"};
    const Gpu &gpu = structure_.gpus.front();
    bool linked = structure_.gpuLinks != NodeStructure::GpuLinks::kPcie;
    std::vector<Hop> via;
    if (linked) {
      Resource link;
      link.name = "nvl";
      link.count = gpuCount_;
      link.per = {"gpu", 1};
      link.bandwidth = datasheet(static_cast<double>(gpu.nvlinks) * nvlinkBytes(gpu.architecture),
                                 kNvlinkEfficiency);
      link.latencySeconds = assumed(kNvlinkLatency);
      if (rates_.gpu.peerBytesPerSecond > 0) {
        // Between two GPUs; without a switch each has links of its own to every other.
        bool direct = structure_.gpuLinks == NodeStructure::GpuLinks::kDirect;
        double peers = direct ? static_cast<double>(gpu.nvlinkPeers) : 1;
        link.bandwidth = measured(rates_.gpu.peerBytesPerSecond * peers, 0);
        link.latencySeconds = measured(rates_.gpu.peerLatencySeconds, kNvlinkLatency);
      }
      link.fullDuplex = true;
      node_.resources.push_back(link);
      via = {hop("nvl", IndexExpression::Base::kSource, 1, Direction::kOut)};
      if (structure_.gpuLinks == NodeStructure::GpuLinks::kSwitch) {
        Resource crossbar;
        crossbar.name = "nvsw";
        crossbar.bandwidth =
            assumed(link.bandwidth.nominal * static_cast<double>(gpuCount_), kRuleError);
        crossbar.sharing = topology::Sharing::kFatpipe;
        node_.resources.push_back(crossbar);
        via.push_back({"nvsw", {}, Direction::kNone});
      }
      via.push_back(hop("nvl", IndexExpression::Base::kTarget, 1, Direction::kIn));
      node_.domains.push_back({"nvlink", "gpu", "auto"});
    } else {
      via = gpuUp_;
      via.push_back({"dram", {}, Direction::kNone});
      for (auto up = gpuUp_.rbegin(); up != gpuUp_.rend(); ++up) {
        Hop down = *up;
        down.direction = Direction::kIn;
        down.index.base = IndexExpression::Base::kTarget;
        via.push_back(down);
      }
    }
    node_.routes.push_back({memory, memory, via});
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
    for (const NetworkCard &card : cards) {
      bytes += card.bytesPerSecond;
      latency = card.latencySeconds > 0 ? card.latencySeconds : latency;
    }
    int64_t count = std::max<int64_t>(1, static_cast<int64_t>(cards.size()));
    int64_t ranks = gpuCount_ > 0 ? gpuCount_ : slots_;
    // Routes name cards by the rank's index: as many as divide the ranks evenly, each with its
    // part.
    while (ranks % count != 0) {
      --count;
    }
    Resource card;
    card.name = "nic";
    card.count = count;
    bool known = bytes > 0;
    double each = (known ? bytes : 1.25e9) / static_cast<double>(count);
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
      via = {gpuUp_.front()};
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

  const NodeStructure &structure_;
  const Rates &rates_;
  const Placement &placement_;
  topology::Topology made_;
  topology::NodeType node_;
  int64_t slots_ = 1;
  int64_t gpuCount_ = 0;
  std::vector<Hop> gpuUp_; ///< from a GPU to the CPU's memory
};

} // namespace

Expected<topology::Topology> describe(const NodeStructure &structure, const Rates &rates,
                                      const Placement &placement) {
  return Describer(structure, rates, placement).describe();
}

} // namespace headrace::topo
