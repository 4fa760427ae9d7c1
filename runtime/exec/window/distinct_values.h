// The different values in frames: how often each is in the frame that is looked at.
#pragma once

#include "runtime/base/stop.h"
#include "runtime/exec/window/frames.h"

#include <utility>

namespace headrace::exec {

/// Purpose: numbers the values of some rows of a partition, and follows frames from row to row:
/// what a frame has more than the one before is counted, what it has less is counted off. One a
/// worker.
class DistinctValues {
public:
  explicit DistinctValues(std::shared_ptr<MemoryAccount> account)
      : order_(account), numbers_(account), counts_(account), examples_(std::move(account)) {}

  /// Of the field's values in the rows `seen`; NULLs have none.
  Status number(const plan::State &state, int32_t field, const Partition &partition,
                RowSpanOf seen);

  /// Calls put(row) for every row of a part, when the values of its frame are counted; before that
  /// comes(row) when a value is in the frame that was not, goes(row) when one no longer is.
  template <typename Comes, typename Goes, typename Put>
  void follow(const Frames &frames, RowSpanOf part, const Comes &comes, const Goes &goes,
              const Put &put) {
    StopCheck check;
    uint32_t moved = 0; // rows, since the last check
    auto add = [&](RowSpanOf rows) {
      moved += rows.size();
      for (uint32_t row = rows.begin; row < rows.end; ++row) {
        uint32_t value = numbers_[row - seen_.begin];
        if (value != kNoValue && counts_[value]++ == 0) {
          ++count_;
          comes(row);
        }
      }
    };
    auto remove = [&](RowSpanOf rows) {
      moved += rows.size();
      for (uint32_t row = rows.begin; row < rows.end; ++row) {
        uint32_t value = numbers_[row - seen_.begin];
        if (value != kNoValue && --counts_[value] == 0) {
          --count_;
          goes(row);
        }
      }
    };
    RowSpanOf now{seen_.begin, seen_.begin};
    for (uint32_t row = part.begin; row < part.end; ++row) {
      if (check.isStoppedAfter(1 + std::exchange(moved, 0))) {
        return;
      }
      RowSpanOf next{frames.begin(row), frames.end(row)};
      if (next.begin >= now.end || next.end <= now.begin) {
        remove(now);
        add(next);
      } else {
        remove({now.begin, std::max(now.begin, next.begin)});
        remove({std::min(now.end, next.end), now.end});
        add({next.begin, std::max(now.begin, next.begin)});
        add({std::min(now.end, next.end), next.end});
      }
      now = next;
      // What is excluded lies between the pieces, and comes back for the next row.
      Frames::Pieces pieces = frames.pieces(row);
      auto overGaps = [&](const auto &visit) {
        uint32_t at = next.begin;
        for (uint32_t i = 0; i < pieces.count; ++i) {
          visit(RowSpanOf{at, pieces.piece[i].begin});
          at = pieces.piece[i].end;
        }
        visit(RowSpanOf{at, next.end});
      };
      overGaps(remove);
      put(row);
      overGaps(add);
    }
  }

  /// How many values the frame has.
  uint32_t count() const { return count_; }
  /// Calls visit(row) with one row of each value that the frame has.
  template <typename Visit> void visit(const Visit &visit) const {
    for (uint32_t value = 0; value < counts_.size(); ++value) {
      if (counts_[value] > 0) {
        visit(examples_[value]);
      }
    }
  }

private:
  static constexpr uint32_t kNoValue = UINT32_MAX;
  struct Value {
    uint64_t prefix;
    uint32_t row;
  };

  RowSpanOf seen_{0, 0};
  uint32_t count_ = 0;
  ScratchArray<Value> order_;
  ScratchArray<uint32_t> numbers_;  ///< of each row: its value
  ScratchArray<uint32_t> counts_;   ///< of each value, in the frame
  ScratchArray<uint32_t> examples_; ///< of each value: a row
};

} // namespace headrace::exec
