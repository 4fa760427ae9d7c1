// Looks in the shipped topologies.
#include "tools/headrace-topo/gpu_type.h"
#include "tools/headrace-topo/figures.h"

namespace headrace::topo {
namespace {

using topology::DeviceType;
using topology::Quantity;

constexpr double kMemoryEfficiency = 0.8;

DeviceType modest() {
  DeviceType type;
  type.name = "gpu";
  type.deviceClass = topology::DeviceClass::kGpu;
  type.cores = 64;
  type.compute = {{"f32", assumed(1e13)}, {"f64", assumed(3e11)}, {"scalar", assumed(5e12)}};
  type.launchSeconds = assumed(2.5e-6);
  type.totalBytes = assumed(1.6e10);
  type.memoryBandwidth = assumed(4e11);
  return type;
}

DeviceType shippedType(const Gpu &gpu) {
  for (const std::string &name : topology::shippedTopologyNames()) {
    topology::Topology shipped = *topology::shippedTopology(name);
    for (const auto &[key, type] : shipped.deviceTypes) {
      std::string word = key.substr(0, key.find('-'));
      if (type.deviceClass == topology::DeviceClass::kGpu &&
          gpu.model.find(word) != std::string::npos) {
        return type;
      }
    }
  }
  return modest();
}

} // namespace

DeviceType gpuType(const Gpu &gpu) {
  DeviceType type = shippedType(gpu);
  type.codecs.clear(); // of other people's measurements: not of this machine
  type.meanTimeBetweenFailures = {};
  auto dropSource = [](Quantity &quantity) { quantity.provenance.source.clear(); };
  for (auto &[kind, rate] : type.compute) {
    dropSource(rate);
  }
  for (Quantity *quantity : {&type.memoryBandwidth, &type.totalBytes, &type.reservedBytes,
                             &type.launchSeconds, &type.latencySeconds}) {
    dropSource(*quantity);
  }
  type.architecture = gpu.architecture;
  type.space = "hbm";
  if (gpu.memoryBytes > 0) {
    type.totalBytes = Quantity(gpu.memoryBytes, 0);
    type.totalBytes.provenance.origin = topology::Origin::kDatasheet;
  }
  if (gpu.memoryBytesPerSecond > 0) {
    type.memoryBandwidth = datasheet(gpu.memoryBytesPerSecond, kMemoryEfficiency);
  }
  if (type.reservedBytes.value >= type.totalBytes.value / 2) {
    type.reservedBytes = {};
  }
  type.capacityBytes = type.totalBytes.value - type.reservedBytes.value;
  return type;
}

} // namespace headrace::topo
