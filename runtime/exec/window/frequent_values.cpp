// Values play for the top of a tree; a row that comes or goes has its value play again.
#include "runtime/exec/window/frequent_values.h"

#include <algorithm>
#include <numeric>

namespace headrace::exec {

Status FrequentValues::begin(const DistinctValues &values, RowSpanOf seen) {
  values_ = &values;
  begin_ = seen.begin;
  const uint32_t count = values.size();
  HR_RETURN_IF_ERROR(next_.resize(seen.size()));
  HR_RETURN_IF_ERROR(counts_.resize(count));
  HR_RETURN_IF_ERROR(firsts_.resize(count));
  HR_RETURN_IF_ERROR(winners_.resize(uint64_t(2) * count));
  values.visitEqual([&](uint32_t row, uint32_t next) { next_[row - begin_] = next; });
  std::fill_n(counts_.data(), count, 0);
  std::fill_n(firsts_.data(), count, DistinctValues::kNoValue);
  std::iota(winners_.data() + count, winners_.data() + 2 * uint64_t(count), 0);
  for (uint32_t node = count; node-- > 1;) {
    winners_[node] = winner(winners_[2 * uint64_t(node)], winners_[2 * uint64_t(node) + 1]);
  }
  return {};
}

void FrequentValues::add(uint32_t row) {
  const uint32_t value = values_->numberOf(row);
  if (value != DistinctValues::kNoValue) {
    firsts_[value] = std::min(firsts_[value], row);
    ++counts_[value];
    contest(value);
  }
}

void FrequentValues::remove(uint32_t row) {
  const uint32_t value = values_->numberOf(row);
  if (value != DistinctValues::kNoValue) {
    if (firsts_[value] == row) {
      firsts_[value] = next_[row - begin_];
    }
    if (--counts_[value] == 0) {
      firsts_[value] = DistinctValues::kNoValue;
    }
    contest(value);
  }
}

void FrequentValues::contest(uint32_t value) {
  for (uint64_t node = (uint64_t(counts_.size()) + value) / 2; node > 0; node /= 2) {
    winners_[node] = winner(winners_[2 * node], winners_[2 * node + 1]);
  }
}

uint32_t FrequentValues::first() const {
  if (counts_.size() == 0) {
    return DistinctValues::kNoValue;
  }
  return firsts_[winners_[1]];
}

} // namespace headrace::exec
