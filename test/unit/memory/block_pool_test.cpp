// Blocks: sizes, alignment, reuse, bounds.
#include "runtime/memory/block_pool.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

using namespace headrace;

namespace {
constexpr int64_t kMiB = 1 << 20;
} // namespace

TEST(BlockPool, SizeClassesWasteAtMostAQuarterAboveTwoHugePages) {
  EXPECT_EQ(BlockPool::blockBytes(1), 4 << 10);
  EXPECT_EQ(BlockPool::blockBytes(kMiB), kMiB);
  EXPECT_EQ(BlockPool::blockBytes(kMiB + 1), 2 * kMiB);
  EXPECT_EQ(BlockPool::blockBytes(64 * kMiB), 64 * kMiB);
  for (int64_t bytes = 8 * kMiB; bytes < 600 * kMiB; bytes += 777'777) {
    int64_t size = BlockPool::blockBytes(bytes);
    EXPECT_GE(size, bytes);
    EXPECT_LE(size, bytes + bytes / 4 + 1);
    EXPECT_EQ(size % (2 * kMiB), 0);
    EXPECT_EQ(BlockPool::blockBytes(size), size);
  }
}

TEST(BlockPool, CutBlocksWasteAtMostAQuarterOrAPage) {
  for (int64_t bytes = 1; bytes <= kMiB; bytes += 777) {
    int64_t size = BlockPool::blockBytes(bytes);
    EXPECT_GE(size, bytes);
    EXPECT_LE(size, bytes + std::max<int64_t>(bytes / 4, 4 << 10));
    EXPECT_EQ(size % (4 << 10), 0);
    EXPECT_EQ(BlockPool::blockBytes(size), size);
  }
}

TEST(BlockPool, PiecesOfASlabDoNotOverlap) {
  BlockPool pool({.capacityBytes = 64 * kMiB, .retainedBytesMax = 0});
  std::vector<Block> blocks;
  for (int i = 0; i < 120; ++i) { // of three slabs, which they do not fill
    blocks.push_back(std::move(*pool.allocate(40 << 10)));
    std::memset(blocks.back().data(), i, static_cast<size_t>(blocks.back().size()));
  }
  for (int i = 0; i < 120; ++i) {
    EXPECT_EQ(blocks[static_cast<size_t>(i)].size(), 40 << 10);
    EXPECT_EQ(blocks[static_cast<size_t>(i)].data()[0], std::byte(i));
    EXPECT_EQ(blocks[static_cast<size_t>(i)].data()[(40 << 10) - 1], std::byte(i));
  }
}

TEST(BlockPool, BlocksAreAlignedAndReused) {
  BlockPool pool({.capacityBytes = 64 * kMiB, .retainedBytesMax = 64 * kMiB});
  std::byte *first = nullptr;
  {
    Expected<Block> block = pool.allocate(5 * kMiB);
    ASSERT_TRUE(block.ok());
    first = block->data();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % (2 * kMiB), 0u);
    std::memset(first, 1, static_cast<size_t>(block->size()));
    EXPECT_EQ(pool.liveBytes(), 6 * kMiB);
  }
  EXPECT_EQ(pool.retainedBytes(), 6 * kMiB);
  Expected<Block> again = pool.allocate(6 * kMiB);
  EXPECT_EQ(again->data(), first);
  EXPECT_EQ(pool.reuses(), 1);
}

TEST(BlockPool, SmallBlocksDoNotOverlap) {
  BlockPool pool({.capacityBytes = 8 * kMiB, .retainedBytesMax = 8 * kMiB});
  std::vector<Block> blocks;
  for (int index = 0; index < 40; ++index) {
    Expected<Block> block = pool.allocate(65536);
    ASSERT_TRUE(block.ok());
    std::memset(block->data(), index, static_cast<size_t>(block->size()));
    blocks.push_back(std::move(*block));
  }
  for (int index = 0; index < 40; ++index) {
    EXPECT_EQ(static_cast<int>(blocks[static_cast<size_t>(index)].data()[65535]), index);
  }
}

TEST(BlockPool, TheCapacityHoldsAndRetainedBlocksMakeRoom) {
  BlockPool pool({.capacityBytes = 8 * kMiB, .retainedBytesMax = 8 * kMiB});
  {
    Expected<Block> block = pool.allocate(6 * kMiB);
    Expected<Block> tooMuch = pool.allocate(4 * kMiB);
    ASSERT_FALSE(tooMuch.ok());
    EXPECT_EQ(tooMuch.status().kind(), ErrorKind::kMemory);
    EXPECT_NE(tooMuch.status().message().find("raise --memory"), std::string::npos);
  }
  // 6 MiB are retained; another size needs them given back.
  Expected<Block> other = pool.allocate(4 * kMiB);
  EXPECT_TRUE(other.ok());
  EXPECT_EQ(pool.retainedBytes(), 0);
}

