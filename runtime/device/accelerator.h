// Accelerator: a device that the runs of a process share, and what it takes for itself.
#pragma once

#include <functional>
#include <memory>

#include "runtime/device/device.h"

namespace headrace {

/// Purpose: an opened device with its limit. Ownership: owns the device, outlives all that uses it.
/// Thread-safety: full.
class Accelerator {
public:
  /// Opens a device whose staging buffers are charged to a reservation of pinned memory.
  using Open = std::function<Expected<std::unique_ptr<Device>>(Reservation &staging)>;
  /// `memoryBytes` are for all runs together; 0: 90 % of what the device has.
  static Expected<std::shared_ptr<Accelerator>> create(const Open &open, int64_t memoryBytes);

  ~Accelerator();

  Device &device() { return *device_; }
  /// In which the budgets of all runs count.
  const std::shared_ptr<MemoryTier> &tier() const { return tier_; }

private:
  Accelerator();
  Budget pinned_;
  Reservation staging_;
  std::unique_ptr<Device> device_;
  std::shared_ptr<MemoryTier> tier_;
};

} // namespace headrace
