// A partition that goes over several ranges: its functions are computed part by part, side by side.
#pragma once

#include "runtime/exec/window/entry_order.h"
#include "runtime/exec/window/window_functions.h"
#include "runtime/exec/work/phased_job.h"

#include <atomic>

namespace headrace::exec {

/// Purpose: the sorted entries of one hash, in parts that workers go through side by side, phase by
/// phase: list() all parts, number() all, total() all, then compute() all. Thread-safety: different
/// parts of one phase. `entries` outlive it.
class LargePartition {
public:
  LargePartition(const plan::State &state, const EntryOrder &order, std::span<Entry> entries,
                 uint32_t parts, std::shared_ptr<MemoryAccount> account);

  uint32_t parts() const { return static_cast<uint32_t>(partBegin_.size()) - 1; }
  /// Memory for the phases.
  Status prepare();
  /// Lists rows, and counts groups of peers of each part.
  void list(uint32_t part);
  /// Whether entries are of several partitions of one hash, and so in no order.
  bool isMixed() const { return mixed_.load(std::memory_order_relaxed); }
  /// Numbers the groups of peers through all parts.
  void number(uint32_t part);
  /// Folds each part, for functions that fold from the first row on.
  Status total(uint32_t part, WindowFunctions &functions);
  Status compute(uint32_t part, WindowFunctions &functions);
  std::span<Entry> entries() const { return entries_; }

private:
  RowSpanOf rowsOf(uint32_t part) const { return {partBegin_[part], partBegin_[part + 1]}; }

  const plan::State &state_;
  const EntryOrder &order_;
  std::span<Entry> entries_;
  std::vector<uint32_t> partBegin_; ///< and the end of the last one
  ScratchArray<uint8_t *> rows_;
  ScratchArray<uint32_t> group_, groupBegin_;
  std::vector<uint32_t> groups_; ///< of each part, how many groups begin in it
  Partition partition_;
  std::vector<std::vector<AnyFold>> totals_; ///< of each part
  std::atomic<bool> mixed_{false};
};

} // namespace headrace::exec
