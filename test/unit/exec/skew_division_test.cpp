// Rows of several ranks with heavy keys: agreed alike on all ranks, even, and where each kind of
// join needs them. Sources: runtime/exec/skew/skew_division.cpp, runtime/exec/skew/heavy_keys.cpp,
// runtime/exec/skew/key_hashes.cpp
#include "runtime/exec/skew/skew_division.h"

#include "runtime/memory/buffer_pool.h"
#include "runtime/primitives/hash/hash.h"

#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <random>

namespace headrace::exec {
namespace {

using plan::HeavyRows;
using Key = std::optional<int64_t>;
using Ranks = std::vector<std::vector<Key>>; ///< the keys of each rank's rows

class SkewDivisionTest : public testing::Test {
protected:
  SkewDivisionTest() {
    stream_.chunkRows = 100;
    stream_.schema.columns = {{"n", HR_I64, {LogicalKind::kI64}, true}};
    ReservationRequest request;
    request.operatorName = "test";
    account_ = *MemoryAccount::open(memory_, request);
  }

  static uint64_t hashOf(Key key) {
    return key ? primitives::hashInteger(*key) : primitives::kNullHash;
  }
  static uint32_t ownerOf(Key key, uint32_t ranks) {
    return primitives::rankOfHash(hashOf(key), ranks);
  }

  /// In chunks by target, as a run makes them.
  void push(ChunkStream &to, const std::vector<Key> &keys, const KeyShares &shares) {
    std::vector<std::vector<Key>> byTarget(shares.ranks());
    for (const Key &key : keys) {
      byTarget[shares.rankOf(hashOf(key))].push_back(key);
    }
    for (uint32_t target = 0; target < shares.ranks(); ++target) {
      for (size_t first = 0; first < byTarget[target].size(); first += stream_.chunkRows) {
        OutputChunk output(stream_, account_);
        ASSERT_TRUE(output.prepare().ok());
        HrOutputColumn &column = *output.abi().columns;
        for (size_t at = first; at < std::min(first + stream_.chunkRows, byTarget[target].size());
             ++at) {
          uint32_t row = output.abi().rows++;
          column.validity[row] = byTarget[target][at].has_value();
          static_cast<int64_t *>(column.data)[row] = byTarget[target][at].value_or(0);
        }
        ChunkHandle chunk = *output.seal({}, static_cast<int32_t>(target));
        ASSERT_TRUE(to.tryPush(chunk));
      }
    }
    to.close();
  }

  /// What each rank gets of both sides.
  std::array<Ranks, 2> divide(const std::array<Ranks, 2> &given, HeavyRows left, HeavyRows right,
                              std::shared_ptr<const KeyShares> shares = nullptr) {
    auto ranks = static_cast<uint32_t>(given[0].size());
    shares = shares ? shares : std::make_shared<const KeyShares>(ranks);
    plan::ExchangeTask tasks[2];
    for (size_t side : {0, 1}) {
      tasks[side].pair = 0;
      tasks[side].keys = {0};
      tasks[side].heavy = side == 0 ? left : right;
    }
    std::vector<std::array<std::unique_ptr<SkewDivision>, 2>> divisions(ranks);
    std::vector<std::unique_ptr<ChunkStream>> streams;
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      auto pair = std::make_shared<SkewPair>(shares);
      for (size_t side : {0, 1}) {
        divisions[rank][side] =
            std::make_unique<SkewDivision>(tasks[side], stream_, plan::GroupPlace{rank, ranks},
                                           pair, side, SkewDivision::Feed::kOwn, account_);
        streams.push_back(std::make_unique<ChunkStream>(100000, &doorbell_));
        push(*streams.back(), given[side][rank], *shares);
        EXPECT_TRUE(divisions[rank][side]->keep(*streams.back()).ok());
        EXPECT_EQ(divisions[rank][side]->step(), SkewDivision::Step::kTell);
      }
    }
    auto pool = *account_->createPool({4096, 2, nullptr});
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      for (size_t side : {0, 1}) {
        BufferRef body = pool->tryTake();
        divisions[rank][side]->tell(body);
        for (uint32_t other = 0; other < ranks; ++other) {
          if (other != rank) {
            EXPECT_TRUE(divisions[other][side]->hear(static_cast<int>(rank), body).ok());
          }
        }
      }
    }
    std::array<Ranks, 2> got{Ranks(ranks), Ranks(ranks)};
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      for (size_t side : {0, 1}) {
        EXPECT_TRUE(divisions[rank][side]->complete());
        while (ChunkHandle piece = *divisions[rank][side]->next(*streams[2 * rank + side])) {
          for (uint32_t target = 0; target < ranks; ++target) {
            if (piece->target == kAllRanks || piece->target == static_cast<int32_t>(target)) {
              add(*piece, got[side][target]);
            }
          }
        }
        EXPECT_FALSE(divisions[rank][side]->holds());
      }
    }
    return got;
  }

  static void add(const Chunk &chunk, std::vector<Key> &to) {
    const HrSegment &segment = chunk.segments[0];
    for (uint32_t row = 0; row < chunk.rows; ++row) {
      bool valid = !segment.validity || (segment.validity[row / 8] >> (row % 8) & 1) != 0;
      to.push_back(valid ? Key(static_cast<const int64_t *>(segment.data)[row]) : std::nullopt);
    }
  }

  static double fullest(const Ranks &ranks) {
    size_t most = 0, all = 0;
    for (const std::vector<Key> &rows : ranks) {
      most = std::max(most, rows.size());
      all += rows.size();
    }
    return static_cast<double>(most * ranks.size()) / static_cast<double>(all);
  }

  static size_t countOf(const std::vector<Key> &rows, Key key) {
    return static_cast<size_t>(std::count(rows.begin(), rows.end(), key));
  }

  Doorbell doorbell_;
  plan::Stream stream_;
  std::shared_ptr<RankMemory> memory_ = std::make_shared<RankMemory>(
      std::make_shared<BlockPool>(BlockPool::Options{256 << 20, 256 << 20, "--memory"}),
      Budget::Options{Tier::kHost, 256 << 20, "--memory"});
  std::shared_ptr<MemoryAccount> account_;
};

