// Rows are put in order of their values; equal ones get one number.
#include "runtime/exec/window/distinct_values.h"

#include "runtime/base/stop.h"
#include "runtime/exec/rows/field_values.h"

#include <algorithm>

namespace headrace::exec {

Status DistinctValues::number(const plan::State &state, int32_t field, const Partition &partition,
                              RowSpanOf seen) {
  const plan::OrderKey key{field, /*descending=*/false, /*nullsFirst=*/false};
  return number(RowOrder(state, {&key, 1}), state.fields[field], partition, seen);
}

Status DistinctValues::number(const RowOrder &order, const plan::StateField &present,
                              const Partition &partition, RowSpanOf seen) {
  seen_ = seen;
  count_ = 0;
  present_ = 0;
  HR_RETURN_IF_ERROR(order_.resize(seen.size()));
  HR_RETURN_IF_ERROR(numbers_.resize(seen.size()));
  for (uint32_t row = seen.begin; row < seen.end; ++row) {
    numbers_[row - seen.begin] = kNoValue;
    if (isValid(present, partition.rows[row])) {
      order_[present_++] = {order.prefix(partition.rows[row]), row};
    }
  }
  auto compare = [&](const Value &a, const Value &b) {
    if (a.prefix != b.prefix) {
      return a.prefix < b.prefix ? -1 : 1;
    }
    return order.isExact() ? 0 : order.compare(partition.rows[a.row], partition.rows[b.row]);
  };
  Value *values = order_.data();
  StopCheck check;
  auto isBefore = [&](const Value &a, const Value &b) {
    const int less = compare(a, b);
    return less != 0 ? less < 0 : a.row < b.row;
  };
  std::sort(values, values + present_, untilStopped(check, isBefore));
  HR_RETURN_IF_ERROR(examples_.resize(present_));
  uint32_t different = 0;
  for (uint32_t i = 0; i < present_; ++i) {
    if (i == 0 || compare(values[i - 1], values[i]) != 0) {
      examples_[different++] = values[i].row;
    }
    numbers_[values[i].row - seen.begin] = different - 1;
  }
  HR_RETURN_IF_ERROR(counts_.resize(different));
  std::fill_n(counts_.data(), different, 0);
  return {};
}

Expected<std::span<const uint32_t>> DistinctValues::rowsOf(const Frames::Pieces &frame) {
  const uint32_t rows = frame.rows();
  HR_RETURN_IF_ERROR(found_.resize(std::max(count_, std::min(rows, size()))));
  uint32_t found = 0;
  if (rows < size()) { // sooner looked at than all values
    for (uint32_t i = 0; i < frame.count; ++i) {
      for (uint32_t row = frame.piece[i].begin; row < frame.piece[i].end; ++row) {
        if (numberOf(row) != kNoValue) {
          found_[found++] = numberOf(row);
        }
      }
    }
    std::sort(found_.data(), found_.data() + found);
    found =
        static_cast<uint32_t>(std::unique(found_.data(), found_.data() + found) - found_.data());
  } else {
    for (uint32_t value = 0; value < size(); ++value) {
      if (counts_[value] > 0) {
        found_[found++] = value;
      }
    }
  }
  for (uint32_t i = 0; i < found; ++i) {
    found_[i] = examples_[found_[i]];
  }
  return std::span<const uint32_t>(found_.data(), found);
}

Expected<std::span<const uint32_t>>
DistinctValues::firstsOf(const FrameOrder &order, const Frames::Pieces &frame, uint32_t most) {
  const uint32_t rows = order.size(frame);
  HR_RETURN_IF_ERROR(found_.resize(std::min({rows, size(), most})));
  uint32_t found = 0;
  for (uint32_t number = 0; number < rows && found < found_.size(); ++number) {
    const uint32_t row = order.nth(frame, number);
    if (counts_[numberOf(row)]++ == 0) {
      found_[found++] = row;
    }
  }
  for (uint32_t i = 0; i < found; ++i) {
    counts_[numberOf(found_[i])] = 0;
  }
  return std::span<const uint32_t>(found_.data(), found);
}

} // namespace headrace::exec
