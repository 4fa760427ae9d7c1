// The simulated network: determinism, delays, faults, and telling a hang.
// Sources: runtime/transport/sim_run.cpp
#include "runtime/transport/sim.h"

#include <cstring>

#include <gtest/gtest.h>

using namespace headrace;

namespace {

HeaderBytes numbered(uint8_t number) {
  HeaderBytes header{};
  header[0] = std::byte{number};
  return header;
}

/// Rank 0 sends ten messages on each of two channels; returns the order in which rank 1 gets them.
std::string arrivalOrder(uint64_t seed, SimOptions options = {}) {
  VirtualClock clock;
  options.size = 2;
  options.seed = seed;
  SimNetwork network(options, clock);
  auto sender = network.transport(0);
  auto receiver = network.transport(1);
  for (uint32_t channel : {0u, 1u}) {
    EXPECT_TRUE(receiver->open(ChannelId(channel), nullptr).ok());
    for (uint8_t number = 0; number < 10; ++number) {
      EXPECT_TRUE(sender->send(1, ChannelId(channel), numbered(number), BufferRef()).ok());
    }
  }
  std::string order;
  while (network.advance()) {
    for (uint32_t channel : {0u, 1u}) {
      while (std::optional<Arrival> arrival = receiver->receive(ChannelId(channel))) {
        order += static_cast<char>('a' + channel);
        order += std::to_string(static_cast<int>(arrival->header[0]));
      }
    }
  }
  EXPECT_GT(clock.nowNanoseconds(), 0);
  return order;
}

} // namespace

TEST(Sim, EqualSeedsGiveEqualRunsAndChannelsOvertake) {
  bool interleaved = false;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::string order = arrivalOrder(seed);
    EXPECT_EQ(order, arrivalOrder(seed));
    interleaved |= order.find("b0") < order.find("a9");
    for (char channel : {'a', 'b'}) {
      for (char number = '1'; number <= '9'; ++number) {
        EXPECT_LT(order.find({channel, static_cast<char>(number - 1)}),
                  order.find({channel, number}));
      }
    }
  }
  EXPECT_TRUE(interleaved);
}

TEST(Sim, MessagesComeTwice) {
  std::string once = arrivalOrder(3), twice = arrivalOrder(3, {.duplicateProbability = 1});
  EXPECT_EQ(once.size(), 2 * 10 * 2);
  EXPECT_EQ(twice.size(), 2 * once.size());
}

TEST(Sim, MessagesOfAStreamOvertakeEachOther) {
  int overtaken = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::string order = arrivalOrder(seed, {.reorderProbability = 0.5});
    EXPECT_EQ(order.size(), arrivalOrder(seed).size());
    overtaken += order.find("a1") < order.find("a0");
  }
  EXPECT_GT(overtaken, 0);
}

TEST(Sim, APauseEnds) {
  VirtualClock clock;
  SimNetwork network(
      {.size = 2, .pauses = {{.rank = 1, .fromNanoseconds = 0, .toNanoseconds = 700}}}, clock);
  EXPECT_TRUE(network.isPaused(1));
  EXPECT_FALSE(network.isPaused(0));
  ASSERT_TRUE(network.advance()) << "time goes on though nobody sends anything";
  EXPECT_EQ(clock.nowNanoseconds(), 700);
  EXPECT_FALSE(network.isPaused(1));
}

TEST(Sim, ADeathIsNoticedAfterTheDetectionTime) {
  VirtualClock clock;
  SimNetwork network(
      {.size = 3, .deaths = {{.rank = 2, .atNanoseconds = 500}}, .detectNanoseconds = 1000}, clock);
  Doorbell bell;
  auto first = network.transport(0);
  auto second = network.transport(1);
  first->setDoorbell(&bell);
  ASSERT_TRUE(network.advance());
  EXPECT_FALSE(network.alive(2));
  EXPECT_TRUE(first->peerStatus(2).ok());
  bell.consume();
  while (network.advance()) {
  }
  EXPECT_EQ(clock.nowNanoseconds(), 1500);
  EXPECT_TRUE(bell.consume());
  EXPECT_EQ(first->peerStatus(2).message(), "the link is down, the peer died: rank 2");
  EXPECT_FALSE(second->peerStatus(2).ok());
  EXPECT_TRUE(first->peerStatus(1).ok());
}

TEST(Sim, ALostMessageTakesTheLinkDownOnBothEnds) {
  VirtualClock clock;
  SimNetwork network({.size = 2, .loseProbability = 1}, clock);
  auto first = network.transport(0);
  auto second = network.transport(1);
  ASSERT_TRUE(second->open(ChannelId(0), nullptr).ok());
  ASSERT_TRUE(first->send(1, ChannelId(0), numbered(1), BufferRef()).ok());
  while (network.advance()) {
  }
  EXPECT_FALSE(second->receive(ChannelId(0)));
  EXPECT_EQ(first->peerStatus(1).kind(), ErrorKind::kIo);
  EXPECT_EQ(second->peerStatus(0).message(),
            "the link is down, a message was lost from rank 0 to rank 1");
}

TEST(Sim, CorruptionFlipsOneBitOfACopy) {
  VirtualClock clock;
  BlockPool blocks({.capacityBytes = 8 << 20});
  auto pool = std::move(*BufferPool::create(blocks, {.bufferBytes = 128, .buffersMax = 4}));
  SimNetwork network({.size = 2, .corruptProbability = 1}, clock);
  auto first = network.transport(0);
  auto second = network.transport(1);
  ASSERT_TRUE(second->open(ChannelId(0), pool.get()).ok());
  BufferRef body = pool->tryTake();
  body.resize(100);
  std::memset(body.mutableData(), 0, 100);
  body.seal();
  ASSERT_TRUE(first->send(1, ChannelId(0), HeaderBytes{}, body).ok());
  while (network.advance()) {
  }
  std::optional<Arrival> arrival = second->receive(ChannelId(0));
  ASSERT_TRUE(arrival.has_value());
  int bits = 0;
  for (int64_t at = 0; at < 100; ++at) {
    EXPECT_EQ(body.data()[at], std::byte{0});
    bits += __builtin_popcount(static_cast<unsigned>(arrival->body.data()[at]));
  }
  EXPECT_EQ(bits, 1);
}

TEST(Sim, AHangIsTold) {
  VirtualClock clock;
  SimNetwork network({.size = 2}, clock);
  Doorbell bells[2];
  SimRank ranks[] = {{&bells[0], [] { return PollState::kDone; }},
                     {&bells[1], [] { return PollState::kPending; }}};
  Status status = runSimulation(network, ranks, 1);
  EXPECT_EQ(status.message(), "hang: nothing is under way and ranks still wait: 1");
}
