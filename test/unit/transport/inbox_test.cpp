// The inbox's rules about bodies and channels, as every backend has them.
#include "runtime/transport/inbox.h"

#include <gtest/gtest.h>

#include "runtime/transport/loopback.h"

using namespace headrace;

namespace {
struct Fixture {
  BlockPool blocks{{.capacityBytes = 8 << 20}};
  std::unique_ptr<BufferPool> pool =
      std::move(*BufferPool::create(blocks, {.bufferBytes = 128, .buffersMax = 2}));
};
} // namespace

TEST(Inbox, BodiesNeedAnOpenChannelRoomAndABuffer) {
  Fixture fixture;
  Inbox inbox;
  ChannelId channel(3);
  auto message = [&](int64_t bytes) { return inbox.bufferFor(channel, bytes).status().message(); };
  EXPECT_EQ(message(8), "a body came for a channel that receives none: 3");
  ASSERT_TRUE(inbox.open(channel, fixture.pool.get()).ok());
  EXPECT_EQ(message(129), "a body for channel 3 is larger than its buffers of 128 bytes, got: 129");
  Expected<BufferRef> first = inbox.bufferFor(channel, 128);
  Expected<BufferRef> second = inbox.bufferFor(channel, 1);
  EXPECT_EQ(first->size(), 128);
  EXPECT_EQ(message(1), "a body came beyond the credits of channel 3");
  inbox.close(channel);
  Expected<BufferRef> dropped = inbox.bufferFor(channel, 1);
  EXPECT_TRUE(dropped.ok() && !*dropped);
}

TEST(Inbox, EarlyMessagesAreBounded) {
  Inbox inbox;
  for (size_t count = 0; count < Inbox::kEarlyMessagesMax; ++count) {
    ASSERT_TRUE(inbox.deliver(ChannelId(1), {}).ok());
  }
  EXPECT_EQ(inbox.deliver(ChannelId(1), {}).message(),
            "too many messages before the opening of channel 1");
}

TEST(Inbox, OfManyRanksMoreMayBeEarly) {
  Inbox inbox;
  inbox.setRanks(10'000);
  for (size_t count = 0; count < 20'000; ++count) {
    ASSERT_TRUE(inbox.deliver(ChannelId(1), {}).ok());
  }
  EXPECT_GT(inbox.earlyMessagesMax(), Inbox::kEarlyMessagesMax);
}

TEST(Inbox, OpeningAChannelWithEarlyMessagesRings) {
  Inbox inbox;
  ASSERT_TRUE(inbox.deliver(ChannelId(1), {}).ok());
  Doorbell bell;
  inbox.setDoorbell(&bell);
  ASSERT_TRUE(inbox.open(ChannelId(1), nullptr).ok());
  EXPECT_TRUE(bell.consume());
  EXPECT_TRUE(inbox.receive(ChannelId(1)).has_value());
}

TEST(Loopback, TheLinkOfADestroyedRankIsDownAndItsBuffersStay) {
  Fixture fixture;
  auto transports = makeLoopback(2);
  Doorbell bell;
  transports[0]->setDoorbell(&bell);
  ASSERT_TRUE(transports[0]->open(ChannelId(0), fixture.pool.get()).ok());
  BufferRef body = fixture.pool->tryTake();
  body.mutableData()[0] = std::byte{9};
  body.resize(1);
  body.seal();
  ASSERT_TRUE(transports[1]->send(0, ChannelId(0), {}, std::move(body)).ok());
  bell.consume();
  transports[1].reset();
  EXPECT_TRUE(bell.consume());
  EXPECT_EQ(transports[0]->peerStatus(1).kind(), ErrorKind::kIo);
  EXPECT_EQ(transports[0]->send(1, ChannelId(0), {}, BufferRef()).status().kind(), ErrorKind::kIo);
  std::optional<Arrival> arrival = transports[0]->receive(ChannelId(0));
  ASSERT_TRUE(arrival.has_value());
  EXPECT_EQ(arrival->body.data()[0], std::byte{9});
}
