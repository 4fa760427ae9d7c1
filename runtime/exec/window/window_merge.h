// The rows of a window state that wait on disk in sorted runs: merged, and their fields computed,
// as they are read.
#pragma once

#include "runtime/exec/sort/run_merge.h"
#include "runtime/exec/window/entry_order.h"
#include "runtime/exec/window/frame_reach.h"
#include "runtime/exec/window/window_functions.h"

#include <memory>
#include <optional>
#include <vector>

namespace headrace::exec {

/// Purpose: the rows of merged runs one after the other, with the pieces that those are in which
/// are still wanted. Not thread-safe. A copy goes on from the same row by itself.
class HeldRows {
public:
  using Pins = std::vector<std::shared_ptr<const void>>;

  HeldRows(const EntryOrder &order, RunMerge merge)
      : order_(&order), merge_(std::move(merge)), newest_(merge_.runs()) {}

  /// How the row that the merge stands at belongs to the one that was taken last.
  enum class Step : uint8_t { kPeer, kSamePartition, kOtherPartition, kEnd };
  Step next() const;
  /// Takes the row that the merge stands at.
  Expected<uint8_t *> take();
  uint64_t taken() const { return taken_; }
  /// Goes on from the same row by itself, and holds nothing yet.
  HeldRows fromHere() const;

  size_t pieces() const { return held_.size(); }
  size_t runs() const { return newest_.size(); }
  /// All but the last `count` rows that were taken are not wanted any more.
  void keepLast(uint64_t count);
  /// What the rows lie in that are still wanted, of those that were taken before `before` others.
  void pin(uint64_t before, Pins &pins) const;
  const std::shared_ptr<const void> &lastPiece() const { return lastPiece_; }

private:
  struct Held {
    std::shared_ptr<const void> piece;
    uint64_t first, last; ///< of its rows, counted from the first that was taken
  };
  const EntryOrder *order_;
  RunMerge merge_;
  std::vector<std::shared_ptr<Held>> held_;
  std::vector<std::shared_ptr<Held>> newest_; ///< of each run, or null
  std::optional<Entry> last_;
  std::shared_ptr<const void> lastPiece_; ///< where last_ is
  uint64_t taken_ = 0;
};

/// Purpose: RowReader of a window state. Partitions that fit are computed whole. One that does not
/// is read twice: to count and fold it, then piece by piece with as many rows before and behind
/// each as its functions see. Not thread-safe. `state` outlives it. Errors: those of the spill
/// file; kMemory for a partition whose functions need all of it.
class WindowMerge final : public RowReader {
public:
  WindowMerge(const plan::State &state, RunMerge merge, std::shared_ptr<MemoryAccount> account,
              int64_t roomBytes);

  Status take(uint64_t count, MergedRows &out) override;

private:
  using Pins = HeldRows::Pins;
  /// Many peers: where they end, and the folds of all rows up to there.
  struct LargeGroup {
    uint64_t begin, end;
    std::vector<AnyFold> folds;
  };
  struct LargePartition {
    // Of the first reading.
    uint64_t rows = 0;
    std::vector<AnyFold> folds; ///< of all rows
    std::vector<LargeGroup> groups;
    std::vector<uint8_t *> firstRows;
    uint8_t *lastRow = nullptr;
    Pins pins; ///< what these lie in, and texts of folds
    // Of the second reading: the positions of the first row in memory and of the first that is not
    // computed.
    uint64_t first = 0, next = 0;
    std::vector<AnyFold> heldFolds; ///< of the rows before `first`
    uint64_t firstGroup = 0, firstGroupBegin = 0;
  };

  Status computeNext();
  Status computeWhole(uint64_t end);
  void listGroups(uint64_t begin, uint64_t end);
  bool isFull() const;
  Status append(HeldRows::Step step);
  void forget(uint64_t rows);

  Status startLarge();
  Status computeLarge();
  uint64_t endOfPiece(uint64_t end) const;
  RunningFolds knownFolds() const;
  const LargeGroup *largeGroupAt(uint64_t row) const;
  void listLargeGroups();
  Status drop(uint64_t before);
  /// Adds the folds of rows to `folds`; what texts they have goes to `texts`.
  Status fold(std::span<uint8_t *const> rows, std::vector<AnyFold> &folds, Pins &texts);

  const plan::State &state_;
  const std::shared_ptr<MemoryAccount> account_;
  const EntryOrder order_;
  const FrameReach reach_;
  const bool needsPeers_, folds_;
  const size_t piecesMax_;
  const uint64_t rowsMax_;
  HeldRows rows_;
  WindowFunctions functions_;
  // Rows in memory: some partitions, or a part of the large one.
  ScratchArray<uint8_t *> held_;
  ScratchArray<HeldRows::Step> steps_; ///< of each, from the one before
  uint64_t count_ = 0;
  ScratchArray<uint32_t> group_, groupBegin_;
  uint64_t groups_ = 0;
  std::optional<LargePartition> large_;
  uint64_t ready_ = 0, given_ = 0; ///< of the rows in memory, so many are computed, and given out
};

} // namespace headrace::exec
