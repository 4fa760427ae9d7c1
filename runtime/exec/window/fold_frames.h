// Folds the values of every row's frame. Rows come and go at the ends of most frames: what grows is
// folded once, what slides by two stacks (each value is folded at most twice, none is ever taken
// away again), anything else by a tree of folds.
#pragma once

#include "runtime/exec/window/frames.h"

#include <vector>

namespace headrace::exec {

/// A value, or nothing yet.
template <typename Value> struct Folded {
  Value value{};
  bool valid = false;
};

/// `Fold` says how two values combine: `Value operator()(Value, Value)`, in any grouping.
template <typename Value, typename Fold> class FrameFolder {
public:
  explicit FrameFolder(Fold &fold) : fold_(fold) {}

  /// Calls put(row, folded) for every row of the partition.
  template <typename Put>
  void run(const Frames &frames, const std::vector<Folded<Value>> &values, const Put &put) {
    auto rows = static_cast<uint32_t>(values.size());
    if (frames.isWhole()) {
      Folded<Value> all;
      for (const Folded<Value> &value : values) {
        all = combined(all, value);
      }
      for (uint32_t row = 0; row < rows; ++row) {
        put(row, all);
      }
    } else if (frames.isGrowing()) {
      Folded<Value> all;
      for (uint32_t row = 0, next = 0; row < rows; ++row) {
        for (; next < frames.end(row); ++next) {
          all = combined(all, values[next]);
        }
        put(row, all);
      }
    } else if (frames.isSliding()) {
      slide(frames, values, put);
    } else {
      climb(frames, values, put);
    }
  }

private:
  Folded<Value> combined(const Folded<Value> &a, const Folded<Value> &b) {
    if (!a.valid) {
      return b;
    }
    return b.valid ? Folded<Value>{fold_(a.value, b.value), true} : a;
  }

  /// Values [begin, middle) are folded from the back, so that the first can go: back_[i] is of
  /// [i, middle). Values [middle, next) are folded as they come.
  template <typename Put>
  void slide(const Frames &frames, const std::vector<Folded<Value>> &values, const Put &put) {
    back_.resize(values.size());
    uint32_t middle = 0, next = 0;
    Folded<Value> front;
    for (uint32_t row = 0; row < values.size(); ++row) {
      uint32_t begin = frames.begin(row), end = frames.end(row);
      if (begin >= end) {
        put(row, Folded<Value>());
        continue;
      }
      if (begin >= middle) { // nothing that was folded from the back is left
        front = {};
        Folded<Value> back;
        middle = end;
        for (uint32_t i = end; i > begin; --i) {
          back = combined(values[i - 1], back);
          back_[i - 1] = back;
        }
        next = end;
      }
      for (; next < end; ++next) {
        front = combined(front, values[next]);
      }
      put(row, combined(back_[begin], front));
    }
  }

  /// tree_[n + i] is value i, tree_[i] is of tree_[2i] and tree_[2i + 1].
  template <typename Put>
  void climb(const Frames &frames, const std::vector<Folded<Value>> &values, const Put &put) {
    size_t count = values.size();
    tree_.resize(2 * count);
    std::copy(values.begin(), values.end(), tree_.begin() + static_cast<ptrdiff_t>(count));
    for (size_t node = count; node-- > 1;) {
      tree_[node] = combined(tree_[2 * node], tree_[2 * node + 1]);
    }
    for (uint32_t row = 0; row < count; ++row) {
      Folded<Value> all;
      Frames::Pieces pieces = frames.pieces(row);
      for (uint32_t i = 0; i < pieces.count; ++i) {
        size_t low = pieces.piece[i].begin + count, high = pieces.piece[i].end + count;
        for (; low < high; low /= 2, high /= 2) {
          if (low % 2 == 1) {
            all = combined(all, tree_[low++]);
          }
          if (high % 2 == 1) {
            all = combined(all, tree_[--high]);
          }
        }
      }
      put(row, all);
    }
  }

  Fold &fold_;
  std::vector<Folded<Value>> back_, tree_;
};

} // namespace headrace::exec
