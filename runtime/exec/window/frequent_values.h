// The most frequent value of frames.
#pragma once

#include "runtime/exec/window/distinct_values.h"

namespace headrace::exec {

/// Purpose: how often each value is in the frame that is looked at, and where first; which one is
/// there most often, kept in a tree of winners, so that a row that comes or goes takes O(log n) of
/// n values. One a worker.
class FrequentValues {
public:
  explicit FrequentValues(std::shared_ptr<MemoryAccount> account)
      : next_(account), counts_(account), firsts_(account), winners_(std::move(account)) {}

  /// Begins with a frame of no rows. `values` are numbered in the rows `seen`, and stay so.
  Status begin(const DistinctValues &values, RowSpanOf seen);
  void add(uint32_t row);
  /// The rows before it that have its value are in the frame, or none of those between them and it.
  void remove(uint32_t row);
  /// The first row in the frame with the value that most rows have (of several the one that comes
  /// first); kNoValue without one.
  uint32_t first() const;

private:
  void contest(uint32_t value);
  uint32_t winner(uint32_t a, uint32_t b) const {
    if (counts_[a] != counts_[b]) {
      return counts_[a] > counts_[b] ? a : b;
    }
    return firsts_[a] < firsts_[b] ? a : b;
  }

  const DistinctValues *values_ = nullptr;
  uint32_t begin_ = 0;             ///< the first row seen
  ScratchArray<uint32_t> next_;    ///< of each row: the next one with its value
  ScratchArray<uint32_t> counts_;  ///< of each value, in the frame
  ScratchArray<uint32_t> firsts_;  ///< of each value: its first row in the frame
  ScratchArray<uint32_t> winners_; ///< [n + i] is value i, [i] wins of [2i] and [2i + 1]
};

} // namespace headrace::exec
