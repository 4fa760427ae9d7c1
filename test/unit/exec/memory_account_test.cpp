// Accounts of memory, and who keeps them.
#include "runtime/exec/memory_account.h"

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
  auto first = *MemoryAccount::open(memory, {.shrinks = true});
  auto other = *MemoryAccount::open(memory, {.shrinks = true});
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

} // namespace
} // namespace headrace::exec
