// In, launch, out.
#include "runtime/exec/gpu/device_call.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace headrace::exec {

namespace {
/// Blocks of threads for each multiprocessor: some wait for memory while others work.
constexpr uint64_t kBlocksPerMultiprocessor = 4;
} // namespace

Status DeviceCall::makeRoom(int64_t bytes) {
  if (block_ && block_.bytes() >= bytes) {
    return {};
  }
  pinned_.reset();
  block_.reset();
  Device &device = gpu_.device();
  HR_ASSIGN_OR_RETURN(pinned_, device.allocate(Tier::kPinned, bytes, pinnedBytes_));
  HR_ASSIGN_OR_RETURN(block_, device.allocate(Tier::kDevice, bytes, deviceBytes_, Lane::kIn));
  return {};
}

Expected<Event> DeviceCall::launch(const Kernel &kernel, uint32_t threads, uint64_t rows,
                                   int64_t bytes, std::span<const Event> after) {
  Device &device = gpu_.device();
  HrDevice report = {};
  report.size = 1;
  std::memcpy(host(), &report, sizeof report);
  HR_ASSIGN_OR_RETURN(Event copied, device.copy(pinned_.at(), block_.at(), bytes));
  std::vector<Event> before(after.begin(), after.end());
  before.push_back(std::move(copied));
  threads = std::min(threads, static_cast<uint32_t>(kernel.threadsMax));
  const auto most = std::max<uint64_t>(
      1, static_cast<uint64_t>(device.description().multiprocessors) * kBlocksPerMultiprocessor);
  const uint64_t blocks = std::clamp<uint64_t>((rows + threads - 1) / threads, 1, most);
  const uint64_t arguments[] = {this->device() + kBegin, this->device()};
  HR_ASSIGN_OR_RETURN(
      Event launched,
      device.launch(KernelLaunch{kernel, static_cast<uint32_t>(blocks), threads, arguments},
                    before));
  return device.copy(block_.at(), pinned_.at(), sizeof report, std::span(&launched, 1));
}

HrError DeviceCall::error() const {
  HrDevice report;
  std::memcpy(&report, pinned_.host(), sizeof report);
  return report.error;
}

} // namespace headrace::exec
