// Message headers: what was encoded comes back, and damage is told.
#include "runtime/communication/message.h"

#include <cstring>

#include <gtest/gtest.h>

#include "test/unit/transport/cluster.h"

using namespace headrace;
using namespace headrace::test;

namespace {

struct Fixture {
  BlockPool blocks{{.capacityBytes = 8 << 20}};
  std::unique_ptr<BufferPool> pool =
      std::move(*BufferPool::create(blocks, {.bufferBytes = 128, .buffersMax = 4}));

  BufferRef body(std::string_view text) {
    BufferRef buffer = pool->tryTake();
    buffer.resize(static_cast<int64_t>(text.size()));
    std::memcpy(buffer.mutableData(), text.data(), text.size());
    buffer.seal();
    return buffer;
  }
  Arrival arrival(MessageHeader header, std::string_view text) {
    BufferRef bytes = body(text);
    header.channel = 5;
    header.source = 1;
    header.bytes = text.size();
    header.checksum = bodyChecksum(bytes, Checksums::kOn);
    return {1, encodeHeader(header), bytes};
  }
};

} // namespace

TEST(Message, ComesBackWhole) {
  Fixture fixture;
  MessageHeader header;
  header.sequence = 9;
  header.rows = 1000;
  header.tag = 77;
  Expected<MessageHeader> decoded =
      decodeHeader(fixture.arrival(header, "some columns"), ChannelId(5));
  ASSERT_TRUE(decoded.ok()) << decoded.status().toString();
  EXPECT_EQ(decoded->sequence, 9u);
  EXPECT_EQ(decoded->rows, 1000u);
  EXPECT_EQ(decoded->tag, 77u);
  EXPECT_EQ(decoded->kind, MessageKind::kData);
}

TEST(Message, EveryDamagedBitOfTheHeaderIsNoticed) {
  Fixture fixture;
  Arrival arrival = fixture.arrival({}, "some columns");
  for (size_t bit = 0; bit < 64 * 8; ++bit) {
    Arrival damaged = arrival;
    damaged.header[bit / 8] ^= std::byte{static_cast<unsigned char>(1u << bit % 8)};
    EXPECT_EQ(decodeHeader(damaged, ChannelId(5)).status().kind(), ErrorKind::kCorrupt) << bit;
  }
}

TEST(Message, DamageOfTheBodyIsNoticed) {
  Fixture fixture;
  Arrival arrival = fixture.arrival({}, "some columns");
  arrival.body = fixture.body("some c0lumns");
  EXPECT_EQ(decodeHeader(arrival, ChannelId(5)).status().message(),
            "message from rank 1 on channel 5 is damaged: the body's checksum does not match");
  arrival.body = fixture.body("some column");
  EXPECT_EQ(decodeHeader(arrival, ChannelId(5)).status().message(),
            "message from rank 1 on channel 5 is damaged: expected a body of 12 bytes, got: 11");
}

TEST(Message, TheWrongPlaceIsNoticed) {
  Fixture fixture;
  Arrival arrival = fixture.arrival({}, "x");
  EXPECT_EQ(decodeHeader(arrival, ChannelId(6)).status().message(),
            "message from rank 1 on channel 6 is damaged: it says channel 5 and rank 1");
  arrival.source = 2;
  EXPECT_EQ(decodeHeader(arrival, ChannelId(5)).status().message(),
            "message from rank 2 on channel 5 is damaged: it says channel 5 and rank 1");
}

TEST(Message, AnotherVersionIsAMismatch) {
  Fixture fixture;
  MessageHeader header;
  header.version = 2;
  Status status = decodeHeader(fixture.arrival(header, "x"), ChannelId(5)).status();
  EXPECT_EQ(status.kind(), ErrorKind::kMismatch);
  EXPECT_EQ(status.message(), "rank 1 speaks another message version, expected 1, got: 2");
}

TEST(Message, ChecksumsCanBeOff) {
  Fixture fixture;
  EXPECT_EQ(bodyChecksum(fixture.body("x"), Checksums::kOff), 0u);
  EXPECT_NE(bodyChecksum(fixture.body("x"), Checksums::kOn), 0u);
}

namespace {

/// Asks for checksums to every peer.
class Asking : public RankProgram {
public:
  Asking(RankContext context, Backend backend) : transport_(context.transport), backend_(backend) {}

  PollState poll() override {
    for (int peer = 0; peer < transport_.size(); ++peer) {
      bool shared = backend_ == Backend::kLoopback || backend_ == Backend::kLoopbackThreads ||
                    (backend_ == Backend::kFork && peer == transport_.rank());
      Checksums expected = shared ? Checksums::kOff : Checksums::kOn;
      if (checksumsTo(transport_, peer, Checksums::kOn) != expected ||
          checksumsTo(transport_, peer, Checksums::kOff) != Checksums::kOff) {
        status_ = makeError(ErrorKind::kInternal, "checksums to rank ", peer);
      }
    }
    return status_.ok() ? PollState::kDone : PollState::kFailed;
  }
  Status status() const override { return status_; }

private:
  Transport &transport_;
  Backend backend_;
  Status status_;
};

} // namespace

TEST(Message, BodiesThatTravelHaveChecksumsAndThoseHandedOverHaveNone) {
  for (Backend backend :
       {Backend::kLoopback, Backend::kLoopbackThreads, Backend::kSim, Backend::kFork}) {
    Status status = runCluster({backend, 2}, [&](RankContext context) {
      return std::make_unique<Asking>(context, backend);
    });
    EXPECT_TRUE(status.ok()) << backendName(backend) << ": " << status.toString();
  }
}
