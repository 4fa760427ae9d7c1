// Kernels: a roofline with a launch time, random access by working set, and nearly full overlap.
#include "model/cost/cost.h"

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
    slowest = std::min(slowest, rate.value);
  }
  return slowest;
}

/// Interpolates the device's curve log-log, flat beyond its ends.
double randomRate(const topology::DeviceType &device, double workingSetBytes) {
  const auto &curve = device.randomAccess;
  if (curve.empty()) {
    return device.memoryBandwidth.value * kRandomFraction;
  }
  auto upper =
      std::find_if(curve.begin(), curve.end(), [&](const topology::RandomAccessPoint &point) {
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

/// Between two looks at a line of a state as much of the others is touched as there is of it, or
/// all of them, if they are smaller; less of those that are looked at more seldom.
double workingSetAmong(const std::vector<RandomAccess> &all, const RandomAccess &access) {
  double bytes = access.workingSetBytes;
  for (const RandomAccess &other : all) {
    if (&other != &access && other.bytes > 0) {
      bytes += std::min(other.workingSetBytes, access.workingSetBytes) *
               std::min(1.0, other.bytes / access.bytes);
    }
  }
  return bytes;
}

} // namespace

double KernelTime::total() const {
  return launchSeconds + computeSeconds + memorySeconds -
         kOverlap * std::min(computeSeconds, memorySeconds);
}

KernelTime kernelTime(const topology::DeviceType &device, const KernelWork &work) {
  KernelTime time;
  time.launchSeconds = work.launches * device.launchSeconds;
  time.computeSeconds = work.operations / computeRate(device, work.compute);
  time.memorySeconds = work.streamBytes / device.memoryBandwidth.value;
  for (const RandomAccess &access : work.random) {
    time.memorySeconds += access.bytes / randomRate(device, workingSetAmong(work.random, access));
  }
  time.relativeError = time.computeSeconds > time.memorySeconds
                           ? device.computeRelativeError
                           : device.memoryBandwidth.relativeError;
  return time;
}

Cost CostModel::kernel(const KernelWork &work) const {
  Cost worst;
  for (const NodeRun &run : *runs_) {
    KernelTime time = kernelTime(run.deviceType(), work);
    if (double seconds = time.total(); seconds > worst.seconds) {
      worst = {seconds, time.relativeError};
    }
  }
  return worst;
}

} // namespace headrace::cost