TEST(BlockPool, RetainsOnlySoMuch) {
  BlockPool pool({.capacityBytes = 64 * kMiB, .retainedBytesMax = 4 * kMiB});
  {
    Expected<Block> block = pool.allocate(16 * kMiB);
  }
  EXPECT_EQ(pool.retainedBytes(), 0);
  {
    Expected<Block> block = pool.allocate(4 * kMiB);
  }
  EXPECT_EQ(pool.retainedBytes(), 4 * kMiB);
  pool.trim();
  EXPECT_EQ(pool.retainedBytes(), 0);
}

TEST(BlockPool, ChargesTheReservationUntilFreed) {
  BlockPool pool({.capacityBytes = 64 * kMiB});
  Budget budget({.limitBytes = 8 * kMiB});
  Expected<Reservation> reservation =
      budget.reserve({.operatorName = "sort", .task = TaskId(1), .minimumBytes = 1});
  Expected<Block> block = pool.allocate(5 * kMiB, *reservation);
  ASSERT_TRUE(block.ok());
  EXPECT_EQ(reservation->chargedBytes(), 6 * kMiB);
  Expected<Block> second = pool.allocate(3 * kMiB, *reservation);
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.status().message().find("sort (task 1) asked for"), std::string::npos);
  block->reset();
  EXPECT_EQ(reservation->chargedBytes(), 0);
}

TEST(BlockPool, KeptBlocksCountInTheTierAndGiveWay) {
  auto tier = std::make_shared<MemoryTier>(16 * kMiB);
  BlockPool pool({.capacityBytes = 16 * kMiB, .retainedBytesMax = 16 * kMiB, .tier = tier});
  Budget budget({.limitBytes = 16 * kMiB, .shared = tier});
  {
    Reservation reservation = *budget.reserve({.operatorName = "join"});
    Expected<Block> large = pool.allocate(4 * kMiB, reservation);
    Expected<Block> small = pool.allocate(kMiB, reservation);
    ASSERT_TRUE(large.ok() && small.ok());
    EXPECT_EQ(tier->usedBytes(), budget.reservedBytes());
  }
  EXPECT_EQ(budget.reservedBytes(), 0);
  EXPECT_EQ(pool.retainedBytes(), 5 * kMiB);
  EXPECT_EQ(tier->usedBytes(), 5 * kMiB);
  {
    Reservation reservation = *budget.reserve({.operatorName = "join"});
    Expected<Block> reused = pool.allocate(4 * kMiB, reservation);
    ASSERT_TRUE(reused.ok());
    EXPECT_EQ(tier->usedBytes(), budget.reservedBytes() + kMiB);
  }
  ASSERT_TRUE(tier->take(12 * kMiB)); // the one gives way that was asked for longest ago
  EXPECT_EQ(pool.retainedBytes(), 4 * kMiB);
  ASSERT_TRUE(pool.allocate(4 * kMiB).ok());
  EXPECT_EQ(pool.reuses(), 2);
  tier->giveBack(12 * kMiB);
  // A piece that was given back can be used again, and is counted when no reservation is.
  ASSERT_TRUE(tier->take(16 * kMiB));
  EXPECT_EQ(pool.retainedBytes(), 0);
  EXPECT_FALSE(pool.allocate(kMiB).ok());
  tier->giveBack(16 * kMiB);
  Expected<Block> piece = pool.allocate(kMiB);
  ASSERT_TRUE(piece.ok());
  EXPECT_EQ(tier->usedBytes(), kMiB);
  piece->data()[0] = std::byte{1};
  piece->data()[piece->size() - 1] = std::byte{1};
}

TEST(BlockPool, ManyThreads) {
  BlockPool pool({.capacityBytes = 64 * kMiB, .retainedBytesMax = 8 * kMiB});
  std::vector<std::thread> threads;
  for (int index = 0; index < 4; ++index) {
    threads.emplace_back([&pool, index] {
      for (int step = 0; step < 300; ++step) {
        Expected<Block> block = pool.allocate(((step + index) % 5 + 1) * 700'000);
        ASSERT_TRUE(block.ok());
        block->data()[0] = std::byte{static_cast<unsigned char>(index)};
        block->data()[block->size() - 1] = block->data()[0];
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_EQ(pool.liveBytes(), 0);
}
