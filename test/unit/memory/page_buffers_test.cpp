// Buffers of pages: used again where there is room, given back where there is none.
#include "runtime/memory/page_buffers.h"
#include "runtime/storage/files/padded_buffer.h"

#include <gtest/gtest.h>

using namespace headrace;
using storage::PaddedBuffer;

namespace {

constexpr uint64_t kMiB = 1 << 20;

TEST(PageBuffers, AreUsedAgainForPagesOfAboutTheirSize) {
  auto pages = std::make_shared<PageBuffers>();
  auto tier = std::make_shared<MemoryTier>(64 * kMiB);
  pages->use(tier);
  const uint8_t *first = nullptr;
  {
    PaddedBuffer buffer(2 * kMiB, pages);
    first = buffer.data();
    std::memset(buffer.data(), 1, buffer.capacity());
    EXPECT_EQ(tier->usedBytes(), 0); // charged by who uses it
  }
  EXPECT_GE(pages->keptBytes(), 2 * kMiB);
  EXPECT_EQ(tier->usedBytes(), static_cast<int64_t>(pages->keptBytes()));
  PaddedBuffer larger(3 * kMiB, pages), muchSmaller(kMiB, pages);
  EXPECT_NE(larger.data(), first);
  EXPECT_NE(muchSmaller.data(), first);
  PaddedBuffer similar(2 * kMiB - 100'000, pages);
  EXPECT_EQ(similar.data(), first);
  EXPECT_EQ(similar.bytes(), 2 * kMiB - 100'000);
  EXPECT_GE(similar.capacity(), 2 * kMiB);
  EXPECT_EQ(pages->keptBytes(), 0u);
  EXPECT_EQ(tier->usedBytes(), 0);
}

TEST(PageBuffers, GiveWayAndKeepNothingWithoutRoom) {
  auto pages = std::make_shared<PageBuffers>();
  {
    PaddedBuffer buffer(kMiB, pages);
  } // no tier yet
  EXPECT_EQ(pages->keptBytes(), 0u);
  auto tier = std::make_shared<MemoryTier>(64 * kMiB);
  pages->use(tier);
  {
    PaddedBuffer buffer(8 * kMiB, pages);
  } // more than a part of the tier
  EXPECT_EQ(pages->keptBytes(), 0u);
  {
    PaddedBuffer one(kMiB, pages), other(2 * kMiB, pages);
  }
  EXPECT_GE(pages->keptBytes(), 3 * kMiB);
  ASSERT_TRUE(tier->take(62 * kMiB)); // the larger one goes
  EXPECT_GE(pages->keptBytes(), kMiB);
  EXPECT_LT(pages->keptBytes(), 2 * kMiB);
  {
    PaddedBuffer buffer(2 * kMiB, pages);
  }
  EXPECT_LT(pages->keptBytes(), 2 * kMiB);
  tier->giveBack(62 * kMiB);
  pages->use(nullptr);
  EXPECT_EQ(tier->usedBytes(), 0);
}

TEST(PageBuffers, SmallOnesAreNotTheirs) {
  auto pages = std::make_shared<PageBuffers>();
  auto tier = std::make_shared<MemoryTier>(64 * kMiB);
  pages->use(tier);
  {
    PaddedBuffer buffer(1000, pages);
  }
  EXPECT_EQ(pages->keptBytes(), 0u);
}

} // namespace
