// Rows are sorted once; frames are pieces of the list of their places.
#include "runtime/exec/window/frame_order.h"

#include "runtime/base/stop.h"
#include "runtime/exec/rows/field_values.h"

namespace headrace::exec {

Status FrameOrder::sort(const RowOrder &order, const Partition &partition, RowSpanOf seen,
                        const plan::StateField *present) {
  first_ = seen.begin;
  HR_RETURN_IF_ERROR(entries_.resize(seen.size()));
  HR_RETURN_IF_ERROR(places_.resize(seen.size()));
  HR_RETURN_IF_ERROR(counted_.resize(uint64_t(seen.size()) + 1));
  uint32_t count = 0;
  for (uint32_t row = seen.begin; row < seen.end; ++row) {
    const uint8_t *bytes = partition.rows[row];
    counted_[row - first_] = count;
    count += !present || isValid(*present, bytes) ? 1 : 0;
    entries_[row - first_] = {order.prefix(bytes), row};
  }
  counted_[seen.size()] = count;
  auto compare = [&](const Entry &a, const Entry &b) {
    if (a.prefix != b.prefix || order.isExact()) {
      return a.prefix < b.prefix ? -1 : static_cast<int>(a.prefix > b.prefix);
    }
    return order.compare(partition.rows[a.row], partition.rows[b.row]);
  };
  const std::span<Entry> entries = entries_.span();
  StopCheck check;
  auto isBefore = [&](const Entry &a, const Entry &b) {
    const int less = compare(a, b);
    return less != 0 ? less < 0 : a.row < b.row;
  };
  std::sort(entries.begin(), entries.end(), untilStopped(check, isBefore));
  HR_RETURN_IF_ERROR(numbers_.resize(count));
  uint32_t place = 0;
  for (uint32_t begin = 0, end = 0; begin < entries.size(); begin = end) {
    const uint32_t peersBegin = place;
    uint32_t peersEnd = place;
    for (end = begin;
         end < entries.size() && (end == begin || compare(entries[begin], entries[end]) == 0);
         ++end) {
      peersEnd += counts(entries[end].row) ? 1 : 0;
    }
    for (uint32_t i = begin; i < end; ++i) {
      const Entry entry = entries[i];
      places_[entry.row - first_] = {place, peersBegin, peersEnd};
      if (counts(entry.row)) {
        numbers_[counted_[entry.row - first_]] = place;
        entries[place++] = entry; // those that count move to the front
      }
    }
  }
  return counts_.build(numbers_.span());
}

uint32_t FrameOrder::nthOfFew(const Frames::Pieces &frame, uint32_t n) const {
  uint64_t rows[kFewRows]; // a row behind its place
  uint32_t count = 0;
  for (uint32_t i = 0; i < frame.count; ++i) {
    for (uint32_t row = frame.piece[i].begin; row < frame.piece[i].end; ++row) {
      rows[count] = uint64_t(placeOf(row).own) << 32 | row;
      count += counts(row) ? 1 : 0;
    }
  }
  std::nth_element(rows, rows + n, rows + count);
  return static_cast<uint32_t>(rows[n]);
}

uint32_t FrameOrder::before(const Frames::Pieces &frame, uint32_t place) const {
  const Frames::Pieces pieces = counted(frame);
  uint32_t before = 0;
  for (uint32_t i = 0; i < pieces.count; ++i) {
    before += counts_.less(pieces.piece[i], place);
  }
  return before;
}

} // namespace headrace::exec
