// The exchange: every row arrives once and in order on every backend, memory stays bounded, and
// every fault ends in the same typed error on all ranks.
#include "runtime/communication/exchange.h"
#include "runtime/communication/message.h"

#include <cstring>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "runtime/base/random.h"
#include "runtime/transport/sim.h"
#include "test/unit/communication/board_program.h"
#include "test/unit/communication/damaging_transport.h"

using namespace headrace;
using namespace headrace::test;

namespace {

struct Shape {
  int64_t messages = 60; ///< that each rank sends, to peers drawn at random
  int64_t window = 2;
  int64_t receiveBuffers = 6;
  int64_t heldMax = 2;  ///< received messages that the consumer keeps at once
  int failingRank = -1; ///< raises poison halfway
};

constexpr int64_t kBufferBytes = 2048;

/// Sends numbered messages to random peers and checks what it gets.
class Shuffle : public BoardProgram {
public:
  Shuffle(RankContext context, Shape shape, uint64_t seed)
      : BoardProgram(context), shape_(shape),
        random_(seed * 1000 + static_cast<uint64_t>(context.transport.rank())) {
    receivePool_ = pool(shape.receiveBuffers);
    sendPool_ = pool(3);
    auto opened = Exchange::open(transport, *board, &doorbell,
                                 {.channel = ChannelId(4),
                                  .window = shape.window,
                                  .receivePool = receivePool_.get(),
                                  .task = TaskId(5)});
    require(opened.ok(), opened.status().message());
    exchange_ = std::move(*opened);
  }

  PollState work() override {
    bool progressed = true;
    while (progressed && failure.ok()) {
      progressed = sendOne();
      progressed |= receiveOne();
      if (exchange_->phase() == Exchange::Phase::kFailed) {
        break;
      }
    }
    if (sent_ == shape_.messages && exchange_->phase() == Exchange::Phase::kOpen) {
      exchange_->finish();
    }
    PollState state = exchange_->poll();
    if (state == PollState::kPending && receiveOne()) {
      doorbell.ring(); // poll() brought news
    }
    if (state == PollState::kFailed) {
      held_.clear();
    }
    return failure.ok() ? state : PollState::kFailed;
  }

  void check(PollState outcome) override {
    require(outcome == PollState::kDone, board->status().toString());
    Exchange::Numbers numbers = exchange_->numbers();
    require(numbers.messagesSent == shape_.messages, "sent");
    require(numbers.rowsReceived == rowsReceived_, "rows counted");
    for (int peer = 0; peer < transport.size(); ++peer) {
      require(exchange_->ended(peer), "ended");
    }
    // Every rank draws alike, so what it should have got is known here.
    for (int source = 0; source < transport.size(); ++source) {
      require(next_[source] == expectedFrom(source), "messages of rank ", source, ", expected ",
              expectedFrom(source), ", got: ", next_[source]);
    }
  }

private:
  std::unique_ptr<BufferPool> pool(int64_t buffers) {
    auto made = BufferPool::create(
        blocks, {.bufferBytes = kBufferBytes, .buffersMax = buffers, .doorbell = &doorbell});
    require(made.ok(), made.status().message());
    return std::move(*made);
  }

  int drawPeer(Random &random) const {
    return static_cast<int>(random.below(static_cast<uint64_t>(transport.size())));
  }
  uint64_t seedOf(int rank) const { return static_cast<uint64_t>(rank) + 77; }
  int64_t expectedFrom(int source) const {
    Random random(seedOf(source));
    int64_t count = 0;
    for (int64_t message = 0; message < shape_.messages; ++message) {
      count += drawPeer(random) == transport.rank();
    }
    return count;
  }

  bool sendOne() {
    if (sent_ == shape_.messages || exchange_->phase() != Exchange::Phase::kOpen) {
      return false;
    }
    if (transport.rank() == shape_.failingRank && sent_ == shape_.messages / 2) {
      board->raise(makeError(ErrorKind::kData, "division by zero"), TaskId(1), 42);
      exchange_->poll();
      return false;
    }
    if (!pending_) {
      ExchangeMessage message;
      message.peer = drawPeer(peers_);
      message.rows = static_cast<int64_t>(random_.below(100));
      int64_t number = nextTo_[message.peer];
      message.tag = static_cast<uint64_t>(number);
      if (number % 4 != 3) { // some have no body
        message.body = sendPool_->tryTake();
        if (!message.body) {
          // Draw again the next time.
          held_.clear();
          message.body = sendPool_->tryTake();
        }
        if (!message.body) {
          stalledPeer_ = message.peer;
        } else {
          message.body.resize(number % 4 == 0 ? kBufferBytes : 1 + number % kBufferBytes);
          std::memset(message.body.mutableData(), static_cast<int>(number * 3 + transport.rank()),
                      static_cast<size_t>(message.body.size()));
          message.body.seal();
        }
      }
      if (stalledPeer_ >= 0) {
        peers_ = peersBefore_;
        stalledPeer_ = -1;
        return false;
      }
      peersBefore_ = peers_;
      pending_ = std::move(message);
    }
    switch (exchange_->trySend(*pending_)) {
    case SendResult::kAccepted:
      ++nextTo_[pending_->peer];
      pending_.reset();
      ++sent_;
      return true;
    case SendResult::kNoCredit:
    case SendResult::kFailed:
      return false;
    }
    return false;
  }

