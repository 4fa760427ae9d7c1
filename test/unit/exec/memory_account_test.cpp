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

} // namespace
} // namespace headrace::exec
