// Kernels: a roofline with a launch time, random access by working set, and nearly full overlap.
#include "runtime/model/cost/cost.h"

#include <algorithm>
#include <cmath>

namespace headrace::cost {
namespace {

// XLA's correction: compute and memory overlap but for a twentieth of the shorter.
constexpr double kOverlap = 0.95;
// Without a measured curve: an eighth of the streaming rate (one word used of each cache line).
constexpr double kRandomFraction = 0.125;
// Without a compute rate: one operation per core and nanosecond.
constexpr double kOperationsPerCore = 1e9;

double computeRate(const topology::DeviceType &device, const std::string &kind) {
  if (auto it = device.compute.find(kind); it != device.compute.end()) {
    return it->second;
  }
  double slowest = kOperationsPerCore * static_cast<double>(device.cores);
  for (const auto &[name, rate] : device.compute) {
    slowest = std::min(slowest, rate);
  }
  return slowest;
}

/// Interpolates the device's curve log-log, flat beyond its ends.
double randomRate(const topology::DeviceType &device, double workingSetBytes) {
  const auto &curve = device.randomAccess;
  if (curve.empty()) {
    return device.memoryBandwidth.value * kRandomFraction;
  }
  auto upper = std::find_if(curve.begin(), curve.end(), [&](const topology::RandomAccessPoint &point) {
    return point.workingSetBytes >= workingSetBytes;
  });
  if (upper == curve.begin()) {
    return curve.front().bytesPerSecond;
  }
  if (upper == curve.end()) {
    return curve.back().bytesPerSecond;
  }
  auto lower = upper - 1;
  double position = std::log(workingSetBytes / lower->workingSetBytes) /
                    std::log(upper->workingSetBytes / lower->workingSetBytes);
  return std::exp(std::log(lower->bytesPerSecond) * (1 - position) +
                  std::log(upper->bytesPerSecond) * position);
}

} // namespace

Cost CostModel::kernel(const KernelWork &work) const {
  Cost worst;
  const topology::DeviceType *previous = nullptr;
  for (const RankPlace &place : network_->places()) {
    const topology::DeviceType &device = *place.deviceType;
    if (&device == previous) {
      continue;
    }
    previous = &device;
    double compute = work.operations / computeRate(device, work.compute);
    double memory = work.streamBytes / device.memoryBandwidth.value;
    if (work.randomBytes > 0) {
      memory += work.randomBytes / randomRate(device, work.workingSetBytes);
    }
    double seconds = work.launches * device.launchSeconds + compute + memory -
                     kOverlap * std::min(compute, memory);
    double error = compute > memory ? device.computeRelativeError : device.memoryBandwidth.relativeError;
    if (seconds > worst.seconds) {
      worst = {seconds, error};
    }
  }
  return worst;
}

} // namespace headrace::cost
