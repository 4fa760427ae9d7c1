// Unequal parts of the keys: as large as asked for, by the hash alone, and rows of a chunk go
// whole. Sources: runtime/exec/skew/key_shares.cpp, runtime/exec/skew/targeted_input.cpp
#include "runtime/exec/skew/targeted_input.h"

#include "runtime/primitives/hash/hash.h"

#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <set>

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
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      EXPECT_FALSE(equal.gives(rank));
      EXPECT_FALSE(asked.gives(rank));
      EXPECT_EQ(asked.against(rank), 1);
    }
    for (int64_t key = 0; key < 1000; ++key) {
      const uint64_t hash = primitives::hashInteger(key);
      EXPECT_EQ(equal.rankOf(hash), primitives::rankOfHash(hash, ranks));
      EXPECT_EQ(asked.rankOf(hash), primitives::rankOfHash(hash, ranks));
    }
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
                  1e-12);
    }
  }
}

TEST(KeyShares, NoKeyLeavesARankThatHasTooFew) {
  const KeyShares shares({256, 85, 256, 128});
  for (int64_t key = 0; key < 10'000; ++key) {
    const uint64_t hash = primitives::hashInteger(key);
    const uint32_t named = primitives::rankOfHash(hash, 4);
    if (!shares.gives(named)) {
      EXPECT_EQ(shares.rankOf(hash), named);
    }
  }
  EXPECT_TRUE(shares.gives(1) && shares.gives(3));
  EXPECT_FALSE(shares.gives(0) || shares.gives(2));
}

TEST(KeyShares, ManyRanks) {
  std::vector<uint32_t> parts(10'000, KeyShares::kPartMax);
  parts[17] = 1;
  parts.back() = 512;
  const KeyShares shares(parts);
  std::map<uint32_t, int> seen;
  for (int64_t key = 0; key < 1'000'000; ++key) {
    const uint64_t hash = primitives::hashInteger(key);
    const uint32_t named = primitives::rankOfHash(hash, 10'000);
    if (named == 17) {
      ++seen[shares.rankOf(hash)];
    } else if (named != 9'999) {
      ASSERT_EQ(shares.rankOf(hash), named);
    }
  }
  EXPECT_LE(seen[17], 3); // one in a thousand of about a hundred
  EXPECT_GT(seen.size(), 50u);
}

class TargetedInputTest : public testing::Test {
protected:
  TargetedInputTest() {
    stream_.chunkRows = 1000;
    stream_.schema.columns = {{"n", HR_I64, {LogicalKind::kI64}, true},
                              {"t", HR_STRING, {LogicalKind::kString}, false}};
    account_ = *MemoryAccount::open(memory_, {.operatorName = "test"});
  }

  /// Rows whose keys hash to a rank, the tenth of them with NULL if that does too.
  ChunkHandle chunkFor(uint32_t target, uint32_t ranks, std::multiset<std::string> &pushed) {
    OutputChunk output(stream_, account_);
    EXPECT_TRUE(output.prepare().ok());
    HrOutputColumn *columns = output.abi().columns;
    EXPECT_TRUE(output.growHeap(1, 8000).ok());
    uint32_t heap = 0;
    auto *offsets = static_cast<uint32_t *>(columns[1].data);
    offsets[0] = 0;
    for (int64_t key = 0; output.abi().rows < 500; ++key) {
      if (primitives::rankOfHash(primitives::hashInteger(key), ranks) != target) {
        continue;
      }
      const uint32_t row = output.abi().rows++;
      columns[0].validity[row] = 1;
      static_cast<int64_t *>(columns[0].data)[row] = key;
      const std::string text = std::to_string(key);
      std::memcpy(columns[1].heap + heap, text.data(), text.size());
      heap += static_cast<uint32_t>(text.size());
      offsets[row + 1] = heap;
      pushed.insert(text);
    }
    columns[1].heapUsed = heap;
    return *output.seal({4, 7}, static_cast<int32_t>(target));
  }

  Doorbell doorbell_;
  plan::Stream stream_;
  std::vector<int32_t> keys_ = {0};
  std::shared_ptr<RankMemory> memory_ = std::make_shared<RankMemory>(
      std::make_shared<BlockPool>(BlockPool::Options{64 << 20, 64 << 20, "--memory"}),
      Budget::Options{Tier::kHost, 64 << 20, "--memory"});
  std::shared_ptr<MemoryAccount> account_;
};

TEST_F(TargetedInputTest, RowsGoWithTheirKeys) {
  auto shares = std::make_shared<const KeyShares>(std::vector<uint32_t>{300, 100, 200});
  ChunkStream stream(10, &doorbell_);
  std::multiset<std::string> pushed, popped;
  for (uint32_t target : {1, 0, 2, 1}) {
    ChunkHandle chunk = chunkFor(target, 3, pushed);
    ASSERT_TRUE(stream.tryPush(chunk));
  }
  stream.close();
  TargetedInput input(stream, stream_.schema, keys_, shares, account_);
  uint64_t moved = 0;
  while (ChunkHandle chunk = *input.tryPop()) {
    EXPECT_EQ(chunk->order, (ChunkOrder{4, 7}));
    const auto *offsets = static_cast<const uint32_t *>(chunk->segments[1].data);
    for (uint32_t row = 0; row < chunk->rows; ++row) {
      const int64_t key = static_cast<const int64_t *>(chunk->segments[0].data)[row];
      const uint64_t hash = primitives::hashInteger(key);
      EXPECT_EQ(chunk->target, static_cast<int32_t>(shares->rankOf(hash)));
      moved += chunk->target != static_cast<int32_t>(primitives::rankOfHash(hash, 3));
      const std::string text(reinterpret_cast<const char *>(chunk->segments[1].heap) + offsets[row],
                             offsets[row + 1] - offsets[row]);
      EXPECT_EQ(text, std::to_string(key));
      popped.insert(text);
    }
    EXPECT_EQ(input.hasNext(), !input.ended());
  }
  EXPECT_EQ(popped, pushed);
  EXPECT_EQ(input.movedRows(), moved);
  EXPECT_NEAR(static_cast<double>(moved), 500, 100); // half of the keys of rank 1
  EXPECT_TRUE(input.ended());
}

TEST_F(TargetedInputTest, WithoutSharesChunksAreHandedOn) {
  ChunkStream stream(10, &doorbell_);
  std::multiset<std::string> pushed;
  ChunkHandle chunk = chunkFor(1, 2, pushed);
  const Chunk *same = chunk.get();
  ASSERT_TRUE(stream.tryPush(chunk));
  TargetedInput input(stream);
  EXPECT_TRUE(input.hasNext());
  EXPECT_EQ(input.tryPop()->get(), same);
  EXPECT_FALSE(input.ended());
  stream.close();
  EXPECT_TRUE(input.ended());
  EXPECT_EQ(input.movedRows(), 0u);
}

} // namespace
} // namespace headrace::exec
