// What every transport must do, run on each backend with 1 to 4 ranks.
#include <cstring>
#include <map>

#include <gtest/gtest.h>

#include "test/unit/transport/cluster.h"

using namespace headrace;
using namespace headrace::test;

namespace {

/// A program that keeps its first failed expectation.
class Checking : public RankProgram {
public:
  explicit Checking(RankContext context)
      : transport(context.transport), blocks(context.blocks), doorbell(context.doorbell) {}
  Status status() const override { return failure; }

protected:
  template <typename... Parts> void require(bool condition, const Parts &...parts) {
    if (!condition && failure.ok()) {
      failure = makeError(ErrorKind::kInternal, parts...);
    }
  }
  PollState done() const { return failure.ok() ? PollState::kDone : PollState::kFailed; }
  /// Enters a fence at first; true once it is passed.
  bool fence(std::optional<uint64_t> &number) {
    if (!number) {
      Expected<uint64_t> entered = transport.bootstrap().enterFence();
      require(entered.ok(), "fence: ", entered.status().message());
      number = entered.ok() ? *entered : 0;
    }
    Expected<bool> passed = transport.bootstrap().fencePassed(*number);
    require(passed.ok(), "fence: ", passed.status().message());
    return !passed.ok() || *passed;
  }

  Transport &transport;
  BlockPool &blocks;
  Doorbell &doorbell;
  Status failure;
};

HeaderBytes numberedHeader(uint64_t number, uint64_t second = 0) {
  HeaderBytes header{};
  std::memcpy(header.data(), &number, sizeof(number));
  std::memcpy(header.data() + 56, &second, sizeof(second));
  return header;
}

/// With where the sender has the body.
HeaderBytes headerOf(uint64_t number, uint64_t second, const BufferRef &body) {
  HeaderBytes header = numberedHeader(number, second);
  auto address = reinterpret_cast<uint64_t>(body.data());
  std::memcpy(header.data() + 8, &address, sizeof(address));
  return header;
}

uint64_t headerNumber(const HeaderBytes &header, size_t offset = 0) {
  uint64_t number;
  std::memcpy(&number, header.data() + offset, sizeof(number));
  return number;
}

std::byte patternByte(int source, uint64_t number, int64_t at) {
  return static_cast<std::byte>(static_cast<uint64_t>(source) * 31 + number * 7 +
                                static_cast<uint64_t>(at) * 13);
}

/// Every rank sends kMessages with bodies of varied sizes to every rank, itself included, on two
/// channels, and header-only messages on a third that some open late.
class AllToAll : public Checking {
public:
  static constexpr uint64_t kMessages = 20;
  static constexpr int64_t kBufferBytes = 300'000;

  explicit AllToAll(RankContext context) : Checking(context) {
    for (std::unique_ptr<BufferPool> *pool : {&receivePools[0], &receivePools[1], &sendPool}) {
      // The receiving pools have room for everything: flow control is tested one layer up.
      auto made = BufferPool::create(
          blocks,
          {.bufferBytes = kBufferBytes,
           .buffersMax = pool == &sendPool ? 3 : static_cast<int64_t>(kMessages) * transport.size(),
           .doorbell = &doorbell});
      require(made.ok(), made.status().message());
      *pool = std::move(*made);
    }
    for (uint32_t channel : {0u, 1u}) {
      Status status = transport.open(ChannelId(channel), receivePools[channel].get());
      require(status.ok(), status.message());
    }
    if (transport.rank() % 2 == 0) {
      openEarlyMessages();
    }
  }

  PollState poll() override {
    if (!failure.ok()) {
      return PollState::kFailed;
    }
    // Bodies may only be sent once all have opened.
    if (!fence(opened)) {
      return PollState::kPending;
    }
    sendSome();
    receiveAll();
    if (sent < total() || received < 2 * total()) {
      return done() == PollState::kFailed ? PollState::kFailed : PollState::kPending;
    }
    openEarlyMessages();
    while (std::optional<Arrival> arrival = transport.receive(ChannelId(2))) {
      require(!arrival->body, "header-only message with a body");
      require(headerNumber(arrival->header) == nextEarly[arrival->source]++, "early order");
      ++early;
    }
    if (early < total() || !transport.drained()) {
      return done() == PollState::kFailed ? PollState::kFailed : PollState::kPending;
    }
    return fence(finished) ? done() : PollState::kPending;
  }

private:
  uint64_t total() const { return kMessages * static_cast<uint64_t>(transport.size()); }

