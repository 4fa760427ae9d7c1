// Accounts of memory, and who keeps them.
#include "runtime/exec/memory/memory_account.h"

#include <gtest/gtest.h>

namespace headrace::exec {
namespace {

TEST(MemoryAccount, LivesUntilTheLastBufferOfItsPoolIsGone) {
  auto memory = std::make_shared<RankMemory>(
      std::make_shared<BlockPool>(BlockPool::Options{1 << 30, 1 << 30, "--memory"}),
      Budget::Options{Tier::kHost, 64 << 20, "--memory"});
  auto account = *MemoryAccount::open(memory, {});
  auto pool = *account->createPool({.bufferBytes = 1 << 20, .buffersMax = 2});
  BufferRef onItsWay = pool->tryTake();
  pool.reset(); // the run that filled it has ended with an error
  account.reset();
  EXPECT_GE(memory->budget.reservedBytes(), 2 << 20);
  onItsWay.reset();
  EXPECT_EQ(memory->budget.reservedBytes(), 0);
}

TEST(MemoryAccount, ARankEncodesWhatItWritesInOnePlace) {
  auto memory = std::make_shared<RankMemory>(
      std::make_shared<BlockPool>(BlockPool::Options{1 << 30, 1 << 30, "--memory"}),
      Budget::Options{Tier::kHost, 1536 << 10, "--memory"});
  auto first = *MemoryAccount::open(memory, {});
  auto other = *MemoryAccount::open(memory, {});
  auto staging = *memory->staging(first);
  const int64_t bytes = memory->budget.reservedBytes();
  EXPECT_GE(bytes, 1 << 20);
  auto same = *memory->staging(other); // two would not fit
  EXPECT_EQ(same, staging);
  EXPECT_EQ(memory->budget.reservedBytes(), bytes);
  staging.reset();
  first.reset(); // kept by the staging
  EXPECT_EQ(memory->budget.reservedBytes(), bytes);
  same.reset();
  EXPECT_EQ(memory->budget.reservedBytes(), 0);
  EXPECT_TRUE(memory->staging(other).ok());
  Block most = *other->allocate(1 << 20);
  EXPECT_EQ(memory->staging(other).status().kind(), ErrorKind::kMemory);
}

/// Of whose memory someone else has just had the last written out.
class WrittenForOthers final : public Spillable {
public:
  Block held;
  Expected<int64_t> spill(int64_t) override {
    held.reset();
    return int64_t(0);
  }
  int64_t spillableBytes() const override { return 0; }
};

TEST(MemoryAccount, AsksAgainWhereRoomWasMadeForOthers) {
  auto memory = std::make_shared<RankMemory>(
      std::make_shared<BlockPool>(BlockPool::Options{1 << 30, 1 << 30, "--memory"}),
      Budget::Options{Tier::kHost, 4 << 20, "--memory"});
  auto account = *MemoryAccount::open(memory, {});
  WrittenForOthers others;
  others.held = *account->allocate(4 << 20);
  memory->add(&others);
  EXPECT_TRUE(account->allocate(2 << 20).ok());
  EXPECT_EQ(account->allocate(6 << 20).status().kind(), ErrorKind::kMemory);
  memory->remove(&others);
}

} // namespace
} // namespace headrace::exec
