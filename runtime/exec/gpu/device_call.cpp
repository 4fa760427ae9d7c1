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

Status DeviceCall::makeRoom(int64_t hostBytes, int64_t deviceBytes) {
  if (!blocks_.holds(hostBytes, deviceBytes)) {
    end();
    HR_ASSIGN_OR_RETURN(blocks_, gpu_.launches.take(hostBytes, deviceBytes));
  }
  return {};
}

Expected<Event> DeviceCall::launch(const Kernel &kernel, uint32_t threads, uint64_t rows,
                                   int64_t hostBytes, std::span<const Event> after,
                                   const Decoding &decoding) {
  Device &device = gpu_.device();
  HrDevice report = {};
  report.size = 1;
  std::memcpy(host(), &report, sizeof report);
  HR_ASSIGN_OR_RETURN(Event copied,
                      device.copy(blocks_.pinned.at(), blocks_.block.at(), hostBytes));
  const auto most = std::max<uint64_t>(
      1, static_cast<uint64_t>(device.description().multiprocessors) * kThreadsPerMultiprocessor);
  auto over = [&](const Kernel &one, uint32_t wanted, uint64_t items,
                  std::span<const uint64_t> arguments) {
    const uint32_t each = std::min(wanted, static_cast<uint32_t>(one.threadsMax));
    const uint64_t blocks =
        std::clamp<uint64_t>((items + each - 1) / each, 1, std::max<uint64_t>(1, most / each));
    return KernelLaunch{one, static_cast<uint32_t>(blocks), each, arguments};
  };
  const uint64_t block = this->device();
  const uint64_t decodeArguments[] = {block + static_cast<uint64_t>(decoding.argsAt), block};
  const uint64_t arguments[] = {block + kBegin, block};
  std::vector<KernelLaunch> launches;
  if (decoding.groups > 0) {
    launches.push_back(
        over(decoding.kernel, kDecodingThreads, decoding.groups * kGroupThreads, decodeArguments));
  }
  launches.push_back(over(kernel, threads, rows, arguments));
  std::vector<Event> before(after.begin(), after.end());
  before.push_back(std::move(copied));
  HR_ASSIGN_OR_RETURN(Event launched, device.launch(launches, before));
  return device.copy(blocks_.block.at(), blocks_.pinned.at(), sizeof report,
                     std::span(&launched, 1));
}

HrError DeviceCall::error() const {
  HrDevice report;
  std::memcpy(&report, blocks_.pinned.host(), sizeof report);
  return report.error;
}

} // namespace headrace::exec
