// What a host asks of an emulated device's process, and what that answers.
#pragma once

#include "runtime/abi/device_kernel.h"
#include "runtime/device/emulated/device_outcome.h"

namespace headrace::emulated {

enum class Task : uint32_t { kProtect, kLoad, kFind, kLaunch };

/// Followed by `tailBytes`: an image, or a symbol.
struct Request {
  Task task;
  uint32_t module = 0;
  uint32_t blocks = 0;
  uint32_t threads = 0;
  uint64_t arguments[2] = {}; ///< kProtect: address and bytes
  uint64_t tailBytes = 0;
  uint32_t accessible = 0;
  uint32_t reserved = 0;
};

struct Answer {
  Outcome outcome = Outcome::kDone;
  HrEmulatedShape shape;
};

/// The name under which the process is started; its arguments are the descriptors of its socket and
/// of the device's memory, the bytes of that, and a seed.
extern const char kProcessName[];

/// All bytes, or false at the end of the stream.
bool readAll(int descriptor, void *data, size_t bytes);
bool writeAll(int descriptor, const void *data, size_t bytes);

} // namespace headrace::emulated
