// Which requests a set of ranges becomes: near ones are one request, long ones several.
#pragma once

#include <cstdint>
#include <vector>

namespace headrace::storage {

struct ByteRange {
  uint64_t begin = 0;
  uint64_t bytes = 0;

  uint64_t end() const { return begin + bytes; }
  bool operator==(const ByteRange &) const = default;
};

/// Between ranges that are read by one request. An answer takes about 30 ms to begin, in which a
/// link of 1 Gbit/s that 32 requests share brings one of them so much.
inline constexpr uint64_t kRangeGapMax = 128 << 10;
/// Of one request: with more, one answer that is slow, or cut short, costs too much.
inline constexpr uint64_t kRequestBytesMax = 8 << 20;

/// In the order of the file; they cover all of `ranges`. Ranges without bytes need no request.
std::vector<ByteRange> mergedRanges(std::vector<ByteRange> ranges);

} // namespace headrace::storage
