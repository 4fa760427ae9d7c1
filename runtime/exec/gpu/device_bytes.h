// Bytes on the host that the device will have at another address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace headrace::exec {

/// An address of the device's as the pointer of a record.
template <typename T> T *devicePointer(uint64_t address) { return reinterpret_cast<T *>(address); }

template <typename T> void putBytes(std::byte *at, const T &value) {
  std::memcpy(at, &value, sizeof value);
}

} // namespace headrace::exec
