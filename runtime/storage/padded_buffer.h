// Memory that kernels read: 64-byte aligned, with HR_PADDING readable bytes past its end.
#pragma once

#include "runtime/abi/kernel.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace headrace::storage {

/// Owns its bytes; contents undefined at first, but for the padding, which is zero. Null data: no memory.
class PaddedBuffer {
public:
  PaddedBuffer() = default;
  explicit PaddedBuffer(uint64_t bytes)
      : data_(static_cast<uint8_t *>(std::aligned_alloc(64, (bytes + HR_PADDING + 63) & ~uint64_t{63}))),
        bytes_(bytes) {
    if (data_) {
      std::memset(data_.get() + bytes, 0, HR_PADDING);
    }
  }
  uint8_t *data() { return data_.get(); }
  const uint8_t *data() const { return data_.get(); }
  uint64_t bytes() const { return bytes_; }
  explicit operator bool() const { return data_ != nullptr; }

private:
  struct Free {
    void operator()(uint8_t *data) const { std::free(data); }
  };
  std::unique_ptr<uint8_t, Free> data_;
  uint64_t bytes_ = 0;
};

} // namespace headrace::storage