  bool receiveOne() {
    std::optional<ExchangeMessage> message = exchange_->receive();
    if (!message) {
      // A consumer that waits keeps nothing: held buffers are what its peers wait for.
      bool had = !held_.empty();
      held_.clear();
      return had;
    }
    int64_t number = next_[message->peer]++;
    require(message->tag == static_cast<uint64_t>(number), "order, expected ", number,
            ", got: ", message->tag);
    require(!message->body == (number % 4 == 3), "body of ", number);
    if (message->body) {
      auto expected = static_cast<std::byte>(number * 3 + message->peer);
      require(message->body.data()[message->body.size() - 1] == expected, "content of ", number);
    }
    rowsReceived_ += message->rows;
    held_.push_back(std::move(*message));
    if (static_cast<int64_t>(held_.size()) > shape_.heldMax) {
      held_.clear();
    }
    return true;
  }

  Shape shape_;
  Random random_;
  Random peers_{seedOf(transport.rank())};
  Random peersBefore_ = peers_;
  std::unique_ptr<BufferPool> receivePool_, sendPool_;
  std::unique_ptr<Exchange> exchange_;
  std::optional<ExchangeMessage> pending_;
  std::vector<ExchangeMessage> held_;
  int stalledPeer_ = -1;
  int64_t sent_ = 0;
  int64_t rowsReceived_ = 0;
  std::map<int, int64_t> nextTo_, next_;
};

ProgramFactory shuffle(Shape shape, uint64_t seed = 0) {
  return [=](RankContext context) { return std::make_unique<Shuffle>(context, shape, seed); };
}

struct Damage {
  DamagingTransport transport;
};

/// This rank gets damaged bodies, or one message that is changed.
class DamagedShuffle final : private Damage, public Shuffle {
public:
  explicit DamagedShuffle(RankContext context, ChangeMessage change = {})
      : Damage{DamagingTransport(context.transport, std::move(change))},
        Shuffle({Damage::transport, context.blocks, context.doorbell}, {}, 0) {}
};

ProgramFactory damagedShuffle() {
  return [](RankContext context) -> std::unique_ptr<RankProgram> {
    if (context.transport.rank() == context.transport.size() - 1) {
      return std::make_unique<DamagedShuffle>(context);
    }
    return std::make_unique<Shuffle>(context, Shape{}, 0);
  };
}

/// A shuffle of which `rank` gets one message of channel 4 and this kind that is changed.
ProgramFactory changedShuffle(int rank, MessageKind kind,
                              const std::function<void(MessageHeader &)> &change) {
  return [=](RankContext context) -> std::unique_ptr<RankProgram> {
    if (context.transport.rank() != rank) {
      return std::make_unique<Shuffle>(context, Shape{}, 0);
    }
    return std::make_unique<DamagedShuffle>(context, [=](MessageHeader &header, BufferRef &) {
      bool isIt = header.channel == 4 && header.kind == kind;
      if (isIt) {
        change(header);
      }
      return isIt;
    });
  };
}

/// What a run with faults came to on every rank that lived.
struct Outcome {
  Status simulation;
  std::vector<Status> ranks;
};

/// A shuffle on a network with faults. Ranks that are killed have no outcome.
Outcome faultyRun(SimOptions options, Shape shape) {
  VirtualClock clock;
  BlockPool blocks({.capacityBytes = 64 << 20});
  SimNetwork network(options, clock);
  auto count = static_cast<size_t>(options.size);
  std::vector<std::unique_ptr<Transport>> transports(count);
  std::vector<Doorbell> doorbells(count);
  std::vector<std::unique_ptr<RankProgram>> programs(count);
  std::vector<SimRank> ranks;
  Outcome outcome;
  for (size_t rank = 0; rank < count; ++rank) {
    transports[rank] = network.transport(static_cast<int>(rank));
    transports[rank]->setDoorbell(&doorbells[rank]);
    programs[rank] = std::make_unique<Shuffle>(
        RankContext{*transports[rank], blocks, doorbells[rank]}, shape, options.seed);
    RankProgram *program = programs[rank].get();
    ranks.push_back({&doorbells[rank], [program] { return program->poll(); }});
  }
  outcome.simulation = runSimulation(network, ranks, options.seed);
  for (size_t rank = 0; rank < count; ++rank) {
    if (network.alive(static_cast<int>(rank))) {
      outcome.ranks.push_back(programs[rank]->status());
    }
  }
  programs.clear();
  transports.clear();
  while (network.advance()) {
  }
  return outcome;
}

} // namespace

