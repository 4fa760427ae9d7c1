// What a session keeps between runs.
#include "runtime/exec/session.h"

#include <gtest/gtest.h>

namespace headrace::exec {
namespace {

constexpr int64_t kMebi = 1 << 20;

int64_t keptAfter(Session &session, int64_t blockBytes) {
  Expected<Block> block = session.blocks()->allocate(blockBytes);
  EXPECT_TRUE(block.ok());
  *block = Block();
  session.endRun();
  return session.hostTier()->usedBytes();
}

TEST(Session, FreedBlocksThatNoRunIsExpectedToNeedGoWhenARunEnds) {
  Session session({.threads = 0, .memoryBytes = 64 * kMebi, .retainedBytes = 64 * kMebi});
  EXPECT_EQ(keptAfter(session, 48 * kMebi), 48 * kMebi);
  // One run more is expected to need as much, the next is not: a quarter of the memory is left.
  EXPECT_EQ(keptAfter(session, 4 * kMebi), 52 * kMebi);
  EXPECT_EQ(keptAfter(session, 4 * kMebi), 4 * kMebi);
}

TEST(Session, WhereMemoryIsPlentyFreedBlocksStay) {
  Session session({.threads = 0, .memoryBytes = 1024 * kMebi, .retainedBytes = 1024 * kMebi});
  EXPECT_EQ(keptAfter(session, 48 * kMebi), 48 * kMebi);
  session.endRun();
  session.endRun();
  EXPECT_EQ(session.hostTier()->usedBytes(), 48 * kMebi);
}

} // namespace
} // namespace headrace::exec
