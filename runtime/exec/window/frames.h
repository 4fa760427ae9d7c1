// The rows that a window function sees from each row of a partition, as ranges of positions.
#pragma once

#include "model/plan/plan.h"
#include "runtime/base/status.h"

#include <cstdint>
#include <span>
#include <vector>

namespace headrace::exec {

/// The rows of a partition in order, and its groups of peers.
struct Partition {
  std::span<uint8_t *const> rows;
  /// Of each row, and where each group begins (with the end of the last one).
  std::vector<uint32_t> group, groupBegin;

  uint32_t size() const { return static_cast<uint32_t>(rows.size()); }
  uint32_t peersBegin(uint32_t row) const { return groupBegin[group[row]]; }
  uint32_t peersEnd(uint32_t row) const { return groupBegin[group[row] + 1]; }
};

struct RowSpanOf {
  uint32_t begin, end;
};

/// Frames of all rows of a partition. Use again for the next one.
class Frames {
public:
  /// Fails for a distance that is NULL, negative, or on the wrong side of the row.
  Status compute(const plan::State &state, const plan::WindowColumn &window,
                 const Partition &partition);

  /// All rows of the partition, from every row.
  bool isWhole() const { return whole_; }
  /// Neither end ever goes back, and nothing is excluded.
  bool isSliding() const { return sliding_; }
  /// Likewise, and all begin with the first row.
  bool isGrowing() const { return growing_; }
  uint32_t begin(uint32_t row) const { return begin_[row]; }
  uint32_t end(uint32_t row) const { return end_[row]; }
  /// What is left of a row's frame without what is excluded: at most three ranges, in order.
  struct Pieces {
    RowSpanOf piece[3];
    uint32_t count = 0;
    uint32_t rows() const;
  };
  Pieces pieces(uint32_t row) const;

private:
  template <typename Key>
  Status computeValues(const plan::State &state, const plan::WindowColumn &window);
  Status computeCounts(const plan::State &state, const plan::WindowColumn &window);

  const Partition *partition_ = nullptr;
  plan::FrameExclusion exclude_ = plan::FrameExclusion::kNone;
  bool whole_ = false, sliding_ = false, growing_ = false;
  std::vector<uint32_t> begin_, end_;
};

} // namespace headrace::exec