class ExchangeTest : public testing::TestWithParam<Cluster> {};

TEST_P(ExchangeTest, EveryMessageArrivesOnceAndInOrder) {
  Status status = runCluster(GetParam(), shuffle({}));
  EXPECT_TRUE(status.ok()) << status.toString();
}

TEST_P(ExchangeTest, OneBufferARankIsEnough) {
  Status status = runCluster(
      GetParam(), shuffle({.window = 3, .receiveBuffers = GetParam().size, .heldMax = 0}));
  EXPECT_TRUE(status.ok()) << status.toString();
}

TEST_P(ExchangeTest, NothingToSend) {
  Status status = runCluster(GetParam(), shuffle({.messages = 0}));
  EXPECT_TRUE(status.ok()) << status.toString();
}

TEST_P(ExchangeTest, AFailureStopsAllRanks) {
  Status status = runCluster(GetParam(), shuffle({.failingRank = GetParam().size - 1}));
  EXPECT_NE(status.message().find("division by zero"), std::string::npos) << status.toString();
}

TEST_P(ExchangeTest, ADamagedBodyStopsAllRanks) {
  Cluster cluster = GetParam();
  bool byHandle = cluster.backend == Backend::kLoopback ||
                  cluster.backend == Backend::kLoopbackThreads ||
                  (cluster.size == 1 && cluster.backend != Backend::kSim);
  bool copied = !byHandle;
  Status status = runCluster(cluster, damagedShuffle());
  EXPECT_EQ(status.ok(), !copied) << "where buffers are handed over, nothing can be damaged";
  EXPECT_EQ(status.message().find("is damaged: ") != std::string::npos, copied)
      << status.toString();
  // The first rank says it, so it was told.
  EXPECT_EQ(status.message().find("rank 0: ") != std::string::npos, copied) << status.toString();
}

INSTANTIATE_TEST_SUITE_P(Backends, ExchangeTest, testing::ValuesIn(allClusters()),
                         [](const auto &info) { return clusterName(info.param); });

TEST(ExchangeSeeds, RightUnderManyDelays) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    int size = 1 + static_cast<int>(seed % 4);
    Status status = runCluster({Backend::kSim, size, seed},
                               shuffle({.messages = 40,
                                        .window = 1 + static_cast<int64_t>(seed % 3),
                                        .receiveBuffers = size + static_cast<int64_t>(seed % 5),
                                        .heldMax = 1},
                                       seed));
    ASSERT_TRUE(status.ok()) << "seed " << seed << ": " << status.toString();
  }
}

TEST(ExchangeSeeds, LostLinksEndInATypedErrorOrARightAnswer) {
  int failed = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Outcome outcome = faultyRun({.size = 3, .seed = seed, .loseProbability = 0.003}, {});
    ASSERT_TRUE(outcome.simulation.ok()) << "seed " << seed << outcome.simulation.toString();
    bool any = false;
    for (const Status &status : outcome.ranks) {
      any |= !status.ok();
    }
    for (const Status &status : outcome.ranks) {
      // A rank that is ok got all its rows (check() says so): only its word that it has stopped was
      // lost to another.
      EXPECT_TRUE(status.ok() || status.message().find("the link is down") != std::string::npos)
          << "seed " << seed << ": " << status.toString();
    }
    failed += any;
  }
  EXPECT_GT(failed, 50);
  EXPECT_LT(failed, 200);
}

TEST(ExchangeSeeds, ADeadPeerIsNamedByAllSurvivors) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    int64_t at = static_cast<int64_t>(seed) * 2'000;
    Outcome outcome =
        faultyRun({.size = 3,
                   .seed = seed,
                   .deaths = {{.rank = static_cast<int>(seed % 3), .atNanoseconds = at}}},
                  {.messages = 200});
    ASSERT_TRUE(outcome.simulation.ok()) << "seed " << seed << outcome.simulation.toString();
    ASSERT_EQ(outcome.ranks.size(), 2u);
    for (const Status &status : outcome.ranks) {
      EXPECT_NE(status.message().find("the peer died: rank " + std::to_string(seed % 3)),
                std::string::npos)
          << "seed " << seed << ": " << status.toString();
    }
  }
}

