// Where a row stands among the rows that a function of places looks at: those of its partition, of
// its frame, or of its frame in an order of their own. All count from 0.
#pragma once

#include "runtime/exec/window/frame_order.h"

namespace headrace::exec {

struct StandingInPartition {
  const Partition &partition;

  bool isInside(uint32_t) const { return true; }
  int64_t rows(uint32_t) const { return partition.size(); }
  int64_t position(uint32_t row) const { return row; }
  int64_t peersBegin(uint32_t row) const { return partition.peersBegin(row); }
  int64_t peersEnd(uint32_t row) const { return partition.peersEnd(row); }
  /// The row at a position as seen from a row.
  uint32_t at(uint32_t, int64_t position) const { return static_cast<uint32_t>(position); }
};

/// A row outside its frame stands before the first row or behind the last. So do its peers where
/// they end, but they may begin further behind: DuckDB counts them so.
struct StandingInFrame {
  const Partition &partition;
  const Frames &frames;

  bool isInside(uint32_t row) const { return frames.begin(row) <= row && row < frames.end(row); }
  int64_t rows(uint32_t row) const { return int64_t(frames.end(row)) - frames.begin(row); }
  int64_t position(uint32_t row) const {
    return std::clamp<int64_t>(int64_t(row) - frames.begin(row), 0, rows(row));
  }
  int64_t peersBegin(uint32_t row) const {
    return std::max<int64_t>(int64_t(partition.peersBegin(row)) - frames.begin(row), 0);
  }
  int64_t peersEnd(uint32_t row) const {
    return std::clamp<int64_t>(int64_t(partition.peersEnd(row)) - frames.begin(row), 0, rows(row));
  }
  uint32_t at(uint32_t row, int64_t position) const {
    return static_cast<uint32_t>(frames.begin(row) + position);
  }
};

/// A row outside its frame, or that does not count, stands where it would in it.
struct StandingInOrder {
  const FrameOrder &order;
  const Frames &frames;

  bool isInside(uint32_t row) const {
    return frames.begin(row) <= row && row < frames.end(row) && order.counts(row);
  }
  int64_t rows(uint32_t row) const { return order.size(frames.pieces(row)); }
  int64_t position(uint32_t row) const {
    return order.before(frames.pieces(row), order.placeOf(row).own);
  }
  int64_t peersBegin(uint32_t row) const {
    return order.before(frames.pieces(row), order.placeOf(row).peersBegin);
  }
  int64_t peersEnd(uint32_t row) const {
    return order.before(frames.pieces(row), order.placeOf(row).peersEnd);
  }
  uint32_t at(uint32_t row, int64_t position) const {
    return order.nth(frames.pieces(row), static_cast<uint32_t>(position));
  }
};

} // namespace headrace::exec
