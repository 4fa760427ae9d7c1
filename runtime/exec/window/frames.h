// The rows that a window function sees from each row of a partition, as ranges of positions.
#pragma once

#include "model/plan/plan.h"
#include "runtime/base/status.h"
#include "runtime/exec/memory/scratch_array.h"

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <span>

namespace headrace::exec {

/// A list of values by position, some of which may be all that is in memory.
template <typename T> class Positions {
public:
  Positions() = default;
  template <typename Values>
    requires std::convertible_to<Values, std::span<T>>
  Positions(const Values &all) : held_(all), size_(std::span<T>(all).size()) {} // NOLINT
  /// `held`: those from `first` on.
  Positions(std::span<T> held, size_t first, size_t size)
      : held_(held), first_(first), size_(size) {}

  T &operator[](size_t position) const { return held_[position - first_]; }
  bool has(size_t position) const { return position >= first_ && position - first_ < held_.size(); }
  size_t size() const { return size_; }
  Positions first(size_t count) const { return {held_.first(count), first_, count}; }

private:
  std::span<T> held_;
  size_t first_ = 0, size_ = 0;
};

/// The rows of a partition in order, and its groups of peers.
struct Partition {
  Positions<uint8_t *const> rows;
  /// Of each row, and where each group begins (with the end of the last one). Empty where no
  /// function looks at peers.
  Positions<const uint32_t> group, groupBegin;
  /// Of a partition of which not all rows are in memory: some first ones, and the last.
  std::span<uint8_t *const> firstRows = {};
  uint8_t *lastRow = nullptr;

  uint32_t size() const { return static_cast<uint32_t>(rows.size()); }
  /// That a value is taken from.
  const uint8_t *rowAt(uint32_t row) const {
    return rows.has(row) ? rows[row] : row < firstRows.size() ? firstRows[row] : lastRow;
  }
  uint32_t peersBegin(uint32_t row) const { return groupBegin[group[row]]; }
  uint32_t peersEnd(uint32_t row) const { return groupBegin[group[row] + 1]; }
};

struct RowSpanOf {
  uint32_t begin, end;
  uint32_t size() const { return end - begin; }
};

/// Frames of some rows of a partition, its part. Use again for the next one.
class Frames {
public:
  explicit Frames(std::shared_ptr<MemoryAccount> account)
      : start_(account), end_(account), keys_(std::move(account)) {}

  /// Fails for a distance that is NULL, negative, or on the wrong side of the row.
  Status compute(const plan::State &state, const plan::WindowColumn &window,
                 const Partition &partition, RowSpanOf part);

  /// Neither end ever goes back, and nothing is excluded.
  bool isSliding() const { return sliding_; }
  /// Likewise, and all begin with the first row.
  bool isGrowing() const { return growing_; }
  uint32_t begin(uint32_t row) const { return start_.of(row, *this); }
  uint32_t end(uint32_t row) const { return std::max(end_.of(row, *this), begin(row)); }
  /// What is left of a row's frame without what is excluded: at most three ranges, in order.
  struct Pieces {
    RowSpanOf piece[3];
    uint32_t count = 0;
    uint32_t rows() const;
  };
  Pieces pieces(uint32_t row) const;
  /// All that frames of the part see, and perhaps more.
  RowSpanOf seen() const;

private:
  /// One end of frames: where it is, without a list where that can be said of all rows at once.
  struct Edge {
    enum class Kind : uint8_t { kFixed, kShifted, kPeersBegin, kPeersEnd, kListed };
    explicit Edge(std::shared_ptr<MemoryAccount> account) : list(std::move(account)) {}

    Kind kind = Kind::kFixed;
    int64_t number = 0; ///< the position, or how far from the row it is
    ScratchArray<uint32_t> list;

    uint32_t of(uint32_t row, const Frames &frames) const {
      const Partition &partition = *frames.partition_;
      switch (kind) {
      case Kind::kFixed:
        return static_cast<uint32_t>(number);
      case Kind::kShifted:
        return static_cast<uint32_t>(std::clamp<int64_t>(row + number, 0, partition.size()));
      case Kind::kPeersBegin:
        return partition.peersBegin(row);
      case Kind::kPeersEnd:
        return partition.peersEnd(row);
      case Kind::kListed:
        break;
      }
      return list[row - frames.part_.begin];
    }
  };

  Status computeEdge(const plan::State &state, const plan::WindowColumn &window, bool start);
  Status listCounts(const plan::State &state, const plan::WindowColumn &window, bool start);
  template <typename Key>
  Status listValues(const plan::State &state, const plan::WindowColumn &window, bool start);
  bool goesBack(const Edge &edge) const;

  const Partition *partition_ = nullptr;
  RowSpanOf part_{0, 0};
  plan::FrameExclusion exclude_ = plan::FrameExclusion::kNone;
  bool sliding_ = false, growing_ = false;
  Edge start_, end_;
  ScratchArray<uint8_t> keys_; ///< values of the order key
};

} // namespace headrace::exec
