// Content hashes: stable values, framing of fields, every bit counts.
#include "runtime/base/content_hash.h"

#include <set>
#include <vector>

#include <gtest/gtest.h>

using namespace headrace;

TEST(ContentHash, FieldsAreFramed) {
  ContentKey split = ContentHasher().add("ab").add("c").key();
  EXPECT_NE(split, ContentHasher().add("a").add("bc").key());
  EXPECT_NE(split, ContentHasher().add("abc").key());
  EXPECT_EQ(split, ContentHasher().add("ab").add("c").key());
}

// Keys are file names on disk: a change of these values needs a new ContentHasher::kVersion.
TEST(ContentHash, KeysAreStable) {
  EXPECT_EQ(ContentHasher().key().hex(), "78157c2d3b4bb6b3cb25e2d94eb51614");
  EXPECT_EQ(ContentHasher().add("kernel").add(uint64_t{7}).key().hex(),
            "dda97e0c3e9ef070e5166601e43e939f");
}

TEST(ContentHash, ChecksumsAreStable) {
  EXPECT_EQ(checksumBytes("", 0), 17105861312098813457u);
  EXPECT_EQ(checksumBytes("headrace", 8), 3434569848322059537u);
}

TEST(ContentHash, EveryBitOfEveryLengthChangesTheChecksum) {
  for (size_t length : {1, 7, 8, 9, 63, 64, 65, 200}) {
    std::vector<unsigned char> bytes(length, 0);
    std::set<uint64_t> seen = {checksumBytes(bytes.data(), length)};
    for (size_t bit = 0; bit < length * 8; ++bit) {
      bytes[bit / 8] ^= static_cast<unsigned char>(1u << (bit % 8));
      EXPECT_TRUE(seen.insert(checksumBytes(bytes.data(), length)).second) << length << " " << bit;
      bytes[bit / 8] ^= static_cast<unsigned char>(1u << (bit % 8));
    }
  }
}

TEST(ContentHash, LengthOfZerosCounts) {
  std::vector<unsigned char> zeros(300, 0);
  std::set<uint64_t> sums;
  std::set<ContentKey> keys;
  for (size_t length = 0; length <= zeros.size(); ++length) {
    EXPECT_TRUE(sums.insert(checksumBytes(zeros.data(), length)).second) << length;
    std::string_view field(reinterpret_cast<const char *>(zeros.data()), length);
    EXPECT_TRUE(keys.insert(ContentHasher().add(field).key()).second) << length;
  }
}
