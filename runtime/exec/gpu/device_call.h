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

  explicit DeviceCall(GpuContext &gpu) : gpu_(gpu) {}

  /// Room for `hostBytes` with the HrDevice, and `deviceBytes` in the device, when no launch is
  /// under way.
  Status makeRoom(int64_t hostBytes, int64_t deviceBytes);
  std::byte *host() { return blocks_.pinned.host(); }
  uint64_t device() const { return blocks_.block.at().address; }

  /// What comes before the kernel: parts of pages to decode (0: none), with the HrArgs here.
  struct Decoding {
    Kernel kernel;
    uint64_t groups = 0;
    int64_t argsAt = 0;
  };
  /// The kernel over so many rows, with the HrArgs at kBegin: after `hostBytes` of its block have
  /// been copied, and these events. The result has been reached when error() may be asked.
  Expected<Event> launch(const Kernel &kernel, uint32_t threads, uint64_t rows, int64_t hostBytes,
                         std::span<const Event> after, const Decoding &decoding);
  HrError error() const;
  /// Hands the memory on, when no launch is under way.
  void end() { gpu_.launches.giveBack(std::move(blocks_)); }

private:
  GpuContext &gpu_;
  LaunchBlocks::Pair blocks_;
};

} // namespace headrace::exec
