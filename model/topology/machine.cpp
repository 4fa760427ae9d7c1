// The built-in topology: this machine's cores and memory divided among N ranks, with what
// calibration found.
#include "model/topology/assumed_machine.h"
#include "model/topology/topology.h"
#include "runtime/base/check.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <unistd.h>

namespace headrace::topology {
namespace {

std::string variable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// Bytes that the control group of this process may use; 0 = no limit.
double memoryLimit() {
  std::ifstream file("/sys/fs/cgroup/memory.max");
  double limit = 0;
  return file >> limit && limit > 0 ? limit : 0;
}

const DeviceGroup &ranksOf(const Topology &topology) {
  return *rankGroup(topology, topology.nodeTypes.at(topology.instances.front().type));
}

/// Empty if the topology is of one machine with CPUs alone, and so many cores.
std::string whyOfAnotherMachine(const Topology &topology, int64_t cores) {
  if (topology.nodeCount() != 1 ||
      topology.deviceTypes.at(ranksOf(topology).type).deviceClass != DeviceClass::kCpu) {
    return "it is not of one machine with CPUs alone";
  }
  const DeviceGroup &ranks = ranksOf(topology);
  int64_t found = ranks.count * topology.deviceTypes.at(ranks.type).cores;
  return found == cores ? ""
                        : "it is of a machine of " + std::to_string(found) +
                              " cores, this one has " + std::to_string(cores);
}

/// Seconds of work are of one core; rates are of a whole device.
void applyCalibration(const Topology &calibrated, double coresPerRank, Topology &machine) {
  const DeviceType &found = calibrated.deviceTypes.at(ranksOf(calibrated).type);
  DeviceType &slot = machine.deviceTypes.at(ranksOf(machine).type);
  slot.workSeconds = found.workSeconds;
  slot.workRelativeError = found.workRelativeError;
  for (const auto &[kind, rate] : found.compute) {
    slot.compute[kind] = rate;
    slot.compute[kind].value *= coresPerRank / static_cast<double>(found.cores);
  }
  machine.name = "machine, calibrated";
  machine.hash = topologyHash(machine);
}

} // namespace

MachineSize thisMachine() {
  MachineSize size;
  size.cores = std::max(1u, std::thread::hardware_concurrency());
  long pages = sysconf(_SC_PHYS_PAGES);
  long pageBytes = sysconf(_SC_PAGE_SIZE);
  if (pages > 0 && pageBytes > 0) {
    size.memoryBytes = static_cast<double>(pages) * static_cast<double>(pageBytes);
  }
  if (double limit = memoryLimit(); limit > 0) {
    size.memoryBytes = std::min(size.memoryBytes, limit);
  }
  return size;
}

Topology machineTopology(const MachineSize &machine, int64_t ranks) {
  HR_CHECK(ranks >= 1 && machine.cores >= 1 && machine.memoryBytes > 0);
  Topology topology;
  topology.name = "machine";
  double coresPerRank = static_cast<double>(machine.cores) / static_cast<double>(ranks);
  double machineStream = std::min(kMachineStreamBytesPerSecond,
                                  kCoreStreamBytesPerSecond * static_cast<double>(machine.cores));

  DeviceType slot;
  slot.name = "slot";
  slot.cores = std::max<int64_t>(1, static_cast<int64_t>(coresPerRank));
  slot.compute = {{"f32", {kCoreFlopsF32 * coresPerRank, kAssumedError}},
                  {"f64", {kCoreFlopsF64 * coresPerRank, kAssumedError}},
                  {"scalar", {kCoreScalarOps * coresPerRank, kAssumedError}}};
  slot.computeRelativeError = kAssumedError;
  slot.launchSeconds = {kTaskLaunchSeconds, kAssumedError};
  slot.space = "host";
  slot.capacityBytes = machine.memoryBytes / static_cast<double>(ranks);
  slot.memoryBandwidth = {machineStream / static_cast<double>(ranks), kAssumedError};
  slot.randomAccess = {
      {kCacheBytes, {machineStream / static_cast<double>(ranks), kAssumedError}},
      {64 * kCacheBytes, {kCoreRandomBytesPerSecond * coresPerRank, kAssumedError}}};
  topology.deviceTypes[slot.name] = slot;

  NodeType node;
  node.name = "host";
  node.devices.push_back({"cpu", slot.name, ranks});
  Resource memory;
  memory.name = "dram";
  // Each byte between ranks is written once and read once.
  memory.bandwidth = {machineStream / 2, kAssumedError};
  memory.latencySeconds = {kHandOverSeconds, kAssumedError};
  node.resources.push_back(memory);
  Endpoint endpoint{"cpu", slot.space};
  node.routes.push_back({endpoint, endpoint, {Hop{memory.name, {}, Direction::kNone}}});
  topology.nodeTypes[node.name] = node;
  topology.instances.push_back({node.name, "machine", 1});

  topology.hash = topologyHash(topology);
  return topology;
}

std::string calibrationFile() {
  if (std::string file = variable("HEADRACE_CALIBRATION"); !file.empty()) {
    return file == "off" ? "" : file;
  }
  std::string home = variable("HEADRACE_HOME");
  return (home.empty() ? variable("HOME") + "/.cache/headrace" : home) + "/machine.json";
}

Expected<Topology> hostTopology(int64_t ranks, double memoryBytes) {
  MachineSize machine = thisMachine();
  if (memoryBytes > 0) {
    machine.memoryBytes = memoryBytes;
  }
  Topology topology = machineTopology(machine, ranks);
  std::string file = calibrationFile();
  bool named = !variable("HEADRACE_CALIBRATION").empty();
  std::error_code error;
  if (file.empty() || (!named && !std::filesystem::exists(file, error))) {
    return topology;
  }
  auto unusable = [&](const std::string &why) {
    return makeError(ErrorKind::kUser, "cannot use the calibration ", file, ": ", why,
                     "; run headrace calibrate again, or set HEADRACE_CALIBRATION=off");
  };
  Expected<Topology> calibrated = readTopologyFile(file);
  if (!calibrated.ok()) {
    return unusable(calibrated.status().message());
  }
  std::string mismatch = whyOfAnotherMachine(*calibrated, machine.cores);
  if (!mismatch.empty() && named) {
    return unusable(mismatch);
  }
  if (mismatch.empty()) { // a home directory may be shared by unlike machines
    applyCalibration(*calibrated, static_cast<double>(machine.cores) / static_cast<double>(ranks),
                     topology);
  }
  return topology;
}

} // namespace headrace::topology
