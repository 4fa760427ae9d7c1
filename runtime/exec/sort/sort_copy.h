// What one worker has of a state that is sorted.
#pragma once

#include "runtime/exec/rows/row_run.h"
#include "runtime/exec/rows/state_copy.h"
#include "runtime/exec/sort/sort_order.h"

#include <span>

namespace headrace::exec {

/// Purpose: rows that a kernel appends, and runs of those that memory had no room for. Of a state
/// that wants the first rows only, now and then all others are left out. Rows of a window state are
/// sorted by partition, and leave without the fields that are computed.
class SortCopy final : public RowBufferCopy {
public:
  SortCopy(const plan::State &state, std::shared_ptr<MemoryAccount> account);

  Status grow() override;
  Status keep(HrString *text) override;

  /// The rows that are in memory, or as many of the first of them as are wanted, in no order. Takes
  /// no memory. They stay until more are appended.
  std::span<SortEntry> firstRows();
  /// The rows are sorted elsewhere: gives back what was set aside for that.
  void releaseEntries() { entries_.reset(); }
  /// Makes a run of the rows that are in memory. Errors: those of the spill file.
  Status spill();
  /// The same, for good: nothing stays in memory.
  Status spillAll();
  std::span<const std::shared_ptr<const RowRun>> runs() const { return runs_; }

private:
  /// With fewer texts and one block of rows a copy is not worth a buffer to write from.
  static constexpr int64_t kSmallTexts = 64 << 10;

  Status addBlock();
  Status prepareEntries(uint64_t rows);
  void askForRow(const uint8_t *row) const;
  void askForTexts(const uint8_t *row) const;
  void forgetResults(uint8_t *row) const;
  Status prepareToSpill();
  void endBlock();
  bool isCrowded() const;
  bool canSpill() const { return abi_.rows > 0 && staging_; }
  std::span<SortEntry> listRows();
  Status prune();
  void tellBound(const uint8_t *row);
  void forgetBound();
  void clear();

  const SortOrder order_;
  Block entries_; ///< one for each row that the blocks have room for
  int64_t textBytes_ = 0;
  int64_t textsSeenAt_ = kSmallTexts; ///< when memory is looked at again
  /// What a run is written from, and texts that memory has no room for, until their row is
  /// complete.
  Block staging_, lastTexts_;
  uint64_t lastTextBytes_ = 0;
  bool isFull_ = false; ///< by its texts
  std::vector<std::shared_ptr<const RowRun>> runs_;
  // Where the first rows are wanted.
  const uint64_t pruneAt_;
  uint64_t firstRows_ = 0; ///< of the rows, so many are known to be the first so far
  SortEntry bound_{};      ///< the last of these
};

} // namespace headrace::exec
