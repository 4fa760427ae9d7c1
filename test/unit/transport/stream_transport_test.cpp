// A stream transport and a peer that writes its bytes by hand.
// Sources: runtime/transport/landing.cpp, runtime/transport/stream_link.cpp
#include "runtime/transport/stream_transport.h"

#include <cstring>
#include <random>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "runtime/memory/block_pool.h"

using namespace headrace;

namespace {

constexpr uint32_t kMagic = 0x46524d31;

std::string frame(uint32_t magic, uint32_t channel, uint64_t bodyBytes, const std::string &body,
                  uint64_t run = 0) {
  std::string text(88, 'h');
  std::memcpy(text.data(), &magic, sizeof(magic));
  std::memcpy(text.data() + 4, &channel, sizeof(channel));
  std::memcpy(text.data() + 8, &bodyBytes, sizeof(bodyBytes));
  std::memcpy(text.data() + 16, &run, sizeof(run));
  return text + body;
}

std::string message(uint32_t channel, const std::string &body) {
  return frame(kMagic, channel, body.size(), body);
}

/// Rank 0 of two; the test is rank 1.
class StreamTransportTest : public testing::Test {
protected:
  StreamTransportTest() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    other = ends[1];
    transport = makeStreamTransport({0, {-1, ends[0]}, {"here", "there"}, {}});
    pool = *BufferPool::create(blocks, {.bufferBytes = 100'000, .buffersMax = 4});
    EXPECT_TRUE(transport->open(ChannelId(7), pool.get()).ok());
  }
  ~StreamTransportTest() override {
    if (other >= 0) {
      ::close(other);
    }
  }
  /// In parts, with progress between them.
  void write(const std::string &text, size_t part) {
    for (size_t at = 0; at < text.size(); at += part) {
      size_t bytes = std::min(part, text.size() - at);
      ASSERT_EQ(send(other, text.data() + at, bytes, MSG_NOSIGNAL), static_cast<ssize_t>(bytes));
      transport->progress();
    }
  }
  std::string receive() {
    transport->progress();
    std::optional<Arrival> arrival = transport->receive(ChannelId(7));
    return !arrival        ? "nothing"
           : arrival->body ? std::string(reinterpret_cast<const char *>(arrival->body.data()),
                                         static_cast<size_t>(arrival->body.size()))
                           : "";
  }

  BlockPool blocks{{.capacityBytes = 64 << 20, .retainedBytesMax = 0}};
  std::unique_ptr<BufferPool> pool;
  std::unique_ptr<StreamTransport> transport;
  int other = -1;
};

} // namespace

TEST_F(StreamTransportTest, MessagesComeWholeHoweverTheyAreCut) {
  std::string large(20'000, 'x');
  large.back() = 'y';
  for (size_t part : {1, 79, 80, 81, 4096, 50'000}) {
    write(message(7, "") + message(7, "a") + message(7, large), part);
    EXPECT_EQ(receive(), "");
    EXPECT_EQ(receive(), "a");
    EXPECT_EQ(receive(), large) << part;
    EXPECT_EQ(receive(), "nothing");
  }
}

TEST_F(StreamTransportTest, WhatIsNoFrameCutsTheLink) {
  write(message(7, "good") + frame(12345, 7, 0, ""), 1000);
  EXPECT_EQ(transport->peerStatus(1).kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(transport->peerStatus(1).message(), "not a frame, it begins with: 12345");
  EXPECT_EQ(receive(), "good") << "what came before can still be received";
}

TEST_F(StreamTransportTest, AFrameThatClaimsAllMemoryCutsTheLink) {
  write(frame(kMagic, 7, UINT64_MAX, ""), 1000);
  EXPECT_EQ(transport->peerStatus(1).message(), "a body is too large: 18446744073709551615");
}

TEST_F(StreamTransportTest, APeerThatLeavesWithinAMessageIsNamedWithItsHost) {
  write(message(7, std::string(20'000, 'x')).substr(0, 5'000), 1000);
  ::close(std::exchange(other, -1));
  transport->progress();
  EXPECT_EQ(transport->peerStatus(1).message(),
            "the link is down, the peer has left: rank 1 on host there");
  EXPECT_EQ(receive(), "nothing");
}

TEST_F(StreamTransportTest, ABodyOfAChannelThatWasClosedIsPassedOver) {
  ASSERT_TRUE(transport->open(ChannelId(8), pool.get()).ok());
  transport->close(ChannelId(8));
  write(message(8, std::string(20'000, 'x')) + message(7, "next"), 999);
  EXPECT_EQ(receive(), "next");
}

TEST_F(StreamTransportTest, OneRunAfterAnotherOverTheSameLinks) {
  write(message(7, "first"), 1000);
  EXPECT_EQ(receive(), "first");
  // The peer is there already; what has no body is kept.
  write(frame(kMagic, 7, 0, "", 1), 1000);
  EXPECT_EQ(receive(), "nothing");
  transport->beginRun(nullptr);
  EXPECT_EQ(receive(), "nothing") << "not opened yet";
  ASSERT_TRUE(transport->open(ChannelId(7), pool.get()).ok());
  EXPECT_EQ(receive(), "");
  // Late, and for a channel that is open again.
  write(message(7, std::string(20'000, 'x')) + message(7, "late") + frame(kMagic, 7, 4, "next", 1),
        999);
  EXPECT_EQ(receive(), "next");
  EXPECT_EQ(receive(), "nothing");
  write(frame(kMagic, 7, 5, "early", 2), 1000);
  EXPECT_EQ(transport->peerStatus(1).message(), "a body came before its run: 2");
}

TEST_F(StreamTransportTest, WhatComesBeforeItsRunIsBounded) {
  std::string early;
  for (int count = 0; count < 5000; ++count) {
    early += frame(kMagic, 7, 0, "", 1);
  }
  write(early, 8000);
  EXPECT_EQ(transport->peerStatus(1).message(), "too many messages before their run: 1");
}

TEST_F(StreamTransportTest, RandomBytesNeverDoMoreThanCutTheLink) {
  std::mt19937_64 random(1);
  std::string text;
  for (int count = 0; count < 20; ++count) {
    std::string next = message(7, std::string(random() % 300, 'x'));
    next[random() % next.size()] ^= static_cast<char>(1 << random() % 8);
    text += next;
  }
  for (size_t at = 0; at < text.size(); at += 64) {
    send(other, text.data() + at, std::min<size_t>(64, text.size() - at), MSG_NOSIGNAL);
    transport->progress();
    while (transport->receive(ChannelId(7))) {
    }
  }
}
