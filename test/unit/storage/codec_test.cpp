// Blocks that are compressed as pages are come back whole.
#include "runtime/storage/parquet/codec.h"

#include <gtest/gtest.h>

namespace headrace::storage {
namespace {

TEST(Codec, blocks_come_back) {
  std::vector<uint8_t> block(100000);
  for (size_t i = 0; i < block.size(); ++i) {
    block[i] = static_cast<uint8_t>(i % 251 * (i % 7));
  }
  for (int codec : {kCodecSnappy, kCodecZstd, kCodecLz4}) {
    Expected<std::vector<uint8_t>> compressed = compressWithArrow(codec, block);
    ASSERT_TRUE(compressed.ok()) << codecName(codec) << ": " << compressed.status().message();
    EXPECT_LT(compressed->size(), block.size() / 2) << codecName(codec);
    std::vector<uint8_t> back(block.size());
    Status status = decompressWithArrow(codec, compressed->data(), compressed->size(), back.data(),
                                        back.size());
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(back, block) << codecName(codec);
    std::fill(back.begin(), back.end(), 0);
    status =
        decompressBlock(codec, compressed->data(), compressed->size(), back.data(), back.size());
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(back, block) << codecName(codec);
    std::vector<uint8_t> roomy(block.size() + 1);
    status = decompressWithArrow(codec, compressed->data(), compressed->size(), roomy.data(),
                                 roomy.size());
    EXPECT_EQ(status.kind(), ErrorKind::kCorrupt);
    if (codec != kCodecZstd) {
      EXPECT_EQ(status.message(), "a page decompresses to 100000 bytes, its header says: 100001");
    }
    status = decompressBlock(codec, compressed->data(), compressed->size() / 2, back.data(),
                             back.size());
    EXPECT_EQ(status.kind(), ErrorKind::kCorrupt);
    if (codec == kCodecSnappy) {
      EXPECT_EQ(status.message(), "a block does not decompress: snappy");
    }
  }
  EXPECT_EQ(compressWithArrow(3, block).status().message(), "compression is not supported: lzo");
}

} // namespace
} // namespace headrace::storage