  void openEarlyMessages() {
    if (!earlyOpen) {
      earlyOpen = true;
      Status status = transport.open(ChannelId(2), nullptr);
      require(status.ok(), status.message());
    }
  }

  static int64_t bodyBytes(uint64_t number) {
    constexpr int64_t kSizes[] = {0, 1, 63, 4096, kBufferBytes};
    return kSizes[number % 5];
  }

  void sendSome() {
    while (sent < total()) {
      int peer = static_cast<int>(sent % static_cast<uint64_t>(transport.size()));
      uint64_t number = sent / static_cast<uint64_t>(transport.size());
      BufferRef body = sendPool->tryTake();
      if (!body) {
        return; // the doorbell rings when one comes back
      }
      body.resize(bodyBytes(number));
      for (int64_t at = 0; at < body.size(); ++at) {
        body.mutableData()[at] = patternByte(transport.rank(), number, at);
      }
      body.seal();
      for (uint32_t channel : {0u, 1u}) {
        Expected<SendTicket> ticket =
            transport.send(peer, ChannelId(channel), headerOf(number, channel, body), body);
        require(ticket.ok(), ticket.status().message());
      }
      Expected<SendTicket> ticket =
          transport.send(peer, ChannelId(2), numberedHeader(number), BufferRef());
      require(ticket.ok(), ticket.status().message());
      ++sent;
    }
  }

  void receiveAll() {
    for (uint32_t channel : {0u, 1u}) {
      while (std::optional<Arrival> arrival = transport.receive(ChannelId(channel))) {
        int source = arrival->source;
        uint64_t number = headerNumber(arrival->header);
        require(number == next[{source, channel}]++, "order: got ", number);
        require(headerNumber(arrival->header, 56) == channel, "end of the header");
        int64_t bytes = arrival->body ? arrival->body.size() : 0;
        require(bytes == bodyBytes(number), "size: got ", bytes);
        require(!arrival->body || arrival->body.sealed(), "arrivals are sealed");
        // Only where the very buffer arrives may communication do without a checksum.
        require(!arrival->body || transport.bodyPassage(source) == BodyPassage::kCopied ||
                    reinterpret_cast<uint64_t>(arrival->body.data()) ==
                        headerNumber(arrival->header, 8),
                "a body said to come by handle was copied, from rank ", source);
        for (int64_t at = 0; at < bytes; at += 97) {
          require(arrival->body.data()[at] == patternByte(source, number, at), "body at ", at);
        }
        ++received;
      }
    }
  }

