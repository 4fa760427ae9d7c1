// DeviceCall: one launch at a time over a block of arguments and columns.
#pragma once

#include "runtime/abi/device_kernel.h"
#include "runtime/exec/gpu/gpu_context.h"

namespace headrace::exec {

/// Purpose: a block in pinned memory and its copy in the device, which a launch takes:
///
///   HrDevice | what the caller writes behind it, pointers being the device's
///
/// Ownership: keeps both for the next launch. Thread-safety: one thread at a time.
class DeviceCall {
public:
  /// Where the caller's part begins.
  static constexpr int64_t kBegin = 64;

  /// The reservations, which pay for the two blocks, outlive it.
  DeviceCall(GpuContext &gpu, Reservation &pinned, Reservation &device)
      : gpu_(gpu), pinnedBytes_(pinned), deviceBytes_(device) {}

  /// Room for `bytes` with the HrDevice, when no launch is under way.
  Status makeRoom(int64_t bytes);
  std::byte *host() { return pinned_.host(); }
  uint64_t device() const { return block_.at().address; }

  /// The kernel over so many rows, with the HrArgs at kBegin: after its block has been copied, and
  /// these events. The result has been reached when error() may be asked.
  Expected<Event> launch(const Kernel &kernel, uint32_t threads, uint64_t rows, int64_t bytes,
                         std::span<const Event> after);
  HrError error() const;

private:
  GpuContext &gpu_;
  Reservation &pinnedBytes_, &deviceBytes_;
  DeviceMemory pinned_, block_;
};

} // namespace headrace::exec
