// Folds the values of every row's frame. Rows come and go at the ends of most frames: what grows is
// folded as it comes; sums of integers are differences of sums from the first row on; what slides
// is folded by two stacks (each value at most twice, none is ever taken away again), anything else
// by a tree of folds.
#pragma once

#include "runtime/base/stop.h"
#include "runtime/exec/window/frames.h"

#include <concepts>

namespace headrace::exec {

/// A value, or nothing yet.
template <typename Value> struct Folded {
  Value value{};
  bool valid = false;
};

/// Where frames that grow may begin to fold: behind the first `rows` rows, whose fold is known.
template <typename Value> struct KnownFold {
  uint32_t rows = 0;
  Folded<Value> folded;
};

/// Purpose: folds frames of one part of a partition after another. `Fold` says how two values
/// combine: `Value operator()(Value, Value)`, in any grouping. `Read`: the Folded value of a row.
template <typename Value, typename Fold, typename Read> class FrameFolder {
public:
  using value_type = Value;

  FrameFolder(Fold &fold, const Read &read, ScratchArray<uint8_t> &scratch)
      : fold_(fold), read_(read), scratch_(scratch) {}

  Folded<Value> combined(const Folded<Value> &a, const Folded<Value> &b) {
    if (!a.valid) {
      return b;
    }
    return b.valid ? Folded<Value>{fold_(a.value, b.value), true} : a;
  }

  Folded<Value> valueOf(uint32_t row) const { return read_(row); }

  /// The values of some rows.
  Folded<Value> total(RowSpanOf rows) {
    Folded<Value> all;
    for (uint32_t row = rows.begin; row < rows.end; ++row) {
      all = combined(all, read_(row));
    }
    return all;
  }

  /// Calls put(row, folded) for every row of a part, whose frames are growing.
  template <typename Put>
  void grow(const Frames &frames, RowSpanOf part, KnownFold<Value> known, const Put &put) {
    Folded<Value> all = known.folded;
    uint32_t next = known.rows;
    for (uint32_t row : RowsUntilStopped(part.begin, part.end)) {
      for (uint32_t end = frames.end(row); next < end; ++next) {
        all = combined(all, read_(next));
      }
      put(row, all);
    }
  }

  /// Likewise, whatever the frames, for sums that no partition's values exceed.
  template <typename Put>
  Status subtract(const Frames &frames, RowSpanOf part, const Put &put)
    requires std::integral<Value> || std::same_as<Value, __int128>
  {
    struct Sum {
      Value value;
      uint32_t valid;
    };
    RowSpanOf seen = frames.seen();
    HR_RETURN_IF_ERROR(scratch_.resize((uint64_t(seen.size()) + 1) * sizeof(Sum)));
    auto *sums = reinterpret_cast<Sum *>(scratch_.data());
    sums[0] = {0, 0};
    for (uint32_t i = 0; i < seen.size(); ++i) {
      Folded<Value> value = read_(seen.begin + i);
      sums[i + 1] = {sums[i].value + (value.valid ? value.value : 0),
                     sums[i].valid + (value.valid ? 1 : 0)};
    }
    for (uint32_t row : RowsUntilStopped(part.begin, part.end)) {
      Frames::Pieces pieces = frames.pieces(row);
      Value value = 0;
      uint32_t valid = 0;
      for (uint32_t i = 0; i < pieces.count; ++i) {
        const Sum &to = sums[pieces.piece[i].end - seen.begin];
        const Sum &from = sums[pieces.piece[i].begin - seen.begin];
        value += to.value - from.value;
        valid += to.valid - from.valid;
      }
      put(row, Folded<Value>{value, valid > 0});
    }
    return {};
  }

  /// Likewise, of frames that slide. Values [begin, middle) are folded from the back, so that the
  /// first can go: back has [i, middle) for each. Values [middle, next) are folded as they come.
  template <typename Put> Status slide(const Frames &frames, RowSpanOf part, const Put &put) {
    RowSpanOf seen = frames.seen();
    HR_RETURN_IF_ERROR(scratch_.resize(uint64_t(seen.size()) * sizeof(Folded<Value>)));
    auto *back = reinterpret_cast<Folded<Value> *>(scratch_.data());
    uint32_t middle = 0, next = 0;
    Folded<Value> front;
    for (uint32_t row : RowsUntilStopped(part.begin, part.end)) {
      uint32_t begin = frames.begin(row), end = frames.end(row);
      if (begin >= end) {
        put(row, Folded<Value>());
        continue;
      }
      if (begin >= middle) { // nothing that was folded from the back is left
        front = {};
        Folded<Value> folded;
        for (uint32_t i = end; i > begin; --i) {
          folded = combined(read_(i - 1), folded);
          back[i - 1 - seen.begin] = folded;
        }
        middle = next = end;
      }
      for (; next < end; ++next) {
        front = combined(front, read_(next));
      }
      put(row, combined(back[begin - seen.begin], front));
    }
    return {};
  }

  /// Likewise, whatever the frames. tree[n + i] is value i, tree[i] is of tree[2i] and tree[2i +
  /// 1].
  template <typename Put> Status climb(const Frames &frames, RowSpanOf part, const Put &put) {
    RowSpanOf seen = frames.seen();
    size_t count = seen.size();
    HR_RETURN_IF_ERROR(scratch_.resize(2 * count * sizeof(Folded<Value>)));
    auto *tree = reinterpret_cast<Folded<Value> *>(scratch_.data());
    for (size_t i = 0; i < count; ++i) {
      tree[count + i] = read_(seen.begin + static_cast<uint32_t>(i));
    }
    for (size_t node = count; node-- > 1;) {
      tree[node] = combined(tree[2 * node], tree[2 * node + 1]);
    }
    for (uint32_t row : RowsUntilStopped(part.begin, part.end)) {
      Folded<Value> all;
      Frames::Pieces pieces = frames.pieces(row);
      for (uint32_t i = 0; i < pieces.count; ++i) {
        size_t low = pieces.piece[i].begin - seen.begin + count;
        size_t high = pieces.piece[i].end - seen.begin + count;
        for (; low < high; low /= 2, high /= 2) {
          if (low % 2 == 1) {
            all = combined(all, tree[low++]);
          }
          if (high % 2 == 1) {
            all = combined(all, tree[--high]);
          }
        }
      }
      put(row, all);
    }
    return {};
  }

private:
  Fold &fold_;
  const Read &read_;
  ScratchArray<uint8_t> &scratch_;
};

} // namespace headrace::exec
