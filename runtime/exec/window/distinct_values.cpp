// Rows are put in order of their values; equal ones get one number.
#include "runtime/exec/window/distinct_values.h"

#include "runtime/base/stop.h"
#include "runtime/exec/window/field_values.h"
#include "runtime/exec/window/row_order.h"

namespace headrace::exec {

Status DistinctValues::number(const plan::State &state, int32_t field, const Partition &partition,
                              RowSpanOf seen) {
  seen_ = seen;
  count_ = 0;
  plan::OrderKey key{field, /*descending=*/false, /*nullsFirst=*/false};
  RowOrder order(state, {&key, 1});
  HR_RETURN_IF_ERROR(order_.resize(seen.size()));
  HR_RETURN_IF_ERROR(numbers_.resize(seen.size()));
  uint32_t present = 0;
  for (uint32_t row = seen.begin; row < seen.end; ++row) {
    numbers_[row - seen.begin] = kNoValue;
    if (isValid(state.fields[field], partition.rows[row])) {
      order_[present++] = {order.prefix(partition.rows[row]), row};
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
  std::sort(values, values + present,
            untilStopped(check, [&](const Value &a, const Value &b) { return compare(a, b) < 0; }));
  HR_RETURN_IF_ERROR(examples_.resize(present));
  uint32_t different = 0;
  for (uint32_t i = 0; i < present; ++i) {
    if (i == 0 || compare(values[i - 1], values[i]) != 0) {
      examples_[different++] = values[i].row;
    }
    numbers_[values[i].row - seen.begin] = different - 1;
  }
  HR_RETURN_IF_ERROR(counts_.resize(different));
  std::fill_n(counts_.data(), different, 0);
  return {};
}

} // namespace headrace::exec
