// Codes come back from the hybrid of runs and bit-packed groups.
#include "runtime/storage/parquet/write/code_runs.h"

#include <gtest/gtest.h>
#include <random>

namespace headrace::storage {
namespace {

/// As the format's text says it, a bit at a time.
std::vector<uint32_t> decoded(const std::vector<uint8_t> &bytes, uint32_t width, size_t count) {
  std::vector<uint32_t> codes;
  size_t at = 0;
  while (codes.size() < count) {
    uint64_t header = 0;
    for (int shift = 0;; shift += 7) {
      header |= static_cast<uint64_t>(bytes.at(at) & 0x7f) << shift;
      if (!(bytes[at++] & 0x80)) {
        break;
      }
    }
    const bool isPacked = header & 1;
    const uint64_t values = (header >> 1) * (isPacked ? 8 : 1);
    for (uint64_t i = 0; i < values; ++i) {
      uint32_t code = 0;
      for (uint32_t bit = 0; bit < width; ++bit) {
        const uint64_t place = (isPacked ? i * width : 0) + bit;
        code |= static_cast<uint32_t>(bytes.at(at + place / 8) >> place % 8 & 1) << bit;
      }
      codes.push_back(code);
    }
    at += isPacked ? values * width / 8 : (width + 7) / 8;
  }
  EXPECT_EQ(at, bytes.size());
  EXPECT_LT(codes.size() - count, 8u);
  codes.resize(count);
  return codes;
}

TEST(CodeRuns, CodesComeBack) {
  std::mt19937_64 random(20261130);
  for (uint32_t width = 1; width <= 32; ++width) {
    for (size_t count : {0, 1, 7, 8, 63, 64, 65, 1000, 5003}) {
      std::vector<uint32_t> codes;
      while (codes.size() < count) {
        const auto code = static_cast<uint32_t>(random() & ((uint64_t{1} << width) - 1));
        const size_t run = random() % 4 == 0 ? random() % 300 : 1 + random() % 3;
        codes.insert(codes.end(), std::min(run, count - codes.size()), code);
      }
      std::vector<uint8_t> bytes;
      appendCodes(codes, width, bytes);
      EXPECT_EQ(decoded(bytes, width, count), codes) << width << " bits, " << count;
      if (width <= 16) {
        const std::vector<uint16_t> levels(codes.begin(), codes.end());
        std::vector<uint8_t> same;
        appendCodes(levels, width, same);
        EXPECT_EQ(same, bytes);
      }
    }
  }
}

TEST(CodeRuns, ARunTakesAFewBytes) {
  std::vector<uint8_t> bytes;
  appendCodes(std::vector<uint16_t>(100'000 * 64, 1), 1, bytes);
  EXPECT_LE(bytes.size(), 5u);
  EXPECT_EQ(bitsOf(0), 0u);
  EXPECT_EQ(bitsOf(255), 8u);
  EXPECT_EQ(bitsOf(256), 9u);
}

} // namespace
} // namespace headrace::storage
