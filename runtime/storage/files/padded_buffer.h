// Memory that kernels read: 64-byte aligned, with HR_PADDING readable bytes past its end.
#pragma once

#include "runtime/abi/kernel.h"
#include "runtime/memory/page_buffers.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

namespace headrace::storage {

/// Owns its bytes; contents undefined at first, but for the padding, which is zero. Null data: no
/// memory.
class PaddedBuffer {
public:
  PaddedBuffer() = default;
  /// Large ones from `pages`, if there is one.
  explicit PaddedBuffer(uint64_t bytes, std::shared_ptr<PageBuffers> pages = nullptr)
      : bytes_(bytes) {
    if (pages && bytes + HR_PADDING >= PageBuffers::kBytesMin) {
      const PageBuffers::Buffer taken = pages->take(bytes + HR_PADDING);
      data_ = taken.data;
      capacity_ = taken.bytes;
      pages_ = std::move(pages);
    } else {
      capacity_ = (bytes + HR_PADDING + 63) & ~uint64_t{63};
      data_ = static_cast<uint8_t *>(std::aligned_alloc(64, capacity_));
    }
    if (data_) {
      std::memset(data_ + bytes, 0, HR_PADDING);
    }
  }
  PaddedBuffer(PaddedBuffer &&other) noexcept { *this = std::move(other); }
  PaddedBuffer &operator=(PaddedBuffer &&other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(capacity_, other.capacity_);
    std::swap(pages_, other.pages_);
    return *this;
  }
  ~PaddedBuffer() {
    if (data_ && pages_) {
      pages_->giveBack({data_, capacity_});
    } else {
      std::free(data_);
    }
  }

  uint8_t *data() { return data_; }
  const uint8_t *data() const { return data_; }
  uint64_t bytes() const { return bytes_; }
  /// What it takes of memory.
  uint64_t capacity() const { return capacity_; }
  explicit operator bool() const { return data_ != nullptr; }

private:
  uint8_t *data_ = nullptr;
  uint64_t bytes_ = 0;
  uint64_t capacity_ = 0;
  std::shared_ptr<PageBuffers> pages_;
};

} // namespace headrace::storage
