// The rows of frames in an order of their own (`ORDER BY` in a function's arguments).
#pragma once

#include "runtime/exec/rows/row_order.h"
#include "runtime/exec/window/place_counts.h"

namespace headrace::exec {

/// Purpose: puts rows of a partition in an order, and finds for any frame where a row stands among
/// its rows, and which of them is the n-th, in O(log n). One a worker, for one function after the
/// other.
class FrameOrder {
public:
  explicit FrameOrder(const std::shared_ptr<MemoryAccount> &account)
      : entries_(account), counted_(account), places_(account), numbers_(account),
        counts_(account) {}

  /// Sorts the rows `seen` in O(n log n): of equal ones, those that come first in the partition
  /// come first. With `present` only rows count in which that field is not NULL.
  Status sort(const RowOrder &order, const Partition &partition, RowSpanOf seen,
              const plan::StateField *present);

  /// Whether a row counts.
  bool counts(uint32_t row) const { return counted_[row - first_] < counted_[row + 1 - first_]; }
  /// Of a row its place among all that count, where its peers begin, and where they end; of one
  /// that does not, where it would be.
  struct Place {
    uint32_t own, peersBegin, peersEnd;
  };
  const Place &placeOf(uint32_t row) const { return places_[row - first_]; }
  /// How many rows of a frame count.
  uint32_t size(const Frames::Pieces &frame) const { return counted(frame).rows(); }
  /// How many of these stand before a place.
  uint32_t before(const Frames::Pieces &frame, uint32_t place) const;
  /// The n-th of these (from 0); there are as many.
  uint32_t nth(const Frames::Pieces &frame, uint32_t n) const {
    return frame.rows() <= kFewRows ? nthOfFew(frame, n)
                                    : entries_[counts_.nth(counted(frame), n)].row;
  }

private:
  /// So many rows are sooner looked at: they lie together.
  static constexpr uint32_t kFewRows = 32;
  uint32_t nthOfFew(const Frames::Pieces &frame, uint32_t n) const;

  struct Entry {
    uint64_t prefix;
    uint32_t row;
  };
  /// The frame in positions among the rows that count.
  Frames::Pieces counted(Frames::Pieces frame) const {
    for (uint32_t i = 0; i < frame.count; ++i) {
      RowSpanOf &piece = frame.piece[i];
      piece = {counted_[piece.begin - first_], counted_[piece.end - first_]};
    }
    return frame;
  }

  uint32_t first_ = 0;
  ScratchArray<Entry> entries_;    ///< by place; behind them whatever is left
  ScratchArray<uint32_t> counted_; ///< of each row seen, how many before it count, and of all
  ScratchArray<Place> places_;     ///< of each row seen
  ScratchArray<uint32_t> numbers_;
  PlaceCounts counts_;
};

} // namespace headrace::exec
