// Pool buffers: bounded, counted, sealed, and safe to outlive their pool.
#include "runtime/memory/buffer_pool.h"

#include <thread>

#include <gtest/gtest.h>

using namespace headrace;

namespace {
struct Fixture {
  BlockPool blocks{{.capacityBytes = 64 << 20, .retainedBytesMax = 64 << 20}};
  std::unique_ptr<BufferPool> make(int64_t buffersMax, Doorbell *bell = nullptr) {
    auto pool = BufferPool::create(
        blocks, {.bufferBytes = 4096, .buffersMax = buffersMax, .doorbell = bell});
    EXPECT_TRUE(pool.ok());
    return std::move(*pool);
  }
};
} // namespace

TEST(BufferPool, RunningOutIsBackpressureAndTheDoorbellTellsOfReturns) {
  Fixture fixture;
  Doorbell bell;
  auto pool = fixture.make(2, &bell);
  BufferRef first = pool->tryTake();
  BufferRef second = pool->tryTake();
  BufferRef copy = second;
  EXPECT_FALSE(pool->tryTake());
  second.reset();
  EXPECT_FALSE(bell.consume());
  copy.reset();
  EXPECT_TRUE(bell.consume());
  EXPECT_EQ(pool->freeBuffers(), 1);
  first.reset();
  EXPECT_FALSE(bell.consume()); // nobody was waiting
}

TEST(BufferPool, ABufferTakenAgainIsEmptyAndUnsealed) {
  Fixture fixture;
  auto pool = fixture.make(1);
  BufferRef buffer = pool->tryTake();
  buffer.mutableData()[0] = std::byte{42};
  buffer.resize(10);
  buffer.seal();
  EXPECT_TRUE(buffer.sealed());
  EXPECT_EQ(buffer.data()[0], std::byte{42});
  EXPECT_DEATH(buffer.mutableData(), "broken invariant");
  buffer.reset();
  buffer = pool->tryTake();
  EXPECT_FALSE(buffer.sealed());
  EXPECT_EQ(buffer.size(), 0);
  EXPECT_EQ(buffer.capacity(), 4096);
  EXPECT_DEATH(buffer.resize(4097), "broken invariant");
}

TEST(BufferPool, BuffersOutliveTheirPool) {
  Fixture fixture;
  auto pool = fixture.make(3);
  BufferRef buffer = pool->tryTake();
  buffer.mutableData()[4095] = std::byte{1};
  pool.reset();
  EXPECT_GT(fixture.blocks.liveBytes(), 0);
  EXPECT_EQ(buffer.data()[4095], std::byte{1});
  buffer.reset();
  EXPECT_EQ(fixture.blocks.liveBytes(), 0);
}

TEST(BufferPool, HandlesCrossThreads) {
  Fixture fixture;
  Doorbell bell;
  auto pool = fixture.make(4, &bell);
  std::mutex mutex;
  std::vector<BufferRef> queue;
  constexpr int kMessages = 3000;
  std::thread consumer([&] {
    int got = 0;
    while (got < kMessages) {
      std::vector<BufferRef> taken;
      {
        std::lock_guard lock(mutex);
        taken.swap(queue);
      }
      for (BufferRef &buffer : taken) {
        EXPECT_EQ(static_cast<int>(buffer.data()[0]), got % 100);
        ++got;
      }
    }
  });
  for (int sent = 0; sent < kMessages;) {
    BufferRef buffer = pool->tryTake();
    if (!buffer) {
      ASSERT_NE(bell.wait(10'000'000'000), Doorbell::Wake::kTimeout);
      continue;
    }
    buffer.mutableData()[0] = static_cast<std::byte>(sent % 100);
    buffer.seal();
    std::lock_guard lock(mutex);
    queue.push_back(std::move(buffer));
    ++sent;
  }
  consumer.join();
  EXPECT_EQ(pool->freeBuffers(), 4);
}
