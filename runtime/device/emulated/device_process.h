// DeviceProcess: another process of this executable that stands for a GPU: it alone may touch the
// device's memory, and touches nothing of this one's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "runtime/abi/device_kernel.h"
#include "runtime/device/emulated/device_outcome.h"

namespace headrace::emulated {

struct Request;
struct Answer;

/// Purpose: runs emulated kernels. Ownership: owns the process, ends it when destroyed.
/// Thread-safety: full. Ordering: a call returns when it has been done. Once it is gone, every call
/// answers as the one that ended it.
class DeviceProcess {
public:
  /// With `bytes` of device memory from kDeviceBase on, none of it accessible yet.
  DeviceProcess(int64_t bytes, uint64_t seed);
  ~DeviceProcess();
  DeviceProcess(const DeviceProcess &) = delete;
  DeviceProcess &operator=(const DeviceProcess &) = delete;

  /// The same bytes where the emulated copy engine reaches them.
  std::byte *alias() const { return alias_; }
  /// Kernels may touch these pages from now on, or no more. Multiples of 4 KiB.
  Outcome protect(uint64_t address, uint64_t bytes, bool accessible);
  /// A shared object of headrace-translate --kernel-to-emulation; `module` numbers it.
  Outcome load(uint32_t module, std::span<const std::byte> image);
  Outcome find(uint32_t module, const std::string &symbol, HrEmulatedShape &shape);
  Outcome launch(uint32_t module, const std::string &symbol, uint32_t blocks, uint32_t threads,
                 const uint64_t (&arguments)[2]);

private:
  Outcome ask(const Request &request, std::span<const std::byte> tail, Answer *answer = nullptr);
  void end();

  std::mutex mutex_;
  const int64_t bytes_;
  std::byte *alias_ = nullptr;
  int socket_ = -1;
  int process_ = -1;
  Outcome lost_ = Outcome::kDone;
};

} // namespace headrace::emulated
