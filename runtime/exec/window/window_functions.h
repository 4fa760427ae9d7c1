// Window functions over one partition at a time, or a part of a large one.
#pragma once

#include "runtime/base/quantile.h"
#include "runtime/base/stop.h"
#include "runtime/exec/window/distinct_values.h"
#include "runtime/exec/window/fold_frames.h"
#include "runtime/exec/window/frame_order.h"
#include "runtime/exec/window/frequent_values.h"
#include "runtime/exec/window/present_numbers.h"

#include <optional>
#include <vector>

namespace headrace::exec {

/// A fold of any type.
struct AnyFold {
  alignas(16) uint8_t value[16];
  bool valid = false;
};

/// Of a large partition: for some numbers of rows, the fold of so many first rows by each function
/// that folds from the first row on. What a part of the partition begins with.
struct RunningFolds {
  std::vector<uint32_t> rows;               ///< ascending, the first is 0
  std::vector<std::vector<AnyFold>> folded; ///< of each of these, by function
};

/// Purpose: computes the fields of a window state for the rows of partitions. One a worker: keeps
/// its scratch from partition to partition. `state` must outlive it.
class WindowFunctions {
public:
  WindowFunctions(const plan::State &state, std::shared_ptr<MemoryAccount> account);

  /// Whether partitions need their groups of peers.
  static bool needPeers(const plan::State &state);
  /// Whether RunningFolds help.
  static bool foldFromFirst(const plan::State &state);

  /// Sets the computed fields of some rows of a partition. `known` may be null.
  Status compute(const Partition &partition, RowSpanOf part, const RunningFolds *known = nullptr);

  /// The lists that rows point to; none are made afterwards.
  BumpArena takeLists() { return std::move(lists_); }

  /// The folds of some rows, one a function, as RunningFolds has them.
  Status total(const Partition &partition, RowSpanOf rows, std::vector<AnyFold> &folds);
  /// Adds the folds of the rows behind those that `folds` are of.
  Status append(std::vector<AnyFold> &folds, const std::vector<AnyFold> &next);

private:
  Status compute(const plan::WindowColumn &window, size_t number);
  /// Of functions of places: what standings.h says of rows. The others: of rows of frames.
  Status computePlace(const plan::WindowColumn &window);
  template <typename Standing>
  Status computePlace(const plan::WindowColumn &window, const Standing &standing);
  template <typename Standing>
  void computeRank(const plan::WindowColumn &window, const Standing &standing);
  template <typename Standing>
  Status computeNtile(const plan::WindowColumn &window, const Standing &standing);
  template <typename Standing>
  Status computeNeighbour(const plan::WindowColumn &window, const Standing &standing);
  Status computeCollected(const plan::WindowColumn &window);
  /// Gives each row the list that make(pieces, row) makes of its frame.
  template <typename Make> Status computeLists(const plan::WindowColumn &window, const Make &make);
  Status computeDistinctLists(const plan::WindowColumn &window, size_t number);
  Status computeFirstsOfValues(const plan::WindowColumn &window);
  /// How many lists a row collects of so many.
  uint32_t listsOf(const plan::WindowColumn &window, uint32_t row, uint32_t rows) const;
  /// Gives a row the elements of all lists of some rows, in an order if there is one.
  Status collect(const plan::WindowColumn &window, const Frames::Pieces &from, uint32_t row);
  /// Likewise of the rows for which eachRow(visit) calls visit(row).
  template <typename EachRow>
  Status collectRows(const plan::WindowColumn &window, const EachRow &eachRow, uint32_t row);
  Status computeMode(const plan::WindowColumn &window);
  Status computeQuantiles(const plan::WindowColumn &window, size_t number);
  Status computeDistinctQuantiles(const plan::WindowColumn &window, size_t number);
  /// Gives a row the list of the quantiles of so many rows: rowAt(n) is the n-th in their order.
  template <typename RowAt>
  Status setQuantiles(const plan::WindowColumn &window, uint32_t row, uint32_t count,
                      const RowAt &rowAt);
  Status computeValue(const plan::WindowColumn &window);
  /// The row with a number among those of some pieces; these are of present_ if `amongPresent`.
  uint32_t rowOf(const Frames::Pieces &pieces, uint32_t number, bool amongPresent) const;
  void countRows(const plan::WindowColumn &window);
  Status computeFold(const plan::WindowColumn &window, size_t number);
  Status computeDistinct(const plan::WindowColumn &window);

  /// Calls visit(folder) with the FrameFolder of a function that folds.
  template <typename Visit> Status visitFold(const plan::WindowColumn &window, const Visit &visit);
  template <typename Value, typename Fold, typename Visit>
  Status visitValues(const plan::WindowColumn &window, Fold &&fold, const Visit &visit);
  template <typename Value, typename Visit>
  Status visitExtremes(const plan::WindowColumn &window, const Visit &visit);
  template <typename Value, typename Visit>
  Status visitBits(const plan::WindowColumn &window, const Visit &visit);

  /// Puts rows in a function's order; with `present` those where that field is not NULL.
  Status putInOrder(size_t number, const plan::StateField *present);
  /// Lists which of some rows have a field that is not NULL.
  Status listPresent(const plan::StateField &field, RowSpanOf rows);
  /// How many of those are before a row.
  uint32_t presentBefore(uint32_t row) const;
  /// Copies a field of a row (or NULL) into the result's of another row.
  void copyValue(const plan::WindowColumn &window, uint32_t row, const uint8_t *from,
                 int32_t field);
  /// The count of a function in a row; nothing if it is NULL.
  std::optional<int64_t> countOf(const plan::WindowColumn &window, uint32_t row) const;
  const plan::StateField &field(int32_t index) const { return state_.fields[index]; }

  const plan::State &state_;
  const Partition *partition_ = nullptr;
  RowSpanOf part_{0, 0};
  const RunningFolds *known_ = nullptr;
  Frames frames_;
  std::vector<RowOrder> orders_; ///< of each function
  FrameOrder order_;             ///< of the rows of its frames, of a function that has one
  ScratchArray<uint32_t> present_;
  uint32_t presents_ = 0; ///< of present_
  ScratchArray<uint8_t> scratch_;
  DistinctValues distinct_;
  FrequentValues frequent_;
  PresentNumbers presentValues_; ///< those of distinct_ in a frame
  std::vector<QuantileElement> quantiles_;
  BumpArena lists_; ///< that it made: rows point to them as long as this lives
};

template <typename Make>
Status WindowFunctions::computeLists(const plan::WindowColumn &window, const Make &make) {
  Frames::Pieces before;
  for (uint32_t row : RowsUntilStopped(part_.begin, part_.end)) {
    const Frames::Pieces pieces = frames_.pieces(row);
    if (stopRequested()) { // a frame may be long
      break;
    }
    const bool isSame =
        row > part_.begin && window.count.field == plan::kNone && before.count == pieces.count &&
        std::equal(pieces.piece, pieces.piece + pieces.count, before.piece,
                   [](RowSpanOf a, RowSpanOf b) { return a.begin == b.begin && a.end == b.end; });
    if (isSame) { // as all rows of a partition, or peers
      copyValue(window, row, partition_->rows[row - 1], window.result);
    } else {
      copyValue(window, row, nullptr, window.input);
      HR_RETURN_IF_ERROR(make(pieces, row));
    }
    before = pieces;
  }
  return {};
}

} // namespace headrace::exec