  std::unique_ptr<BufferPool> receivePools[2];
  std::unique_ptr<BufferPool> sendPool;
  std::optional<uint64_t> opened, finished;
  bool earlyOpen = false;
  uint64_t sent = 0, received = 0, early = 0;
  std::map<std::pair<int, uint32_t>, uint64_t> next;
  std::map<int, uint64_t> nextEarly;
};

/// put, fence, get; twice.
class Bootstrapping : public Checking {
public:
  using Checking::Checking;
  PollState poll() override {
    while (round < 2 && failure.ok()) {
      Bootstrap &bootstrap = transport.bootstrap();
      std::string suffix = "-" + std::to_string(round);
      if (!number) {
        Status put = bootstrap.put("rank-" + std::to_string(transport.rank()) + suffix,
                                   std::string("value\0of ", 9) + suffix);
        require(put.ok(), put.message());
        Status again = bootstrap.put("rank-" + std::to_string(transport.rank()) + suffix, "x");
        require(again.message().starts_with("bootstrap key was put before: rank-"),
                again.message());
      }
      if (!fence(number)) {
        return PollState::kPending;
      }
      for (int rank = 0; rank < transport.size(); ++rank) {
        Expected<std::string> value = bootstrap.get("rank-" + std::to_string(rank) + suffix);
        require(value.ok(), value.status().message());
        require(value.ok() && *value == std::string("value\0of ", 9) + suffix, "value of ", rank);
      }
      Status unknown = bootstrap.get("nobody").status();
      require(unknown.message() == "no bootstrap value under the key (fence first): nobody",
              unknown.message());
      Status large = bootstrap.put("large", std::string(70'000, 'x'));
      require(large.message() == "bootstrap key and value must have 1 to 61440 bytes, got: 70005",
              large.message());
      number.reset();
      ++round;
    }
    return done();
  }

private:
  int round = 0;
  std::optional<uint64_t> number;
};

/// What comes for a closed channel is dropped, and its buffers return.
class Closing : public Checking {
public:
  explicit Closing(RankContext context) : Checking(context) {
    auto made = BufferPool::create(blocks, {.bufferBytes = 4096, .buffersMax = 8});
    pool = std::move(*made);
    require(transport.open(ChannelId(0), pool.get()).ok(), "open");
    require(!transport.open(ChannelId(0), pool.get()).ok(), "a channel is opened once");
  }
  PollState poll() override {
    if (!fence(opened)) {
      return PollState::kPending;
    }
    if (!sent) {
      sent = true;
      for (int peer = 0; peer < transport.size(); ++peer) {
        BufferRef body = pool->tryTake();
        body.resize(100);
        std::memset(body.mutableData(), 1, 100);
        body.seal();
        require(transport.send(peer, ChannelId(0), HeaderBytes{}, std::move(body)).ok(), "send");
      }
      transport.close(ChannelId(0));
    }
    if (!transport.drained() || !fence(finished)) {
      return PollState::kPending;
    }
    require(!transport.receive(ChannelId(0)), "a closed channel gives nothing");
    return done();
  }

private:
  std::unique_ptr<BufferPool> pool;
  std::optional<uint64_t> opened, finished;
  bool sent = false;
};

/// The last rank ends at once; the others see its link go down, and only its.
class Leaving : public Checking {
public:
  using Checking::Checking;
  PollState poll() override {
    if (!fence(started)) {
      return PollState::kPending;
    }
    int leaver = transport.size() - 1;
    if (transport.rank() == leaver) {
      return done();
    }
    Status down = transport.peerStatus(leaver);
    if (down.ok()) {
      return PollState::kPending;
    }
    require(down.kind() == ErrorKind::kIo, "kind of: ", down.message());
    require(down.message().find("rank " + std::to_string(leaver)) != std::string::npos,
            "the message names the rank: ", down.message());
    require(!transport.send(leaver, ChannelId(0), HeaderBytes{}, BufferRef()).ok(), "send fails");
    require(transport.peerStatus(transport.rank()).ok(), "the link to itself is up");
    return done();
  }

private:
  std::optional<uint64_t> started;
};

/// The first rank gives up the last: the link is down for it.
class GivingUp : public Checking {
public:
  using Checking::Checking;
  PollState poll() override {
    if (!fence(started)) {
      return PollState::kPending;
    }
    int last = transport.size() - 1;
    if (transport.rank() == 0 && last > 0) {
      transport.giveUp(last, makeError(ErrorKind::kIo, "no answer from rank ", last));
      require(transport.peerStatus(last).kind() == ErrorKind::kIo, "the link is down");
      require(!transport.send(last, ChannelId(0), HeaderBytes{}, BufferRef()).ok(), "send fails");
      require(transport.drained(), "nothing waits for it");
      require(transport.peerStatus(0).ok(), "the link to itself is up");
    }
    return done();
  }

private:
  std::optional<uint64_t> started;
};

template <typename Program> ProgramFactory make() {
  return [](RankContext context) { return std::make_unique<Program>(context); };
}

} // namespace

class TransportConformance : public testing::TestWithParam<Cluster> {};

TEST_P(TransportConformance, AllToAllInOrderPerChannel) {
  Status status = runCluster(GetParam(), make<AllToAll>());
  EXPECT_TRUE(status.ok()) << status.toString();
}

TEST_P(TransportConformance, BootstrapPutsFencesAndGets) {
  Status status = runCluster(GetParam(), make<Bootstrapping>());
  EXPECT_TRUE(status.ok()) << status.toString();
}

TEST_P(TransportConformance, ClosedChannelsDropWhatComes) {
  Status status = runCluster(GetParam(), make<Closing>());
  EXPECT_TRUE(status.ok()) << status.toString();
}

TEST_P(TransportConformance, TheLinkOfARankThatLeftIsDown) {
  Status status = runCluster(GetParam(), make<Leaving>());
  EXPECT_TRUE(status.ok()) << status.toString();
}

TEST_P(TransportConformance, TheLinkToARankThatWasGivenUpIsDown) {
  Status status = runCluster(GetParam(), make<GivingUp>());
  EXPECT_TRUE(status.ok()) << status.toString();
}

INSTANTIATE_TEST_SUITE_P(Backends, TransportConformance, testing::ValuesIn(allClusters()),
                         [](const auto &info) { return clusterName(info.param); });

TEST(TransportConformanceSeeds, AllToAllUnderManyDelays) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Status status = runCluster({Backend::kSim, 3, seed}, make<AllToAll>());
    ASSERT_TRUE(status.ok()) << "seed " << seed << ": " << status.toString();
  }
}
