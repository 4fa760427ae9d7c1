// What every transport must do, run on each backend with 1 to 4 ranks.
#include <chrono>
#include <cstring>
#include <map>
#include <thread>

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
  /// A pool of bodies that are sent.
  std::unique_ptr<BufferPool> makeSendPool(BufferPool::Options options) {
    std::shared_ptr<BlockPool> seen = transport.bodyBlocks();
    auto made = BufferPool::create(seen ? *seen : blocks, options);
    require(made.ok(), made.status().message());
    (*made)->keep(seen);
    return std::move(*made);
  }
  PollState done() const { return failure.ok() ? PollState::kDone : PollState::kFailed; }
  /// Tells all ranks at first that this one has come so far; true once all have said so. Where
  /// links may be cut meanwhile, what was sent over them may be lost: nothing is waited for there.
  enum class Links { kUp, kMayBeCut };
  bool fence(std::optional<int> &number, Links links = Links::kUp) {
    auto isCut = [&](int peer) {
      return links == Links::kMayBeCut && !transport.peerStatus(peer).ok();
    };
    if (!number) {
      number = fences++;
      if (*number == 0) {
        require(transport.open(kFenceChannel, nullptr).ok(), "open the fence's channel");
      }
      for (int peer = 0; peer < transport.size(); ++peer) {
        Status status = transport.send(peer, kFenceChannel, HeaderBytes{}, BufferRef()).status();
        require(status.ok() || isCut(peer), "fence: ", status.message());
      }
    }
    while (std::optional<Arrival> arrival = transport.receive(kFenceChannel)) {
      ++reached[arrival->source];
    }
    for (int peer = 0; peer < transport.size(); ++peer) {
      if (reached[peer] <= *number && !isCut(peer)) {
        return false;
      }
    }
    return true;
  }

  Transport &transport;
  BlockPool &blocks;
  Doorbell &doorbell;
  Status failure;

private:
  static constexpr ChannelId kFenceChannel{kPlanChannelsMax - 1};
  int fences = 0;
  std::map<int, int> reached; ///< fences by rank
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
    sendPool = makeSendPool({kBufferBytes, 3, &doorbell});
    for (std::unique_ptr<BufferPool> &pool : receivePools) {
      // They have room for everything: flow control is tested one layer up.
      auto made = BufferPool::create(blocks, {.bufferBytes = kBufferBytes,
                                              .buffersMax = int64_t{kMessages} * transport.size(),
                                              .doorbell = &doorbell});
      require(made.ok(), made.status().message());
      pool = std::move(*made);
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
  std::optional<int> opened, finished;
  bool earlyOpen = false;
  uint64_t sent = 0, received = 0, early = 0;
  std::map<std::pair<int, uint32_t>, uint64_t> next;
  std::map<int, uint64_t> nextEarly;
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
  std::optional<int> opened, finished;
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
  std::optional<int> started;
};

/// The first rank gives up the last: the link is down for it. What was under way may be lost with
/// it; then the last sees its link go down, too.
class GivingUp : public Checking {
public:
  using Checking::Checking;
  PollState poll() override {
    int last = transport.size() - 1;
    if (!fence(started, Links::kMayBeCut)) {
      return PollState::kPending;
    }
    if (transport.rank() == 0 && last > 0 && !hasGivenUp) {
      hasGivenUp = true;
      transport.giveUp(last, makeError(ErrorKind::kIo, "no answer from rank ", last));
      require(transport.peerStatus(last).kind() == ErrorKind::kIo, "the link is down");
      require(!transport.send(last, ChannelId(0), HeaderBytes{}, BufferRef()).ok(), "send fails");
      require(transport.peerStatus(0).ok(), "the link to itself is up");
    }
    // What waited for it waits no longer; a hang is an error.
    return transport.drained() ? done() : PollState::kPending;
  }

private:
  std::optional<int> started;
  bool hasGivenUp = false;
};

