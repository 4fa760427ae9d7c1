// DeviceHeap: the addresses of an emulated device's memory: what is allocated, what will be free
// once a stream has come so far, what may be touched.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>

#include "runtime/device/emulated/device_process.h"
#include "runtime/device/emulated/driver_records.h"

namespace headrace::emulated {

/// Purpose: places allocations so that a page that nobody may touch lies behind each, and gives the
/// same addresses again as soon as the order of streams allows it. Thread-safety: none.
class DeviceHeap {
public:
  /// `bytes` of addresses from kDeviceBase on: whole pages.
  DeviceHeap(DeviceProcess &process, uint64_t bytes);

  /// An allocation: open between two points of its stream's order.
  struct Tenant {
    uint64_t address, bytes;
    bool open = false;
    TicketRef freed = nullptr; ///< once retired: when it will be closed
  };
  struct Taken {
    Tenant *tenant;
    TicketRef after; ///< the free that must come before open(); null: none
  };
  /// Addresses for `bytes` that are not in use.
  std::optional<Taken> take(uint64_t bytes);
  /// Those of an allocation that is retired, not closed, and as large.
  std::optional<Taken> takeOver(uint64_t bytes);
  /// From now on kernels and copies may touch it; it holds garbage.
  Outcome open(Tenant &tenant);
  /// The allocation that begins there; null: none, or retired.
  Tenant *find(uint64_t address);
  void retire(Tenant &tenant, TicketRef freed) { tenant.freed = std::move(freed); }
  Outcome close(Tenant &tenant);

  /// Whether all of it lies in one open allocation.
  bool isOpen(uint64_t address, uint64_t bytes) const;
  bool contains(uint64_t address) const {
    return address >= kDeviceBase && address < kDeviceBase + bytes_;
  }
  std::byte *alias(uint64_t address) const { return process_.alias() + (address - kDeviceBase); }

private:
  /// Pages and who has them, one after the other. The last page is a guard.
  struct Range {
    uint64_t bytes;
    std::list<Tenant> tenants;
  };
  Taken settle(uint64_t first, Range &range, uint64_t bytes, TicketRef after);

  DeviceProcess &process_;
  const uint64_t bytes_;
  std::map<uint64_t, uint64_t> free_; ///< first byte -> bytes
  std::map<uint64_t, Range> ranges_;
};

} // namespace headrace::emulated
