// Eight codes at a time: equal ones are a run, others are added to the packed run under way.
#include "tools/headrace-gpu/hybrid_stream.h"

#include <algorithm>
#include <bit>

namespace headrace::gpu {

namespace {

constexpr size_t kPackedMost = 504;

void putVarint(std::vector<uint8_t> &out, uint64_t value) {
  for (; value >= 128; value >>= 7) {
    out.push_back(static_cast<uint8_t>(value | 128));
  }
  out.push_back(static_cast<uint8_t>(value));
}

void putPacked(std::vector<uint8_t> &out, std::vector<uint32_t> &codes, uint32_t bitWidth) {
  if (codes.empty()) {
    return;
  }
  codes.resize((codes.size() + 7) / 8 * 8);
  putVarint(out, codes.size() / 8 << 1 | 1);
  uint64_t pending = 0;
  uint32_t bits = 0;
  for (uint32_t code : codes) {
    pending |= static_cast<uint64_t>(code) << bits;
    for (bits += bitWidth; bits >= 8; bits -= 8) {
      out.push_back(static_cast<uint8_t>(pending));
      pending >>= 8;
    }
  }
  codes.clear();
}

} // namespace

uint32_t bitWidthOf(const std::vector<uint32_t> &codes) {
  return codes.empty() ? 0 : std::bit_width(*std::ranges::max_element(codes));
}

std::vector<uint8_t> encodeHybrid(const std::vector<uint32_t> &codes, uint32_t bitWidth) {
  std::vector<uint8_t> out;
  std::vector<uint32_t> packed;
  for (size_t row = 0; row < codes.size();) {
    size_t end = row + 1;
    while (end < codes.size() && codes[end] == codes[row]) {
      ++end;
    }
    // A packed run is whole groups of 8; only then may another kind follow.
    if (end - row >= 8 && packed.size() % 8 == 0) {
      putPacked(out, packed, bitWidth);
      putVarint(out, (end - row) << 1);
      for (uint32_t byte = 0; byte < (bitWidth + 7) / 8; ++byte) {
        out.push_back(static_cast<uint8_t>(codes[row] >> (8 * byte)));
      }
      row = end;
      continue;
    }
    packed.push_back(codes[row++]);
    if (packed.size() == kPackedMost) {
      putPacked(out, packed, bitWidth);
    }
  }
  putPacked(out, packed, bitWidth);
  return out;
}

} // namespace headrace::gpu
