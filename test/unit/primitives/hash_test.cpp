// The hash formula is part of plans: known values, equal inputs, and enough spread in the bits that
// tables use.
#include "runtime/primitives/hash/hash.h"

#include "runtime/primitives/string/string.h"
#include "test/unit/primitives/testing.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace headrace::primitives::testing {
namespace {

TEST(Hash, KnownValues) {
  // Changing one of these means raising kHashVersion and the compiler's emitter.
  EXPECT_EQ(kHashVersion, 1);
  EXPECT_EQ(hashInteger(0), 0u);
  EXPECT_EQ(hashInteger(1), 0xd8685893e3d7d0e9ull);
  EXPECT_EQ(hashInteger(-1), 0x38895f6f6aeea8e7ull);
  EXPECT_EQ(hashCombine(1, 2), 0x35e2aa2e4ba5068ull);
}

TEST(Hash, SameLogicalValueSameHash) {
  for (int64_t value : {int64_t{0}, int64_t{-1}, INT64_MAX, INT64_MIN, int64_t{12345}}) {
    EXPECT_EQ(hashInteger128(value), hashInteger(value));
  }
  EXPECT_NE(hashInteger128(static_cast<__int128>(1) << 64), hashInteger(0));
  EXPECT_EQ(hashDouble(-0.0), hashDouble(0.0));
  EXPECT_EQ(hashDouble(std::numeric_limits<double>::quiet_NaN()),
            hashDouble(-std::numeric_limits<double>::signaling_NaN()));
  EXPECT_NE(hashDouble(1.0), hashDouble(-1.0));
}

/// The fullest of 256 buckets of `bits` over 64 k consecutive keys is near the mean of 256.
template <typename F> void expectSpread(F bucket, const char *what) {
  std::vector<int> count(256);
  for (int64_t key = 0; key < 65536; ++key) {
    ++count[bucket(key)];
  }
  for (int n : count) {
    EXPECT_GT(n, 256 - 110) << what;
    EXPECT_LT(n, 256 + 110) << what;
  }
}

TEST(Hash, LowHighAndRankBitsSpread) {
  for (int64_t stride : {int64_t{1}, int64_t{8}, int64_t{100}, int64_t{1} << 32}) {
    expectSpread([&](int64_t key) { return hashInteger(key * stride) & 255; }, "low bits");
    expectSpread([&](int64_t key) { return hashInteger(key * stride) >> 56; }, "high bits");
    expectSpread([&](int64_t key) { return rankOfHash(hashInteger(key * stride), 256); }, "rank");
    expectSpread(
        [&](int64_t key) {
          return hashCombine(hashInteger(key % 256), hashInteger(key / 256 * stride)) & 255;
        },
        "low bits of a pair");
    expectSpread(
        [&](int64_t key) {
          return hashCombine(hashInteger(key % 256), hashInteger(key / 256 * stride)) >> 56;
        },
        "high bits of a pair");
  }
}

TEST(Hash, StringsOfEveryLength) {
  std::set<uint64_t> seen;
  std::string text;
  for (int length = 0; length < 100; ++length) {
    PaddedBytes bytes(text);
    HrString view = makeString(bytes.data(), static_cast<uint32_t>(bytes.size()));
    uint64_t hash = stringHash(&view);
    EXPECT_TRUE(seen.insert(hash).second) << length;
    for (int i = 0; i < length; ++i) { // every byte counts
      std::string other = text;
      other[static_cast<size_t>(i)] ^= 1;
      PaddedBytes otherBytes(other);
      HrString otherView = makeString(otherBytes.data(), static_cast<uint32_t>(otherBytes.size()));
      EXPECT_NE(stringHash(&otherView), hash);
    }
    text.push_back('\0'); // zero bytes are not lost either
  }
}

} // namespace
} // namespace headrace::primitives::testing
