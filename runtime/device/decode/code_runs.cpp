// From head to head.
#include "runtime/device/decode/code_runs.h"

#include <algorithm>

namespace headrace::decode {

namespace {

/// The next variable-length number; false if the stream ends in it or it has more than 32 bits.
bool takeVarint(std::span<const uint8_t> &rest, uint32_t &value) {
  uint64_t bits = 0;
  for (uint32_t shift = 0; shift < 35; shift += 7) {
    if (rest.empty()) {
      return false;
    }
    uint8_t byte = rest.front();
    rest = rest.subspan(1);
    bits |= static_cast<uint64_t>(byte & 127) << shift;
    if (byte < 128) {
      value = static_cast<uint32_t>(bits);
      return bits <= UINT32_MAX;
    }
  }
  return false;
}

} // namespace

Expected<CodeRuns> splitCodeRuns(std::span<const uint8_t> stream, uint32_t bitWidth, uint32_t first,
                                 uint32_t rows) {
  if (bitWidth > 32) {
    return makeError(ErrorKind::kCorrupt, "codes have at most 32 bits, got: ", bitWidth);
  }
  CodeRuns out;
  const uint64_t last = uint64_t{first} + rows;
  std::span<const uint8_t> rest = stream;
  for (uint64_t row = 0; row < last;) {
    uint32_t head;
    bool isWhole = takeVarint(rest, head) && head > 1; // no run is empty
    uint64_t bytes = (head & 1) != 0 ? uint64_t(head >> 1) * bitWidth : (bitWidth + 7) / 8;
    uint64_t count = (head & 1) != 0 ? uint64_t(head >> 1) * 8 : head >> 1;
    // The last packed run may be cut where its rows end.
    uint64_t needed = (head & 1) != 0 ? (std::min(count, last - row) * bitWidth + 7) / 8 : bytes;
    if (!isWhole || rest.size() < needed) {
      return makeError(ErrorKind::kCorrupt, "a stream of codes ends early, of ", rows,
                       " rows it has: ", row > first ? row - first : 0);
    }
    if (row + count > first) {
      const auto begin = static_cast<uint64_t>(rest.data() - stream.data());
      const uint64_t skipped = row < first ? first - row : 0;
      CodeRun run = {static_cast<uint32_t>(row + skipped - first), head & 1, 0};
      if (run.isPacked != 0) {
        const uint64_t bit = begin * 8 + skipped * bitWidth;
        if (out.endByte == 0) {
          out.firstByte = bit / 8;
        }
        run.place = bit - out.firstByte * 8;
        out.endByte = begin + needed;
      } else {
        for (uint32_t i = 0; i < bytes; ++i) {
          run.place |= static_cast<uint64_t>(rest[i]) << (8 * i);
        }
      }
      out.runs.push_back(run);
    }
    rest = rest.subspan(std::min<uint64_t>(bytes, rest.size()));
    row += count;
  }
  return out;
}

} // namespace headrace::decode
