// Small numbers, dictionary codes and levels, as Parquet's hybrid of runs and bit-packed groups.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace headrace::storage {

/// The bits that the numbers 0 … greatest need.
inline uint32_t bitsOf(uint64_t greatest) {
  return static_cast<uint32_t>(std::bit_width(greatest));
}

/// Appends codes below 2^width. width: 1 to 32.
void appendCodes(std::span<const uint32_t> codes, uint32_t width, std::vector<uint8_t> &out);

/// The same of levels.
void appendCodes(std::span<const uint16_t> codes, uint32_t width, std::vector<uint8_t> &out);

} // namespace headrace::storage