TEST(ExchangeSeeds, DamageIsNeverTakenForData) {
  int damaged = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Outcome outcome = faultyRun({.size = 2, .seed = seed, .corruptProbability = 0.01}, {});
    // A damaged credit or end makes no progress possible on that link; the damage itself is told.
    ASSERT_TRUE(outcome.simulation.ok()) << "seed " << seed << outcome.simulation.toString();
    for (const Status &status : outcome.ranks) {
      if (!status.ok()) {
        ++damaged;
        EXPECT_NE(status.message().find("is damaged"), std::string::npos) << status.toString();
      }
    }
  }
  EXPECT_GT(damaged, 20);
}

TEST(ExchangeSeeds, ASilentLossIsNeverARightAnswer) {
  int noticed = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Outcome outcome = faultyRun({.size = 2, .seed = seed, .vanishProbability = 0.02}, {});
    for (const Status &status : outcome.ranks) {
      // Data and credits that vanish last leave a hang, which the simulation tells; all else is
      // seen.
      noticed += status.message().find("messages were lost") != std::string::npos;
      EXPECT_TRUE(status.ok() || status.message().find("were lost") != std::string::npos)
          << status.toString();
    }
  }
  EXPECT_GT(noticed, 20);
}

TEST(Exchange, OfSomeRanksRefusesMessagesOfOthers) {
  VirtualClock clock;
  BlockPool blocks({.capacityBytes = 64 << 20});
  SimNetwork network({.size = 3}, clock);
  auto transport = network.transport(1);
  auto stranger = network.transport(0);
  Doorbell doorbell;
  auto board = std::move(*PoisonBoard::open(*transport, blocks, &doorbell));
  auto pool = std::move(*BufferPool::create(blocks, {.bufferBytes = 64, .buffersMax = 4}));
  auto exchange = std::move(
      *Exchange::open(*transport, *board, &doorbell,
                      {.channel = ChannelId(1), .members = {1, 2}, .receivePool = pool.get()}));
  MessageHeader header;
  header.kind = MessageKind::kCredits;
  header.channel = 1;
  header.source = 0;
  header.rows = 1;
  ASSERT_TRUE(stranger->send(1, ChannelId(1), encodeHeader(header), BufferRef()).ok());
  while (network.advance()) {
  }
  EXPECT_EQ(exchange->credits(0),
            0); // of rank 1 itself: granted before, but the exchange has failed
  EXPECT_EQ(exchange->status().message(), "a message from no member of channel 1, rank: 0");
}

/// Members of an exchange to the first on one thread.
struct ToFirst {
  struct Member {
    std::unique_ptr<Transport> transport;
    Doorbell doorbell;
    std::unique_ptr<PoisonBoard> board;
    std::unique_ptr<BufferPool> pool;
    std::unique_ptr<Exchange> exchange;
  };

  ToFirst(int ranks, int64_t window) : network({.size = ranks}, clock) {
    for (int rank = 0; rank < ranks; ++rank) {
      auto member = std::make_unique<Member>();
      member->transport = network.transport(rank);
      member->board = std::move(*PoisonBoard::open(*member->transport, blocks, &member->doorbell));
      const int64_t buffers = rank == 0 ? window * ranks : window;
      member->pool =
          std::move(*BufferPool::create(blocks, {.bufferBytes = 64, .buffersMax = buffers}));
      member->exchange =
          std::move(*Exchange::open(*member->transport, *member->board, &member->doorbell,
                                    {.channel = ChannelId(1),
                                     .receivers = Receivers::kFirst,
                                     .window = window,
                                     .receivePool = member->pool.get()}));
      members.push_back(std::move(member));
    }
    settle();
  }
  ~ToFirst() {
    for (const std::unique_ptr<Member> &member : members) {
      member->exchange.reset();
    }
  }
  void settle() {
    while (network.advance()) {
    }
  }

  VirtualClock clock;
  BlockPool blocks{BlockPool::Options{.capacityBytes = 64 << 20}};
  SimNetwork network;
  std::vector<std::unique_ptr<Member>> members;
};

