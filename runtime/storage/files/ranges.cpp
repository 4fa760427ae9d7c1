// Sorted, merged, and cut into equal parts where they are too long.
#include "runtime/storage/files/ranges.h"

#include <algorithm>

namespace headrace::storage {

std::vector<ByteRange> mergedRanges(std::vector<ByteRange> ranges) {
  std::erase_if(ranges, [](const ByteRange &range) { return range.bytes == 0; });
  std::sort(ranges.begin(), ranges.end(),
            [](const ByteRange &a, const ByteRange &b) { return a.begin < b.begin; });
  std::vector<ByteRange> merged;
  for (const ByteRange &range : ranges) {
    if (!merged.empty() && range.begin <= merged.back().end() + kRangeGapMax) {
      merged.back().bytes = std::max(merged.back().end(), range.end()) - merged.back().begin;
    } else {
      merged.push_back(range);
    }
  }
  std::vector<ByteRange> requests;
  for (const ByteRange &range : merged) {
    const uint64_t parts = (range.bytes + kRequestBytesMax - 1) / kRequestBytesMax;
    const uint64_t step = (range.bytes + parts - 1) / parts;
    for (uint64_t at = 0; at < range.bytes; at += step) {
      requests.push_back({range.begin + at, std::min(step, range.bytes - at)});
    }
  }
  return requests;
}

} // namespace headrace::storage
