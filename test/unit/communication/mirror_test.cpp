// One rank among mirrored ones comes to the end of what it does, and what it sends is counted.
#include "runtime/communication/mirror.h"

#include <gtest/gtest.h>

#include "runtime/communication/communicator.h"
#include "runtime/communication/exchange.h"

using namespace headrace;

namespace {

constexpr ChannelId kChannel{3};

/// A rank of so many.
struct Rank {
  explicit Rank(MirrorOptions options) : transport(std::move(options)) {
    board = std::move(*PoisonBoard::open(transport, blocks, &doorbell));
  }
  std::unique_ptr<BufferPool> pool(int64_t buffers) {
    return std::move(*BufferPool::create(blocks, {.bufferBytes = 64, .buffersMax = buffers}));
  }
  MirrorNumbers numbers(ChannelId channel) const { return transport.numbers()[channel.value]; }

  BlockPool blocks{{.capacityBytes = 256 << 20}};
  MirrorTransport transport;
  Doorbell doorbell;
  std::unique_ptr<PoisonBoard> board;
};

TEST(Mirror, AnExchangeEndsAtAnyNumberOfRanks) {
  for (int ranks : {2, 3, 64, 5000}) {
    Rank rank({.rank = ranks - 1, .size = ranks});
    auto pool = rank.pool(2 * ranks);
    auto exchange =
        std::move(*Exchange::open(rank.transport, *rank.board, &rank.doorbell,
                                  {.channel = kChannel, .window = 2, .receivePool = pool.get()}));
    ExchangeMessage message{.peer = 0, .rows = 7};
    EXPECT_EQ(exchange->trySend(message), SendResult::kAccepted);
    exchange->finish();
    EXPECT_EQ(exchange->poll(), PollState::kPending);
    std::optional<ExchangeMessage> back = exchange->receive();
    ASSERT_TRUE(back);
    EXPECT_EQ(back->rows, 7); // of the rank that has as many for this one
    EXPECT_EQ(exchange->poll(), PollState::kDone);
    MirrorNumbers sent = rank.numbers(kChannel);
    EXPECT_EQ(sent.data, 1);
    EXPECT_GE(sent.control, 2 * (ranks - 1)); // room, and the end
    EXPECT_EQ(sent.peers.size(), static_cast<size_t>(ranks - 1));
    exchange.reset();
    EXPECT_EQ(rank.board->settle(), PollState::kPending); // says so, and hears it of the others
    EXPECT_EQ(rank.board->settle(), PollState::kDone);
    EXPECT_EQ(rank.numbers(kPoisonChannel).control, ranks - 1);
  }
}

TEST(Mirror, TheReceiverOfAGatherAndTheOthers) {
  constexpr int kRanks = 64;
  for (int at : {0, 5}) {
    Rank rank({.rank = at, .size = kRanks, .gathers = {{kChannel.value, {0}}}, .window = 2});
    auto pool = rank.pool(2 * kRanks);
    auto exchange = std::move(*Exchange::open(rank.transport, *rank.board, &rank.doorbell,
                                              {.channel = kChannel,
                                               .receivers = Receivers::kFirst,
                                               .window = 2,
                                               .receivePool = pool.get()}));
    if (at != 0) {
      ExchangeMessage message{.peer = 0, .rows = 7};
      EXPECT_EQ(exchange->trySend(message), SendResult::kAccepted);
    }
    exchange->finish();
    EXPECT_EQ(exchange->poll(), PollState::kDone);
    EXPECT_EQ(rank.numbers(kChannel).peers.size(), at == 0 ? kRanks - 1u : 1u);
    EXPECT_EQ(rank.numbers(kChannel).control, at == 0 ? kRanks - 1 : 1);
  }
}

TEST(Mirror, AnExchangeAlongOneAxis) {
  // 5 x 4: along the second axis rank 6 is with 4, 5 and 7; what it has for 7, 5 has for it.
  Rank rank({.rank = 6, .size = 20, .mesh = {5, 4}});
  auto pool = rank.pool(8);
  auto exchange = std::move(*Exchange::open(
      rank.transport, *rank.board, &rank.doorbell,
      {.channel = kChannel, .members = {4, 5, 6, 7}, .window = 2, .receivePool = pool.get()}));
  ExchangeMessage message{.peer = 3, .rows = 7};
  EXPECT_EQ(exchange->trySend(message), SendResult::kAccepted);
  exchange->finish();
  EXPECT_EQ(exchange->poll(), PollState::kPending);
  std::optional<ExchangeMessage> back = exchange->receive();
  ASSERT_TRUE(back);
  EXPECT_EQ(back->peer, 1);
  EXPECT_EQ(exchange->poll(), PollState::kDone);
  EXPECT_EQ(rank.numbers(kChannel).peers, (std::set<int>{4, 5, 7}));
}

TEST(Mirror, AllReduceByDoublingAndAroundARing) {
  for (int ranks : {4, 64, 96}) {
    for (int64_t doublingBytesMax : {0, 1 << 20}) {
      Rank rank({.rank = ranks - 1, .size = ranks});
      CommunicatorOptions options;
      options.channel = ChannelId(kFirstCommunicatorChannel);
      options.bufferBytes = 4096;
      options.doublingBytesMax = doublingBytesMax;
      auto communicator = std::move(
          *Communicator::open(rank.transport, *rank.board, rank.blocks, &rank.doorbell, options));
      std::vector<float> data(static_cast<size_t>(ranks) * 4, 1.0F);
      Collective sum = communicator->allReduce(data.data(), std::ssize(data), ElementType::kFloat32,
                                               ReduceOp::kSum);
      int polls = 0;
      while (sum.poll() == PollState::kPending && ++polls < 10'000) {
      }
      ASSERT_EQ(sum.poll(), PollState::kDone) << sum.status().toString();
      size_t peers = rank.numbers(options.channel).peers.size();
      EXPECT_EQ(peers, doublingBytesMax == 0 ? 2u : ranks == 4 ? 2u : 6u);
    }
  }
}

} // namespace
