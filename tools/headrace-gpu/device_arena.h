// DeviceArena: what one case has on a device, and reading any of it back by its address.
#pragma once

#include <cstring>
#include <deque>
#include <map>
#include <span>
#include <vector>

#include "runtime/device/device.h"

namespace headrace::gpu {

using Bytes = std::span<const std::byte>;

template <typename T> Bytes bytesOf(const std::vector<T> &values) {
  return std::as_bytes(std::span(values));
}

/// Purpose: allocations that live until the arena ends, each with room for kernels that read
/// HR_PADDING bytes past its end. Errors stay: after the first, addresses are 0, and status() says
/// why. Waits for the device wherever it reads. Thread-safety: none.
class DeviceArena {
public:
  DeviceArena(Device &device, Reservation &reservation)
      : device_(device), reservation_(reservation) {}

  Device &device() { return device_; }
  const Status &status() const { return status_; }
  void fail(Status status) { status_ = status_.ok() ? std::move(status) : status_; }

  /// The address of new bytes, contents undefined.
  uint64_t allocate(uint64_t bytes);
  uint64_t zeros(uint64_t bytes);
  uint64_t put(Bytes bytes);
  template <typename T> uint64_t put(const T &value) {
    return put(std::as_bytes(std::span(&value, 1)));
  }
  template <typename T> uint64_t put(const std::vector<T> &values) { return put(bytesOf(values)); }

  void write(uint64_t address, Bytes bytes);
  std::vector<std::byte> read(uint64_t address, uint64_t bytes);
  template <typename T> T read(uint64_t address) {
    T value = {};
    std::vector<std::byte> bytes = read(address, sizeof(T));
    std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }
  /// Text that lies somewhere in the arena, by whole allocations: for many small reads.
  std::string text(uint64_t address, uint64_t bytes);
  /// Forgets what text() has read.
  void forget() { mirrors_.clear(); }

private:
  Device &device_;
  Reservation &reservation_;
  Status status_;
  std::deque<DeviceMemory> memory_;
  std::map<uint64_t, const DeviceMemory *> byAddress_;
  std::map<uint64_t, std::vector<std::byte>> mirrors_;
};

} // namespace headrace::gpu
