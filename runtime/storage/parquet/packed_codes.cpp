// Walks run headers; packs eight codes a step with shifts inside one word.
#include "runtime/storage/parquet/packed_codes.h"

#include <cstring>

namespace headrace::storage {
namespace {

/// A run costs a reader about as much as this many rows do.
constexpr uint32_t kShortRunRows = 64;
constexpr uint32_t kVarintBytesMax = 5;

/// Eight codes, one a byte, to the low 8 * width bits.
uint64_t squeeze(uint64_t codes, uint32_t width) {
  const uint64_t pair = 0x00ff00ff00ff00ff, quad = 0x0000ffff0000ffff, half = 0x00000000ffffffff;
  codes = (codes & pair) | (codes >> 8 & pair) << width;
  codes = (codes & quad) | (codes >> 16 & quad) << 2 * width;
  return (codes & half) | (codes >> 32) << 4 * width;
}

} // namespace

bool hasShortRuns(const uint8_t *stream, uint64_t bytes, uint32_t rows, uint32_t width) {
  const uint8_t *next = stream, *const end = stream + bytes;
  uint64_t seen = 0, runs = 0;
  while (seen < rows) {
    uint64_t header = 0;
    for (uint32_t shift = 0;; shift += 7) {
      if (next == end || shift >= 7 * kVarintBytesMax) {
        return false;
      }
      const uint8_t byte = *next++;
      header |= static_cast<uint64_t>(byte & 127) << shift;
      if (!(byte & 128)) {
        break;
      }
    }
    const uint64_t length = header & 1 ? (header >> 1) * width : (width + 7) / 8;
    seen += header & 1 ? (header >> 1) * 8 : header >> 1;
    ++runs;
    if (seen < rows && static_cast<uint64_t>(end - next) < length) {
      return false;
    }
    next += length;
  }
  return runs * kShortRunRows > rows;
}

PaddedBuffer packCodes(const uint8_t *codes, uint32_t rows, uint32_t width) {
  const uint64_t groups = (uint64_t{rows} + 7) / 8;
  PaddedBuffer packed(kVarintBytesMax + groups * width + 8); // each store is of eight bytes
  if (!packed) {
    return packed;
  }
  uint8_t *next = packed.data();
  uint64_t header = groups << 1 | 1;
  for (; header > 127; header >>= 7) {
    *next++ = static_cast<uint8_t>(header | 128);
  }
  *next++ = static_cast<uint8_t>(header);
  for (uint64_t group = 0; group < groups; ++group, next += width) {
    uint64_t eight;
    std::memcpy(&eight, codes + group * 8, 8);
    eight = squeeze(eight, width);
    std::memcpy(next, &eight, 8);
  }
  return packed;
}

} // namespace headrace::storage
