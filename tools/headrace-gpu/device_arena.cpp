// Copies to and from the device, one after the other.
#include "tools/headrace-gpu/device_arena.h"

#include "runtime/abi/kernel.h"

namespace headrace::gpu {

uint64_t DeviceArena::allocate(uint64_t bytes) {
  if (!status_.ok()) {
    return 0;
  }
  Expected<DeviceMemory> memory =
      device_.allocate(Tier::kDevice, static_cast<int64_t>(bytes) + HR_PADDING, reservation_);
  Status status = memory.ok() ? device_.wait(memory->ready()) : memory.status();
  if (!status.ok()) {
    fail(std::move(status));
    return 0;
  }
  memory_.push_back(std::move(*memory));
  uint64_t address = memory_.back().at().address;
  byAddress_[address] = &memory_.back();
  return address;
}

uint64_t DeviceArena::zeros(uint64_t bytes) {
  uint64_t address = allocate(bytes);
  if (status_.ok()) {
    Expected<Event> done =
        device_.fill({Tier::kDevice, address}, 0, static_cast<int64_t>(bytes) + HR_PADDING);
    fail(done.ok() ? device_.wait(*done) : done.status());
  }
  return address;
}

uint64_t DeviceArena::put(Bytes bytes) {
  uint64_t address = allocate(bytes.size());
  write(address, bytes);
  return address;
}

void DeviceArena::write(uint64_t address, Bytes bytes) {
  if (!status_.ok()) {
    return;
  }
  Expected<Event> done = device_.copy(Place::of(bytes.data()), {Tier::kDevice, address},
                                      static_cast<int64_t>(bytes.size()));
  fail(done.ok() ? device_.wait(*done) : done.status());
}

std::vector<std::byte> DeviceArena::read(uint64_t address, uint64_t bytes) {
  std::vector<std::byte> found(bytes);
  if (status_.ok()) {
    fail(device_.synchronise());
  }
  if (status_.ok()) {
    fail(
        device_.copy({Tier::kDevice, address}, Place::of(found.data()), static_cast<int64_t>(bytes))
            .status());
  }
  return found;
}

std::string DeviceArena::text(uint64_t address, uint64_t bytes) {
  if (bytes == 0) {
    return "";
  }
  auto after = byAddress_.upper_bound(address);
  bool isInside = after != byAddress_.begin() &&
                  address + bytes <= std::prev(after)->first + std::prev(after)->second->bytes();
  if (!isInside) {
    // no test: what a broken kernel might give
    fail(Status(ErrorKind::kCorrupt, "a string points outside of the device's memory"));
    return "";
  }
  auto [first, memory] = *std::prev(after);
  std::vector<std::byte> &mirror = mirrors_[first];
  if (mirror.empty()) {
    mirror = read(first, memory->bytes());
  }
  return {reinterpret_cast<const char *>(mirror.data()) + (address - first), bytes};
}

} // namespace headrace::gpu
