// A block of Snappy's raw format that is to be decompressed.
#pragma once

#include <cstdint>

namespace headrace::primitives {

inline constexpr uint32_t kSnappyStreams = 3;

/// Reads and writes only within [input, inputBytes) and [output, outputBytes).
struct SnappyBlock {
  const uint8_t *input;
  uint64_t inputBytes;
  uint8_t *output;
  uint64_t outputBytes; ///< exactly what the block decompresses to
};

} // namespace headrace::primitives
