// Several sorted runs as one.
#pragma once

#include "runtime/exec/rows/row_run.h"
#include "runtime/exec/sort/sort_order.h"

#include <vector>

namespace headrace::exec {

/// Rows in order, and what they are in.
struct MergedRows {
  std::vector<const uint8_t *> rows;
  std::vector<std::shared_ptr<const void>> blocks;
};

/// Purpose: the rows of a state that wait on disk, one after the other. Not thread-safe.
class RowReader {
public:
  virtual ~RowReader() = default;
  /// Up to `count` rows, fewer at the end or if they are large; one at least.
  virtual Status take(uint64_t count, MergedRows &out) = 0;
};

/// Purpose: a tournament of the runs; a piece of each is in memory. Not thread-safe. `state`
/// outlives it. A copy goes on from the same row by itself.
class RunMerge final : public RowReader {
public:
  RunMerge(const plan::State &state, std::span<const std::shared_ptr<const RowRun>> runs,
           std::shared_ptr<MemoryAccount> account);

  /// What take() gives keeps so many pieces in memory, beside those that are being read.
  void setTakenPieces(size_t pieces) { takenPieces_ = pieces; }
  /// Leaves out whole pieces of at most the first `rows` rows; of how many. Before start(), which
  /// then stands at the next one.
  uint64_t skip(uint64_t rows);
  /// Before anything else.
  Status start();
  /// The next row; null behind the last.
  const uint8_t *row() const { return entries_[winner_].row; }
  Status advance();
  /// What holds the row, and the number of its run.
  const std::shared_ptr<const void> &piece() const { return readers_[winner_].block(); }
  size_t run() const { return winner_; }
  size_t runs() const { return readers_.size(); }
  Status take(uint64_t count, MergedRows &out) override;

private:
  bool isBefore(size_t a, size_t b) const;
  /// Plays for the node and what is below it: the winner; losers stay.
  size_t play(size_t node);

  /// To its next row.
  Status advance(size_t reader);

  const SortOrder order_;
  const std::vector<std::shared_ptr<const RowRun>> runs_;
  std::vector<RunReader> readers_;
  std::vector<SortEntry> entries_; ///< where each stands
  /// Of nodes 1 to n - 1 of a tree; the leaves n to 2n - 1 are the readers.
  std::vector<size_t> losers_;
  size_t winner_ = 0;
  size_t takenPieces_ = 8;
};

} // namespace headrace::exec
