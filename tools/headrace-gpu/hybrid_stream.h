// Codes as Parquet's RLE/bit-packed hybrid stream, as writers of files make it.
#pragma once

#include <cstdint>
#include <vector>

namespace headrace::gpu {

/// Bits of the largest code.
uint32_t bitWidthOf(const std::vector<uint32_t> &codes);

/// Runs of 8 and more equal codes as such, the rest packed, at most 504 codes a run.
std::vector<uint8_t> encodeHybrid(const std::vector<uint32_t> &codes, uint32_t bitWidth);

} // namespace headrace::gpu
