// A state that is sorted, from the rows of all workers to the rows in order.
#pragma once

#include "runtime/exec/memory/scratch_array.h"
#include "runtime/exec/sort/run_merge.h"
#include "runtime/exec/sort/sort_copy.h"
#include "runtime/exec/work/phased_job.h"

#include <array>
#include <atomic>
#include <functional>

namespace headrace::exec {

/// Purpose: sorts the rows of all copies: in memory if they are all there, else by merging runs
/// when rows are asked for. Rows of a window state, which is here only what memory has no room for,
/// are always merged, and their fields computed then. Thread-safe once the phases have ended.
class SortedRows {
public:
  SortedRows(const plan::State &state, std::shared_ptr<MemoryAccount> account);

  /// `copies` is asked when the job starts; they outlive this.
  void addPhases(PhasedJob &job, std::function<std::vector<StateCopy *>()> copies);

  /// Rows behind the offset, up to the limit.
  uint64_t rowCount() const { return rowCount_; }
  /// Words of keys that rows took beyond their first, where they were sorted in memory.
  uint64_t furtherWords() const { return furtherWords_; }
  /// Whether rows() has them; else read() does.
  bool isInMemory() const { return runs_.empty(); }
  std::span<const SortEntry> rows() const { return rows_; }
  /// Whether rows are read in the state's order: of a window they are in none.
  bool isOrdered() const { return !isWindow_; }
  /// Stands at the first of rowCount() rows. Blocks on the disk.
  Expected<std::unique_ptr<RowReader>> read() const;

private:
  /// Rows of one copy that go to one range.
  struct Share {
    uint64_t rows = 0;
    uint64_t place = 0; ///< of the next one in `sorted_`
  };
  using Entries = std::span<SortEntry>;
  static constexpr size_t kRangesMax = 256; ///< a byte tells them apart

  static constexpr std::array<uint64_t, kRangesMax> greatestWords() {
    std::array<uint64_t, kRangesMax> words;
    words.fill(UINT64_MAX);
    return words;
  }

  JobPhase listRows();
  JobPhase findRanges();
  JobPhase scatter();
  JobPhase sortRanges();
  JobPhase gatherRuns();
  void chooseBounds(size_t ranges, uint64_t rows);
  uint8_t rangeOf(const SortEntry &entry) const;
  Share &share(size_t copy, size_t range) { return shares_[copy * (bounds_.size() + 1) + range]; }
  Status mergeSmallest(size_t runsMax);
  void publish();

  const plan::State &state_;
  const SortOrder order_;
  const bool isWindow_;
  const std::shared_ptr<MemoryAccount> account_;
  std::vector<SortCopy *> copies_;
  uint64_t rowCount_ = 0;
  std::atomic<uint64_t> furtherWords_{0};
  // In memory: the copies' rows, by ranges of their order.
  std::vector<Entries> listed_;   ///< by copy
  std::vector<SortEntry> bounds_; ///< the least of each range but the first
  std::array<uint64_t, kRangesMax> boundWords_ = greatestWords(); ///< theirs
  std::vector<uint64_t> boundNexts_;                              ///< their next words
  std::vector<size_t> boundEnds_; ///< where bounds of the same word end
  std::vector<Share> shares_;
  ScratchArray<uint8_t> ranges_; ///< by row
  ScratchArray<SortEntry> sorted_;
  ScratchArray<SortEntry> other_; ///< for sorting; empty: there was no room
  Entries rows_;
  // On disk.
  bool isOnDisk_ = false;
  bool areFew_ = false; ///< for a worker to wait for others
  std::vector<std::shared_ptr<const RowRun>> runs_;
};

} // namespace headrace::exec
