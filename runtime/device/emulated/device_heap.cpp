// First fit over pages; tenants of a range follow each other in stream order.
#include "runtime/device/emulated/device_heap.h"

#include "runtime/base/check.h"

#include <cstring>

namespace headrace::emulated {

namespace {
constexpr uint64_t kPage = 4096;
constexpr int kGarbageBefore = 0xcd, kGarbageAfter = 0xdd;

uint64_t pagesOf(uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }
} // namespace

DeviceHeap::DeviceHeap(DeviceProcess &process, uint64_t bytes) : process_(process), bytes_(bytes) {
  free_[kDeviceBase] = bytes;
}

DeviceHeap::Taken DeviceHeap::settle(uint64_t first, Range &range, uint64_t bytes,
                                     TicketRef after) {
  // As far up as the guard allows; the caller's sizes keep addresses aligned.
  uint64_t address = first + range.bytes - kPage - bytes;
  return {&range.tenants.emplace_back(Tenant{address, bytes}), std::move(after)};
}

std::optional<DeviceHeap::Taken> DeviceHeap::take(uint64_t bytes) {
  uint64_t needed = pagesOf(bytes) + kPage;
  for (auto [first, size] : free_) {
    if (size >= needed) {
      free_.erase(first);
      if (size > needed) {
        free_[first + needed] = size - needed;
      }
      return settle(first, ranges_[first] = {needed, {}}, bytes, nullptr);
    }
  }
  return std::nullopt;
}

std::optional<DeviceHeap::Taken> DeviceHeap::takeOver(uint64_t bytes) {
  for (auto &[first, range] : ranges_) {
    TicketRef freed = range.tenants.back().freed;
    if (freed && range.bytes >= pagesOf(bytes) + kPage && range.tenants.back().bytes >= bytes) {
      return settle(first, range, bytes, freed);
    }
  }
  return std::nullopt;
}

Outcome DeviceHeap::open(Tenant &tenant) {
  tenant.open = true;
  std::memset(alias(tenant.address), kGarbageBefore, tenant.bytes);
  uint64_t first = tenant.address / kPage * kPage;
  return process_.protect(first, pagesOf(tenant.address + tenant.bytes - first), true);
}

DeviceHeap::Tenant *DeviceHeap::find(uint64_t address) {
  for (auto &[first, range] : ranges_) {
    Tenant &last = range.tenants.back();
    if (last.address == address && !last.freed) {
      return &last;
    }
  }
  return nullptr;
}

Outcome DeviceHeap::close(Tenant &tenant) {
  auto after = ranges_.upper_bound(tenant.address);
  HR_CHECK(after != ranges_.begin());
  auto range = std::prev(after);
  HR_CHECK(&range->second.tenants.front() == &tenant); // frees keep the order of allocations
  std::memset(alias(tenant.address), kGarbageAfter, tenant.bytes);
  uint64_t first = tenant.address / kPage * kPage;
  Outcome outcome = process_.protect(first, pagesOf(tenant.address + tenant.bytes - first), false);
  range->second.tenants.pop_front();
  if (range->second.tenants.empty()) {
    auto [place, inserted] = free_.emplace(range->first, range->second.bytes);
    auto next = std::next(place);
    if (next != free_.end() && place->first + place->second == next->first) {
      place->second += next->second;
      free_.erase(next);
    }
    if (place != free_.begin()) {
      auto before = std::prev(place);
      if (before->first + before->second == place->first) {
        before->second += place->second;
        free_.erase(place);
      }
    }
    ranges_.erase(range);
  }
  return outcome;
}

bool DeviceHeap::isOpen(uint64_t address, uint64_t bytes) const {
  auto after = ranges_.upper_bound(address);
  if (after == ranges_.begin()) {
    return false;
  }
  const Tenant &tenant = std::prev(after)->second.tenants.front();
  return tenant.open && address >= tenant.address &&
         address + bytes <= tenant.address + tenant.bytes;
}

} // namespace headrace::emulated
