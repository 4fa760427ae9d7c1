// Unequal parts of the keys: as large as asked for, by the place of the key alone.
// Sources: runtime/exec/skew/key_shares.cpp
#include "runtime/exec/skew/key_shares.h"

#include "runtime/primitives/hash/hash.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

namespace headrace::exec {
namespace {

/// Of so many keys, those of each rank.
std::vector<double> partsOf(const KeyShares &shares, int64_t keys) {
  std::vector<double> parts(shares.ranks(), 0.0);
  for (int64_t key = 0; key < keys; ++key) {
    parts[shares.rankOf(primitives::hashInteger(key))] += 1.0 / static_cast<double>(keys);
  }
  return parts;
}

TEST(KeyShares, EqualOnesAreWhatKernelsHave) {
  for (uint32_t ranks : {1, 2, 3, 7}) {
    const KeyShares equal(ranks);
    const KeyShares asked(std::vector<uint32_t>(ranks, 9));
    EXPECT_TRUE(equal.areEqual() && asked.areEqual());
    EXPECT_EQ(asked.bounds(), nullptr);
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      EXPECT_NEAR(asked.against(rank), 1, 1e-9);
      EXPECT_EQ(asked.placesOf(rank), primitives::equalInterval(rank, ranks));
    }
    for (int64_t key = 0; key < 1000; ++key) {
      const uint64_t hash = primitives::hashInteger(key);
      EXPECT_EQ(equal.rankOf(hash), primitives::rankOfHash(hash, ranks));
      EXPECT_EQ(asked.rankOf(hash), primitives::rankOfHash(hash, ranks));
    }
  }
}

TEST(KeyShares, EachPlaceIsOfTheRankWhoseIntervalHasIt) {
  for (const std::vector<uint32_t> &parts :
       {std::vector<uint32_t>{5, 5, 5, 5, 5, 5, 5}, {256, 85}, {1, 1024, 1}, {10, 30, 20, 1, 1}}) {
    const KeyShares shares(parts);
    uint64_t end = 0;
    for (uint32_t rank = 0; rank < parts.size(); ++rank) {
      const primitives::KeyInterval places = shares.placesOf(rank);
      EXPECT_EQ(places.first, end);
      end += places.count;
      for (uint64_t place : {places.first, places.first + places.count / 2, end - 1}) {
        EXPECT_EQ(shares.rankOf(place << 16 | 0xffff), rank);
        EXPECT_TRUE(places.has(place));
      }
      EXPECT_FALSE(places.has(end));
      EXPECT_FALSE(places.has(places.first - 1));
    }
    EXPECT_EQ(end, primitives::kKeyPlaces);
  }
}

TEST(KeyShares, RanksHaveTheirParts) {
  const std::vector<std::vector<uint32_t>> cases = {
      {256, 85}, {1, 1024}, {10, 30, 20}, {256, 256, 85, 256, 8, 256, 256}, {1024, 1024, 1, 1, 1}};
  for (const std::vector<uint32_t> &parts : cases) {
    const KeyShares shares(parts);
    const double all = std::accumulate(parts.begin(), parts.end(), 0.0);
    const std::vector<double> found = partsOf(shares, 200'000);
    for (uint32_t rank = 0; rank < parts.size(); ++rank) {
      EXPECT_NEAR(found[rank], parts[rank] / all, 0.004) << rank;
      EXPECT_NEAR(shares.against(rank), parts[rank] * static_cast<double>(parts.size()) / all,
                  1e-6);
    }
  }
}

TEST(KeyShares, ManyRanks) {
  std::vector<uint32_t> parts(10'000, KeyShares::kPartMax);
  parts[17] = 1;
  parts.back() = 512;
  const KeyShares shares(parts);
  const std::vector<double> found = partsOf(shares, 1'000'000);
  EXPECT_LE(found[17], 3e-6); // one in a thousand of about a hundred
  EXPECT_NEAR(found.back(), 0.5e-4, 3e-5);
  EXPECT_NEAR(*std::ranges::max_element(found), 1e-4, 6e-5);
}

} // namespace
} // namespace headrace::exec