/// Every key as often, but `heavy` of a thousand rows have one, and `nulls` none.
Ranks keysOf(size_t ranks, size_t rows, Key one, unsigned heavy, unsigned nulls, unsigned seed) {
  std::mt19937 random(seed);
  Ranks all(ranks);
  for (size_t i = 0; i < rows; ++i) {
    unsigned which = random() % 1000;
    all[i % ranks].push_back(which < heavy           ? one
                             : which < heavy + nulls ? Key()
                                                     : Key(random() % 100000));
  }
  return all;
}

size_t totalOf(const Ranks &ranks, Key key) {
  size_t count = 0;
  for (const std::vector<Key> &rows : ranks) {
    count += static_cast<size_t>(std::count(rows.begin(), rows.end(), key));
  }
  return count;
}

TEST_F(SkewDivisionTest, SpreadsOneSideAndCopiesTheOther) {
  for (uint32_t ranks : {2, 3, 5}) {
    std::array given{keysOf(ranks, 40000, 5, 300, 0, 1), keysOf(ranks, 10000, 5, 1, 0, 2)};
    auto got = divide(given, HeavyRows::kSpread, HeavyRows::kSpread);
    EXPECT_LT(fullest(got[0]), 1.1);
    EXPECT_EQ(totalOf(got[0], 5), totalOf(given[0], 5));
    size_t copies = totalOf(given[1], 5);
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      EXPECT_GT(countOf(got[0][rank], 5), 0u);
      EXPECT_EQ(countOf(got[1][rank], 5), copies);
      for (size_t side : {0, 1}) {
        for (const Key &key : got[side][rank]) {
          EXPECT_TRUE(key == 5 || ownerOf(key, ranks) == rank);
        }
      }
    }
  }
}

TEST_F(SkewDivisionTest, ManyKeysOfUnlikeWeight) {
  std::array given{Ranks(4), keysOf(4, 20000, 5, 0, 0, 2)};
  std::mt19937 random(3);
  for (size_t i = 0; i < 200000; ++i) { // Zipf's law with exponent 1.5
    double part = (random() % 1000000 + 1) / 1e6;
    given[0][i % 4].push_back(static_cast<int64_t>(0.25 / (part * part)) % 50000);
  }
  auto got = divide(given, HeavyRows::kSpread, HeavyRows::kSpread);
  EXPECT_LT(fullest(got[0]), 1.25); // 1.9 by their hashes
}

TEST_F(SkewDivisionTest, RowsOfOneRankAreSpreadToo) {
  std::array given{keysOf(3, 30000, 5, 0, 0, 1), keysOf(3, 10000, 5, 0, 0, 2)};
  given[0][1].insert(given[0][1].end(), 15000, 5);
  auto got = divide(given, HeavyRows::kSpread, HeavyRows::kSpread);
  EXPECT_LT(fullest(got[0]), 1.15);
}

TEST_F(SkewDivisionTest, CoverGivesEachRankARowOfTheKey) {
  std::array given{keysOf(4, 10000, 5, 1, 0, 1), keysOf(4, 40000, 5, 0, 0, 2)};
  given[1][2].insert(given[1][2].begin(), 20000, 5);
  auto got = divide(given, HeavyRows::kSpread, HeavyRows::kCover);
  for (uint32_t rank = 0; rank < 4; ++rank) {
    EXPECT_GT(countOf(got[1][rank], 5), 0u);
    EXPECT_EQ(countOf(got[0][rank], 5), totalOf(given[0], 5));
  }
  EXPECT_LT(fullest(got[1]), 1.2);
}

TEST_F(SkewDivisionTest, OneRowOfAKeyIsEnough) {
  std::array given{keysOf(4, 20000, 5, 1, 0, 1), keysOf(4, 40000, 5, 300, 0, 2)};
  auto got = divide(given, HeavyRows::kSpread, HeavyRows::kOnce);
  EXPECT_LE(totalOf(got[1], 5), 16u);
  EXPECT_GE(totalOf(got[1], 5), 1u);
  EXPECT_LT(fullest(got[1]), 1.1);
}

