// DeviceCall: launches over a block of arguments, one such block at a time.
#pragma once

#include "runtime/abi/device_kernel.h"
#include "runtime/exec/gpu/gpu_context.h"

namespace headrace::exec {

/// Purpose: a block in pinned memory and its copy in the device, which launches take:
///
///   HrDevice | what the caller writes behind it, pointers being the device's
///
/// Ownership: keeps both for the next launch. Thread-safety: one thread at a time.
class DeviceCall {
public:
  /// Where the caller's part begins.
  static constexpr int64_t kBegin = 64;
  static_assert(sizeof(HrDevice) <= kBegin);

  explicit DeviceCall(GpuContext &gpu) : gpu_(gpu) {}

  /// Room for `bytes` with the HrDevice, when no launch is under way; or the typed memory error.
  Status makeRoom(int64_t bytes);
  std::byte *host() { return pinned_.host(); }
  uint64_t device() const { return block_.at().address; }

  /// Columns that come into the device before the kernel.
  struct Columns {
    Place from, to;
    int64_t bytes = 0; ///< 0: none
    Kernel decoder;
    uint64_t decodeGroups = 0; ///< parts of pages; 0: none
    uint64_t decodeArgs = 0;   ///< where the device has the decoder's HrArgs
  };
  /// Morsels that the kernel takes in one launch: their arguments lie behind each other from
  /// kBegin on.
  struct Morsels {
    uint32_t count = 1;
    int64_t argsBytes = 0; ///< of each
    uint64_t rows = 0;     ///< of the largest
    int64_t end() const { return kBegin + count * argsBytes; }
  };
  /// After the block has been copied, and these events. The result has been reached when error()
  /// may be asked.
  Expected<Event> launch(const Kernel &kernel, uint32_t threads, const Morsels &morsels,
                         std::span<const Event> after, const Columns &columns);
  HrError error() const;
  /// Hands the memory on, when no launch is under way.
  void end();

private:
  GpuContext &gpu_;
  DeviceMemory pinned_, block_;
};

} // namespace headrace::exec
