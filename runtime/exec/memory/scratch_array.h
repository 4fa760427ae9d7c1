// An array that is charged to the memory budget.
#pragma once

#include "runtime/exec/memory/memory_account.h"

#include <memory>
#include <span>
#include <type_traits>

namespace headrace::exec {

/// Purpose: room for values of plain types, used again and again. Not thread-safe. Holds on to its
/// account.
template <typename T> class ScratchArray {
  static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= 64);

public:
  explicit ScratchArray(std::shared_ptr<MemoryAccount> account) : account_(std::move(account)) {}
  ScratchArray(ScratchArray &&) = default;
  ~ScratchArray() { block_.reset(); }

  /// Room for `count` values, contents undefined; or the typed memory error.
  Status resize(uint64_t count) {
    auto bytes = static_cast<int64_t>(count * sizeof(T));
    if (bytes > block_.size()) {
      block_.reset();
      HR_ASSIGN_OR_RETURN(block_, account_->allocate(bytes));
    }
    count_ = count;
    return {};
  }
  /// Gives the memory back.
  void reset() {
    block_.reset();
    count_ = 0;
  }

  uint64_t size() const { return count_; }
  T *data() const { return reinterpret_cast<T *>(block_.data()); }
  T &operator[](uint64_t index) const { return data()[index]; }
  std::span<T> span() const { return {data(), count_}; }

private:
  std::shared_ptr<MemoryAccount> account_;
  Block block_;
  uint64_t count_ = 0;
};

} // namespace headrace::exec