TEST_F(SkewDivisionTest, RowsThatMustStayDo) {
  std::array given{keysOf(4, 20000, 5, 0, 0, 1), keysOf(4, 40000, 5, 300, 0, 2)};
  auto got = divide(given, HeavyRows::kSpread, HeavyRows::kStay);
  EXPECT_EQ(countOf(got[1][ownerOf(5, 4)], 5), totalOf(given[1], 5));
}

TEST_F(SkewDivisionTest, NullsGoAnywhereOnce) {
  std::array given{keysOf(4, 40000, 5, 0, 400, 1), keysOf(4, 40000, 5, 0, 0, 2)};
  auto got = divide(given, HeavyRows::kSpread, HeavyRows::kSpread);
  EXPECT_EQ(totalOf(got[0], Key()), totalOf(given[0], Key()));
  EXPECT_LT(fullest(got[0]), 1.1);
}

TEST_F(SkewDivisionTest, EvenKeysAreLeft) {
  std::array given{keysOf(4, 40000, 5, 0, 0, 1), keysOf(4, 40000, 5, 0, 0, 2)};
  auto got = divide(given, HeavyRows::kSpread, HeavyRows::kSpread);
  for (uint32_t rank = 0; rank < 4; ++rank) {
    for (const Key &key : got[0][rank]) {
      EXPECT_EQ(ownerOf(key, 4), rank);
    }
  }
}

TEST_F(SkewDivisionTest, RanksHaveTheirSharesOfTheKeys) {
  const std::vector<uint32_t> parts = {100, 300, 300};
  auto shares = std::make_shared<const KeyShares>(parts);
  for (unsigned heavy : {0, 300}) {
    std::array given{keysOf(3, 60000, 5, heavy, 0, 1), keysOf(3, 10000, 5, 1, 0, 2)};
    auto got = divide(given, HeavyRows::kSpread, HeavyRows::kSpread, shares);
    for (size_t side : {0, 1}) {
      for (uint32_t rank = 0; rank < 3; ++rank) {
        for (const Key &key : got[side][rank]) {
          EXPECT_TRUE((heavy > 0 && key == 5) ||
                      shares->rankOf(primitives::hashInteger(*key)) == rank);
        }
      }
    }
    for (uint32_t rank = 0; rank < 3; ++rank) {
      const auto others = static_cast<double>(got[0][rank].size() - countOf(got[0][rank], 5));
      EXPECT_NEAR(others / (60000 - static_cast<double>(totalOf(given[0], 5))), parts[rank] / 700.0,
                  0.02);
      EXPECT_TRUE(heavy == 0 || countOf(got[0][rank], 5) > 0);
    }
    EXPECT_EQ(totalOf(got[0], 5), totalOf(given[0], 5));
  }
}

TEST_F(SkewDivisionTest, WhoWaitsForRowsOfARankThatHasToldTellsToo) {
  plan::ExchangeTask task;
  task.pair = 0;
  task.keys = {0};
  for (auto feed : {SkewDivision::Feed::kOwn, SkewDivision::Feed::kExchange}) {
    auto pair = std::make_shared<SkewPair>(std::make_shared<KeyShares>(2));
    ChunkStream stream(10, &doorbell_); // with nothing yet
    SkewDivision division(task, stream_, plan::GroupPlace{0, 2}, pair, 0, feed, account_);
    KeySketch other{40000, 4096, 0, {40000, 0}, {}};
    pair->tell(1, 1, other); // of the other side, which nobody waits for
    ASSERT_TRUE(division.keep(stream).ok());
    EXPECT_EQ(division.step(), SkewDivision::Step::kKeep);
    pair->tell(0, 1, other);
    ASSERT_TRUE(division.keep(stream).ok());
    EXPECT_EQ(division.step(), feed == SkewDivision::Feed::kExchange ? SkewDivision::Step::kTell
                                                                     : SkewDivision::Step::kKeep);
  }
}

TEST(KeySketch, IsWhatWasWritten) {
  KeySketch sketch{100, 50, 3, {1, 2, 3}, {{77, 20}, {5, 10}}};
  std::vector<uint64_t> words = sketch.encode(4096);
  KeySketch read = *KeySketch::decode(words, 3);
  EXPECT_EQ(read.rows, 100u);
  EXPECT_EQ(read.loads, sketch.loads);
  ASSERT_EQ(read.heaviest.size(), 2u);
  EXPECT_EQ(read.heaviest[1].count, 10u);
  EXPECT_EQ(KeySketch::decode(sketch.encode(8 * 9), 3)->heaviest.size(), 1u);
  EXPECT_NE(KeySketch::decode(words, 2).status().message().find("not a sketch of keys for ranks"),
            std::string::npos);
}

} // namespace
} // namespace headrace::exec
