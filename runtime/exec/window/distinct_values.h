// The different values in frames: how often each is in the frame that is looked at.
#pragma once

#include "runtime/exec/window/frame_order.h"
#include "runtime/exec/window/frame_steps.h"

#include <span>

namespace headrace::exec {

/// Purpose: numbers the values of some rows of a partition, and follows frames from row to row:
/// what a frame has more than the one before is counted, what it has less is counted off. One a
/// worker.
class DistinctValues {
public:
  static constexpr uint32_t kNoValue = UINT32_MAX;

  explicit DistinctValues(std::shared_ptr<MemoryAccount> account)
      : order_(account), numbers_(account), counts_(account), examples_(account),
        found_(std::move(account)) {}

  /// Of the field's values in the rows `seen`; NULLs have none.
  Status number(const plan::State &state, int32_t field, const Partition &partition,
                RowSpanOf seen);
  /// Rows that are equal in an order have one value, numbered in this order; those where a field is
  /// NULL have none.
  Status number(const RowOrder &order, const plan::StateField &present, const Partition &partition,
                RowSpanOf seen);

  /// Calls put(row) for every row of a part, when the values of its frame are counted; before that
  /// comes(row) when a value is in the frame that was not, goes(row) when one no longer is.
  template <typename Comes, typename Goes, typename Put>
  void follow(const Frames &frames, RowSpanOf part, const Comes &comes, const Goes &goes,
              const Put &put) {
    auto add = [&](uint32_t row) {
      const uint32_t value = numberOf(row);
      if (value != kNoValue && counts_[value]++ == 0) {
        ++count_;
        comes(row);
      }
    };
    auto remove = [&](uint32_t row) {
      const uint32_t value = numberOf(row);
      if (value != kNoValue && --counts_[value] == 0) {
        --count_;
        goes(row);
      }
    };
    followFrames(frames, part, add, remove, put);
  }

  /// How many values the frame has.
  uint32_t count() const { return count_; }
  /// One row of each value that the frame, of these pieces, has, in the order of the values. Good
  /// until the next call.
  Expected<std::span<const uint32_t>> rowsOf(const Frames::Pieces &frame);
  /// Of each value that a frame has, the row that is first in an order, which has the rows with a
  /// value: at most so many, in this order. Good until the next call; not while frames are
  /// followed.
  Expected<std::span<const uint32_t>> firstsOf(const FrameOrder &order, const Frames::Pieces &frame,
                                               uint32_t most);

  /// How many values there are in all rows.
  uint32_t size() const { return static_cast<uint32_t>(counts_.size()); }
  /// The value of a row, or kNoValue.
  uint32_t numberOf(uint32_t row) const { return numbers_[row - seen_.begin]; }
  /// A row that has a value.
  uint32_t rowOf(uint32_t value) const { return examples_[value]; }
  /// Calls visit(row, next) for every row with a value; `next` is the next one that has it, or
  /// kNoValue.
  template <typename Visit> void visitEqual(const Visit &visit) const {
    for (uint32_t i = 0; i < present_; ++i) {
      const uint32_t row = order_[i].row;
      const bool isLast = i + 1 == present_ || numberOf(order_[i + 1].row) != numberOf(row);
      visit(row, isLast ? kNoValue : order_[i + 1].row);
    }
  }

private:
  struct Value {
    uint64_t prefix;
    uint32_t row;
  };

  RowSpanOf seen_{0, 0};
  uint32_t count_ = 0;
  uint32_t present_ = 0;            ///< rows with a value
  ScratchArray<Value> order_;       ///< these, by value and place
  ScratchArray<uint32_t> numbers_;  ///< of each row: its value
  ScratchArray<uint32_t> counts_;   ///< of each value, in the frame
  ScratchArray<uint32_t> examples_; ///< of each value: a row
  ScratchArray<uint32_t> found_;
};

} // namespace headrace::exec
