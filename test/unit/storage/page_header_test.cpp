// Page headers from any bytes: an error or plausible sizes.
#include "runtime/storage/parquet/page_header.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace headrace::storage {
namespace {

// type = 0, uncompressed = 100, compressed = 50, data page {7 values, encoding 8, levels 3, 3}
const std::vector<uint8_t> kDataPage = {0x15, 0x00, 0x15, 0xc8, 0x01, 0x15, 0x64, 0x2c, 0x15,
                                        0x0e, 0x15, 0x10, 0x15, 0x06, 0x15, 0x06, 0x00, 0x00};

TEST(PageHeader, DataPage) {
  auto header = readPageHeader(kDataPage.data(), kDataPage.data() + kDataPage.size());
  ASSERT_TRUE(header.ok()) << header.status().toString();
  EXPECT_EQ(header->kind, PageKind::kData);
  EXPECT_EQ(header->uncompressedBytes, 100u);
  EXPECT_EQ(header->compressedBytes, 50u);
  EXPECT_EQ(header->values, 7u);
  EXPECT_EQ(header->encoding, 8);
  EXPECT_EQ(header->levelEncoding, 3);
  EXPECT_EQ(header->headerBytes, kDataPage.size());
}

TEST(PageHeader, CutIsAnError) {
  for (size_t size = 0; size < kDataPage.size(); ++size) {
    std::vector<uint8_t> cut(kDataPage.begin(),
                             kDataPage.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(readPageHeader(cut.data(), cut.data() + cut.size()).ok());
  }
}

TEST(PageHeader, RandomBytesEnd) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 100000; ++round) {
    std::vector<uint8_t> bytes = kDataPage;
    bytes.resize(bytes.size() + random() % 20);
    for (uint64_t flips = random() % 8; flips > 0; --flips) {
      bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
    }
    auto header = readPageHeader(bytes.data(), bytes.data() + bytes.size());
    if (header.ok()) {
      EXPECT_LE(header->headerBytes, bytes.size());
      EXPECT_LE(header->definitionBytes + header->repetitionBytes, header->compressedBytes);
    }
  }
}

} // namespace
} // namespace headrace::storage