TEST(Exchange, ToTheFirstMemberAloneTheOthersOweNothing) {
  constexpr int kRanks = 5;
  ToFirst together(kRanks, 2);
  EXPECT_EQ(together.network.messagesDelivered(), kRanks); // room at the first, for each
  for (int rank = 1; rank < kRanks; ++rank) {
    Exchange &exchange = *together.members[static_cast<size_t>(rank)]->exchange;
    EXPECT_EQ(exchange.credits(0), 2);
    EXPECT_EQ(exchange.credits(2), 0);
    ExchangeMessage message{.peer = 0, .rows = rank};
    EXPECT_EQ(exchange.trySend(message), SendResult::kAccepted);
    exchange.finish();
    EXPECT_EQ(exchange.poll(), PollState::kDone); // nothing comes to it
  }
  Exchange &first = *together.members[0]->exchange;
  first.finish();
  together.settle();
  EXPECT_EQ(first.poll(), PollState::kPending);
  int64_t rows = 0;
  while (std::optional<ExchangeMessage> message = first.receive()) {
    rows += message->rows;
  }
  EXPECT_EQ(rows, 1 + 2 + 3 + 4);
  EXPECT_EQ(first.poll(), PollState::kDone);
}

/// Some of those whose messages were taken get their windows back, for the others there are too
/// few.
TEST(Exchange, MessagesThatBreakTheProtocolStopAllRanks) {
  auto messageOf = [](int rank, MessageKind kind, std::function<void(MessageHeader &)> change) {
    return runCluster({Backend::kLoopback, 2}, changedShuffle(rank, kind, change)).message();
  };
  auto expect = [](const std::string &message, const char *part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect(messageOf(0, MessageKind::kData, [](auto &header) { header.kind = MessageKind::kAsk; }),
         "an unexpected kind of message from rank 1 on channel 4: expected 1, got: 8");
  expect(messageOf(0, MessageKind::kEnd, [](auto &header) { ++header.sequence; }),
         "messages were lost before the end from rank 1 on channel 4: expected ");
  // Rank 1 believes that it may send more.
  expect(messageOf(1, MessageKind::kCredits, [](auto &header) { header.rows += 1000; }),
         "a message beyond the credits from rank 1 on channel 4");
}

TEST(Exchange, CreditsNeverExceedTheBuffers) {
  constexpr int64_t kWindow = 4;
  ToFirst together(3, kWindow);
  Exchange &first = *together.members[0]->exchange;
  first.finish();
  std::vector<ExchangeMessage> held;
  for (size_t kept : {5, 0}) {
    for (size_t rank : {1, 2}) {
      ToFirst::Member &member = *together.members[rank];
      while (member.exchange->credits(0) > 0) {
        ExchangeMessage message{.peer = 0, .rows = 1, .body = member.pool->tryTake()};
        ASSERT_TRUE(message.body);
        message.body.resize(64);
        message.body.seal();
        ASSERT_EQ(member.exchange->trySend(message), SendResult::kAccepted);
      }
    }
    together.settle();
    while (std::optional<ExchangeMessage> message = first.receive()) {
      held.push_back(std::move(*message));
    }
    held.resize(kept);
    EXPECT_EQ(first.poll(), PollState::kPending) << first.status().toString();
    together.settle();
  }
}

TEST(Exchange, TooFewBuffersAndTooLargeMessages) {
  VirtualClock clock;
  BlockPool blocks({.capacityBytes = 64 << 20});
  SimNetwork network({.size = 2}, clock);
  auto transport = network.transport(0);
  Doorbell doorbell;
  auto board = std::move(*PoisonBoard::open(*transport, blocks, &doorbell));
  auto small = std::move(*BufferPool::create(blocks, {.bufferBytes = 64, .buffersMax = 1}));
  auto refused = Exchange::open(*transport, *board, &doorbell,
                                {.channel = ChannelId(0), .receivePool = small.get()});
  EXPECT_EQ(refused.status().message(), "an exchange needs a receive buffer a member, 2, got: 1");

  auto pool = std::move(*BufferPool::create(blocks, {.bufferBytes = 64, .buffersMax = 4}));
  auto large = std::move(*BufferPool::create(blocks, {.bufferBytes = 128, .buffersMax = 1}));
  auto exchange = std::move(*Exchange::open(*transport, *board, &doorbell,
                                            {.channel = ChannelId(1), .receivePool = pool.get()}));
  while (network.advance()) {
  }
  ExchangeMessage message;
  message.peer = 0;
  message.body = large->tryTake();
  message.body.resize(65);
  message.body.seal();
  EXPECT_EQ(exchange->trySend(message), SendResult::kFailed);
  EXPECT_EQ(exchange->status().message(),
            "a message of 65 B does not fit an exchange buffer of 64 B; raise --exchange-buffer");
  message.body.reset();
  exchange.reset();
}
