// Which of some numbers are there, and which of these is the n-th.
#pragma once

#include "runtime/exec/memory/scratch_array.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace headrace::exec {

/// Purpose: of the numbers 0 to n − 1 those that came and did not go, in O(log n) each: a tree of
/// counts (Fenwick's), of which [i] has those of the last of i numbers, as many as i's lowest bit.
class PresentNumbers {
public:
  explicit PresentNumbers(std::shared_ptr<MemoryAccount> account) : counts_(std::move(account)) {}

  /// Begins with none of so many numbers.
  Status begin(uint32_t size) {
    HR_RETURN_IF_ERROR(counts_.resize(uint64_t(size) + 1));
    std::ranges::fill(counts_.span(), 0u);
    return {};
  }
  /// One that is not there, and one that is.
  void add(uint32_t number) { change(number, 1); }
  void remove(uint32_t number) { change(number, UINT32_MAX); }
  /// The n-th least (from 0) of the numbers that are there; there are as many.
  uint32_t nth(uint32_t n) const {
    uint64_t before = 0; // numbers that are less
    for (uint64_t step = std::bit_floor(counts_.size() - 1); step > 0; step /= 2) {
      if (before + step < counts_.size() && counts_[before + step] <= n) {
        before += step;
        n -= counts_[before];
      }
    }
    return static_cast<uint32_t>(before);
  }

private:
  void change(uint32_t number, uint32_t by) {
    for (uint64_t i = uint64_t(number) + 1; i < counts_.size(); i += i & -i) {
      counts_[i] += by; // UINT32_MAX takes one away
    }
  }

  ScratchArray<uint32_t> counts_;
};

} // namespace headrace::exec
