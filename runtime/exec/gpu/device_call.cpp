// In, launch, out.
#include "runtime/exec/gpu/device_call.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace headrace::exec {

namespace {
/// For each multiprocessor, in blocks: some wait for memory while others work.
constexpr uint64_t kThreadsPerMultiprocessor = 1280;
constexpr uint32_t kDecodingThreads = 256;
/// That decode decode::kDecodedRows together.
constexpr uint64_t kGroupThreads = 32;
} // namespace

Status DeviceCall::makeRoom(int64_t bytes) {
  HR_RETURN_IF_ERROR(gpu_.memory.blocks.exchange(block_, bytes));
  return gpu_.memory.pinned.exchange(pinned_, bytes);
}

void DeviceCall::end() {
  gpu_.memory.blocks.giveBack(std::move(block_));
  gpu_.memory.pinned.giveBack(std::move(pinned_));
}

Expected<Event> DeviceCall::launch(const Kernel &kernel, uint32_t threads, const Morsels &morsels,
                                   std::span<const Event> after, const Columns &columns) {
  Device &device = gpu_.device();
  HrDevice report = {};
  report.size = 1;
  report.morsels = morsels.count;
  report.argsBytes = static_cast<uint32_t>(morsels.argsBytes);
  std::memcpy(host(), &report, sizeof report);
  std::vector<Event> before(after.begin(), after.end());
  if (columns.bytes > 0) {
    HR_RETURN_IF_ERROR(device.copy(columns.from, columns.to, columns.bytes).status());
  }
  // Copies towards the device follow each other: the last stands for both.
  HR_ASSIGN_OR_RETURN(Event copied, device.copy(pinned_.at(), block_.at(), morsels.end()));
  before.push_back(std::move(copied));

  const uint64_t most =
      static_cast<uint64_t>(device.description().multiprocessors) * kThreadsPerMultiprocessor;
  // `count` times as many blocks as `items` need, or as there are at once.
  auto over = [&](const Kernel &one, uint32_t wanted, uint64_t items, uint32_t count,
                  std::span<const uint64_t> arguments) {
    const uint32_t each = std::min(wanted, static_cast<uint32_t>(one.threadsMax));
    const uint64_t blocks = std::clamp<uint64_t>((items + each - 1) / each, 1,
                                                 std::max<uint64_t>(1, most / each / count));
    return KernelLaunch{one, static_cast<uint32_t>(blocks) * count, each, arguments};
  };
  const uint64_t block = this->device();
  const uint64_t decodeArguments[] = {columns.decodeArgs, block};
  const uint64_t arguments[] = {block + kBegin, block};
  std::vector<KernelLaunch> launches;
  if (columns.decodeGroups > 0) {
    launches.push_back(over(columns.decoder, kDecodingThreads, columns.decodeGroups * kGroupThreads,
                            1, decodeArguments));
  }
  launches.push_back(over(kernel, threads, morsels.rows, morsels.count, arguments));
  HR_ASSIGN_OR_RETURN(Event launched, device.launch(launches, before));
  return device.copy(block_.at(), pinned_.at(), sizeof report, std::span(&launched, 1));
}

HrError DeviceCall::error() const {
  HrDevice report;
  std::memcpy(&report, pinned_.host(), sizeof report);
  return report.error;
}

} // namespace headrace::exec