/// The last rank is slow to take in what comes for it.
class SlowAllToAll : public AllToAll {
public:
  using AllToAll::AllToAll;
  PollState poll() override {
    if (transport.rank() == transport.size() - 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return AllToAll::poll();
  }
};

/// A rank that breaks the protocol damages nothing: who receives gets no such body, and cuts the
/// link to it unless the transport refused to send at all. Where a buffer is handed over, no pool
/// can be short of room.
class Breach : public Checking {
public:
  enum class Kind : uint8_t { kNoPool, kTooLarge, kBeyondCredits };
  Breach(RankContext context, Kind kind) : Checking(context), kind(kind) {
    sendPool = makeSendPool({.bufferBytes = 4096, .buffersMax = 2});
    receivePool = *BufferPool::create(blocks, {.bufferBytes = 2048, .buffersMax = 1});
    require(transport.open(ChannelId(0), kind == Kind::kNoPool ? nullptr : receivePool.get()).ok(),
            "open");
  }
  PollState poll() override {
    int last = transport.size() - 1;
    if (last == 0 || !fence(opened, Links::kMayBeCut)) {
      return last == 0 ? done() : PollState::kPending;
    }
    if (transport.rank() == 0 && !sent) {
      sent = true;
      for (int count = 0; count < (kind == Kind::kBeyondCredits ? 2 : 1); ++count) {
        BufferRef body = sendPool->tryTake();
        body.resize(kind == Kind::kTooLarge ? 4096 : 100);
        std::memset(body.mutableData(), 1, static_cast<size_t>(body.size()));
        body.seal();
        Status status = transport.send(last, ChannelId(0), HeaderBytes{}, std::move(body)).status();
        require(status.ok() || status.kind() == ErrorKind::kCorrupt, status.message());
        refused = !status.ok();
      }
    }
    int other = transport.rank() == last ? 0 : last;
    if (transport.bodyPassage(other) == BodyPassage::kByHandle) {
      require(transport.rank() != 0 || refused || kind == Kind::kBeyondCredits, "it was sent");
      return end(fence(finished));
    }
    if (transport.rank() != last) {
      return end(transport.drained());
    }
    Status cut = transport.peerStatus(0);
    const char *wanted = kind == Kind::kNoPool     ? "a body came for a channel that receives none"
                         : kind == Kind::kTooLarge ? "is larger than its buffers of 2048 bytes"
                                                   : "a body came beyond the credits of channel";
    require(cut.ok() || (cut.kind() == ErrorKind::kCorrupt &&
                         cut.message().find(wanted) != std::string::npos),
            cut.message());
    return end(!cut.ok());
  }

private:
  PollState end(bool reached) {
    if (!reached) {
      return PollState::kPending;
    }
    transport.close(ChannelId(0));
    return done();
  }

  Kind kind;
  std::unique_ptr<BufferPool> sendPool, receivePool;
  std::optional<int> opened, finished;
  bool sent = false, refused = false;
};

ProgramFactory breach(Breach::Kind kind) {
  return [kind](RankContext context) { return std::make_unique<Breach>(context, kind); };
}

template <typename Program> ProgramFactory make() {
  return [](RankContext context) { return std::make_unique<Program>(context); };
}

} // namespace

class TransportConformance : public testing::TestWithParam<Cluster> {};

TEST_P(TransportConformance, AllToAllInOrderPerChannel) {
  Status status = runCluster(GetParam(), make<AllToAll>());
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

TEST_P(TransportConformance, ASlowRankGetsEverythingInOrder) {
  Status status = runCluster(GetParam(), make<SlowAllToAll>());
  EXPECT_TRUE(status.ok()) << status.toString();
}

TEST_P(TransportConformance, ABodyThatNobodyAskedForDamagesNothing) {
  for (Breach::Kind kind :
       {Breach::Kind::kNoPool, Breach::Kind::kTooLarge, Breach::Kind::kBeyondCredits}) {
    Status status = runCluster(GetParam(), breach(kind));
    EXPECT_TRUE(status.ok()) << static_cast<int>(kind) << ": " << status.toString();
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, TransportConformance, testing::ValuesIn(allClusters()),
                         [](const auto &info) { return clusterName(info.param); });

TEST(TransportConformanceSeeds, AllToAllUnderManyDelays) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Status status = runCluster({Backend::kSim, 3, seed}, make<AllToAll>());
    ASSERT_TRUE(status.ok()) << "seed " << seed << ": " << status.toString();
  }
}
