// Streams of short runs are found, and codes packed anew decode to the same codes.
#include "runtime/storage/columns/decoders.h"
#include "runtime/storage/parquet/packed_codes.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <vector>

namespace headrace::storage {
namespace {

TEST(PackedCodes, DecodeToTheSame) {
  const char *text = std::getenv("HEADRACE_SEED");
  std::mt19937_64 random(text ? std::strtoull(text, nullptr, 10) : 7);
  std::vector<uint8_t> same(256);
  for (size_t i = 0; i < same.size(); ++i) {
    same[i] = static_cast<uint8_t>(i);
  }
  for (uint32_t width = 1; width <= kPackedCodeBitsMax; ++width) {
    for (uint32_t rows : {1u, 7u, 8u, 9u, 255u, 256u, 1000u, 70'001u}) {
      std::vector<uint8_t> codes(rows + 7);
      for (uint8_t &code : codes) {
        code = static_cast<uint8_t>(random() & ((1u << width) - 1));
      }
      PaddedBuffer packed = packCodes(codes.data(), rows, width);
      HrSegment segment{};
      segment.rows = rows;
      segment.encoding = HR_CODES;
      segment.bitWidth = static_cast<uint8_t>(width);
      segment.data = packed.data();
      segment.bytes = packed.bytes();
      std::vector<uint8_t> decoded(rows);
      ASSERT_TRUE(Decoders::get().decode(segment, same.data(), 1u << width, 1, decoded.data()));
      codes.resize(rows);
      ASSERT_EQ(decoded, codes) << "bits " << width << " rows " << rows;
      EXPECT_FALSE(rows > 100 && hasShortRuns(packed.data(), packed.bytes(), rows, width));
    }
  }
}

TEST(PackedCodes, ShortRunsAreCounted) {
  // 100 times: 8 rows of code 1, then 8 packed codes.
  std::vector<uint8_t> stream;
  for (int i = 0; i < 100; ++i) {
    for (int byte : {8 << 1, 1, 3, 0xaa}) {
      stream.push_back(static_cast<uint8_t>(byte));
    }
  }
  EXPECT_TRUE(hasShortRuns(stream.data(), stream.size(), 1600, 1));
  EXPECT_FALSE(hasShortRuns(stream.data(), stream.size(), 1700, 1)); // too few
  const uint8_t longRun[] = {0x80, 0x10, 1};                         // 1,024 rows of code 1
  EXPECT_FALSE(hasShortRuns(longRun, sizeof longRun, 1024, 1));
  const uint8_t endless[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80};
  EXPECT_FALSE(hasShortRuns(endless, sizeof endless, 10, 1));
}

} // namespace
} // namespace headrace::storage
