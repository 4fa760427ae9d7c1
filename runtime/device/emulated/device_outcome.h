// Where an emulated device's memory is, and how requests to its process end.
#pragma once

#include <cstdint>

namespace headrace::emulated {

/// Where device memory begins, in both processes: a device address that a host follows faults, and
/// so does a host address that a kernel follows.
#if defined(__SANITIZE_THREAD__)
#define HR_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HR_THREAD_SANITIZER
#endif
#endif
#ifdef HR_THREAD_SANITIZER
constexpr uint64_t kDeviceBase = 0x7ea000000000;
#else
constexpr uint64_t kDeviceBase = 0x200000000000;
#endif

/// How a request ended.
enum class Outcome : uint32_t {
  kDone,
  kNotFound,       ///< no such kernel, or an image that is no shared object
  kIllegalAddress, ///< a kernel followed an address that is not the device's; the process is gone
  kTrapped,        ///< a kernel ended in another way; the process is gone
  kTimedOut,       ///< no answer; the process is gone
};

} // namespace headrace::emulated
