// Writes RLE/bit-packed hybrid streams with random runs, for tests.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace headrace::primitives::testing {

inline void putVarint(std::vector<uint8_t> &out, uint64_t value) {
  while (value >= 128) {
    out.push_back(static_cast<uint8_t>(value | 128));
    value >>= 7;
  }
  out.push_back(static_cast<uint8_t>(value));
}

inline void putPacked(std::vector<uint8_t> &out, const std::vector<uint32_t> &codes,
                      uint32_t width) {
  uint64_t pending = 0;
  uint32_t bits = 0;
  for (uint32_t code : codes) {
    pending |= static_cast<uint64_t>(code) << bits;
    bits += width;
    while (bits >= 8) {
      out.push_back(static_cast<uint8_t>(pending));
      pending >>= 8;
      bits -= 8;
    }
  }
}

struct HybridStream {
  std::vector<uint8_t> bytes;
  std::vector<uint32_t> codes;
};

/// `rows` codes below `bound` in runs of both kinds; the last packed run is filled up with zeros.
inline HybridStream makeHybrid(std::mt19937_64 &random, uint32_t rows, uint32_t width,
                               uint64_t bound) {
  HybridStream stream;
  auto code = [&] { return static_cast<uint32_t>(random() % bound); };
  while (stream.codes.size() < rows) {
    uint32_t left = rows - static_cast<uint32_t>(stream.codes.size());
    if (random() % 3 == 0) {
      uint32_t run = 1 + static_cast<uint32_t>(random() % (random() % 4 == 0 ? 3000 : 40));
      uint32_t value = code();
      putVarint(stream.bytes, uint64_t{run} << 1);
      for (uint32_t i = 0; i < (width + 7) / 8; ++i) {
        stream.bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
      }
      stream.codes.insert(stream.codes.end(), run < left ? run : left, value);
    } else {
      uint32_t groups = 1 + static_cast<uint32_t>(random() % (random() % 4 == 0 ? 130 : 9));
      std::vector<uint32_t> packed(groups * 8);
      for (uint32_t i = 0; i < packed.size(); ++i) {
        packed[i] = i < left ? code() : 0;
      }
      putVarint(stream.bytes, uint64_t{groups} << 1 | 1);
      putPacked(stream.bytes, packed, width);
      packed.resize(packed.size() < left ? packed.size() : left);
      stream.codes.insert(stream.codes.end(), packed.begin(), packed.end());
    }
  }
  return stream;
}

} // namespace headrace::primitives::testing
