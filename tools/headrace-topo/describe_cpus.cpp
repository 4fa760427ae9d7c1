// CPUs, their caches and memory.
#include "tools/headrace-topo/draft.h"

#include <algorithm>

namespace headrace::topo {
namespace {

using topology::DeviceType;
using topology::Quantity;
using topology::Resource;

// Of a server that holds GPUs: eight channels, a core for each GPU's copies and more.
constexpr double kServerSocketStream = 2e11;
constexpr int64_t kServerSocketCores = 32;
constexpr double kMemory = 8e9;
constexpr double kServerMemory = 5e11;

int64_t coreCount(const NodeStructure &structure) {
  bool known = structure.cores > 0;
  return known ? structure.cores : kServerSocketCores * std::max<int64_t>(1, structure.numaNodes);
}

double machineStream(const Draft &draft) {
  double socket =
      draft.structure.gpus.empty() ? topology::kMachineStreamBytesPerSecond : kServerSocketStream;
  double guess = std::min(socket * static_cast<double>(draft.structure.numaNodes),
                          topology::kCoreStreamBytesPerSecond *
                              static_cast<double>(coreCount(draft.structure)));
  return draft.rates.streamBytesPerSecond > 0 ? draft.rates.streamBytesPerSecond.value : guess;
}

void sayWhatIsAssumed(Draft &draft) {
  if (draft.structure.cores == 0) {
    draft.notes.push_back("no cores in it: assumed " + std::to_string(coreCount(draft.structure)));
  }
  if (!draft.isMeasured()) {
    draft.notes.push_back(draft.structure.memoryBytes > 0
                              ? "rates of the host's memory and cores: assumed"
                              : "the host's memory, rates of memory and cores: assumed");
  }
}

topology::Codec codecOf(const Draft &draft, const CodecRates &rates) {
  constexpr double kRatioError = 0.5; // other rows are more or less alike
  double part = 1 / static_cast<double>(draft.slots);
  topology::Codec codec;
  codec.name = rates.name;
  codec.ratio = draft.measured(Measured(rates.ratio, kRatioError), 0);
  codec.compressBytesPerSecond = draft.measured(rates.compressBytesPerSecond, 0, part);
  codec.decompressBytesPerSecond = draft.measured(rates.decompressBytesPerSecond, 0, part);
  codec.relativeError = kRatioError;
  return codec;
}

void setMemory(const Draft &draft, DeviceType &cpu) {
  const NodeStructure &structure = draft.structure;
  const Rates &rates = draft.rates;
  double slots = static_cast<double>(draft.slots);
  cpu.space = "host";
  if (structure.memoryBytes > 0) {
    cpu.totalBytes = Quantity(structure.memoryBytes / slots, 0);
    cpu.totalBytes.provenance = rates.provenance;
  } else {
    cpu.totalBytes = assumed((structure.gpus.empty() ? kMemory : kServerMemory) / slots);
  }
  cpu.capacityBytes = cpu.totalBytes.value;
  double stream = machineStream(draft) / slots;
  cpu.memoryBandwidth = draft.measured(rates.streamBytesPerSecond, stream, 1 / slots);
  if (rates.memoryLatencySeconds > 0) {
    cpu.latencySeconds = draft.measured(rates.memoryLatencySeconds, 0);
  }
  if (rates.coreCopyBytesPerSecond > 0) {
    cpu.coreCopyBandwidth = draft.measured(rates.coreCopyBytesPerSecond, 0);
  }
  for (const auto &[workingSet, rate] : rates.randomAccess) {
    cpu.randomAccess.push_back({workingSet, draft.measured(rate, 0, 1 / slots)});
  }
  if (cpu.randomAccess.empty()) {
    double cores = static_cast<double>(coreCount(structure)) / slots;
    cpu.randomAccess = {{topology::kCacheBytes, assumed(stream)},
                        {64 * topology::kCacheBytes,
                         assumed(std::min(stream, topology::kCoreRandomBytesPerSecond * cores))}};
  }
  cpu.pageBytes = 4096;
}

DeviceType cpuType(const Draft &draft) {
  const NodeStructure &structure = draft.structure;
  double cores = static_cast<double>(coreCount(structure)) / static_cast<double>(draft.slots);
  DeviceType cpu;
  cpu.name = "cpu";
  cpu.deviceClass = topology::DeviceClass::kCpu;
  cpu.architecture = structure.architecture;
  cpu.cores = std::max<int64_t>(1, static_cast<int64_t>(cores));
  cpu.numaNodes = std::max<int64_t>(1, structure.numaNodes / draft.sockets.count);
  for (const auto &[kind, rate] : draft.rates.coreCompute) {
    cpu.compute[kind] = draft.measured(rate, 0, cores);
  }
  if (cpu.compute.empty()) {
    cpu.compute = {{"f32", assumed(topology::kCoreFlopsF32 * cores)},
                   {"f64", assumed(topology::kCoreFlopsF64 * cores)},
                   {"scalar", assumed(topology::kCoreScalarOps * cores)}};
  }
  cpu.computeRelativeError = cpu.compute.begin()->second.relativeError;
  cpu.launchSeconds = draft.measured(draft.rates.taskLaunchSeconds, topology::kTaskLaunchSeconds);
  setMemory(draft, cpu);
  cpu.caches = structure.caches;
  for (const CodecRates &codec : draft.rates.codecs) {
    cpu.codecs.push_back(codecOf(draft, codec));
  }
  return cpu;
}

Resource memoryBus(const Draft &draft) {
  Resource bus;
  bus.name = "dram";
  double sockets = static_cast<double>(draft.sockets.count);
  if (draft.sockets.several()) {
    bus.count = draft.sockets.count;
    bus.per = {"cpu", draft.sockets.slotsEach};
  }
  // Each byte between ranks of CPUs is written once and read once.
  double parts = sockets * (draft.structure.gpus.empty() ? 2 : 1);
  bus.bandwidth =
      draft.measured(draft.rates.streamBytesPerSecond, machineStream(draft) / parts, 1 / parts);
  if (draft.structure.gpus.empty()) {
    bus.latencySeconds = draft.measured(draft.rates.handOverSeconds, topology::kHandOverSeconds);
  } else if (draft.rates.memoryLatencySeconds > 0) {
    bus.latencySeconds = draft.measured(draft.rates.memoryLatencySeconds, 0);
  }
  bus.members = {"cpu"};
  return bus;
}

} // namespace

void addCpus(Draft &draft) {
  sayWhatIsAssumed(draft);
  DeviceType cpu = cpuType(draft);
  draft.topology.deviceTypes[cpu.name] = cpu;
  draft.node.devices.push_back({"cpu", cpu.name, draft.slots});
  draft.node.resources.push_back(memoryBus(draft));
  draft.node.tiers.push_back(
      {topology::Tier::kHost, "cpu", "host", cpu.capacityBytes * static_cast<double>(draft.slots)});
  if (draft.sockets.several()) {
    addSocketLink(draft);
  } else if (draft.structure.gpus.empty()) {
    topology::Endpoint host{"cpu", "host"};
    draft.node.routes.push_back({host, host, {{"dram", {}, topology::Direction::kNone}}});
  }
}

} // namespace headrace::topo
