// Signs of life: when they are due, and who has been silent for too long.
#include "runtime/communication/heartbeat.h"

#include <gtest/gtest.h>

#include "runtime/transport/sim.h"

using namespace headrace;

namespace {

constexpr int64_t kSecond = 1'000'000'000;
using Peers = std::vector<int>;

/// Rank 0 of three, which gives its peers up after so long.
struct Fixture {
  explicit Fixture(int64_t silence)
      : heartbeat(*transport, {.clock = &clock, .silenceNanosecondsMax = silence}) {}

  VirtualClock clock;
  SimNetwork network{{.size = 3}, clock};
  std::unique_ptr<Transport> transport = network.transport(0);
  Heartbeat heartbeat;
};

/// Without rank 0: in a simulation its messages to itself travel too.
Peers others(Peers peers) {
  std::erase(peers, 0);
  return peers;
}

} // namespace

TEST(Heartbeat, SignsAreDueEightTimesBeforePatienceEnds) {
  EXPECT_EQ(Heartbeat::intervalNanoseconds(0), 0);
  EXPECT_EQ(Heartbeat::intervalNanoseconds(kSecond), kSecond / 8);
  // Who has little patience must have heard enough, too.
  EXPECT_EQ(Heartbeat::intervalNanoseconds(3600 * kSecond), 3 * kSecond / 8);
  Fixture fixture(kSecond);
  EXPECT_TRUE(fixture.heartbeat.due());
  EXPECT_FALSE(fixture.heartbeat.due());
  fixture.clock.advanceTo(kSecond / 8 - 1);
  EXPECT_FALSE(fixture.heartbeat.due());
  fixture.clock.advanceTo(kSecond / 8);
  EXPECT_TRUE(fixture.heartbeat.due());
  EXPECT_FALSE(fixture.heartbeat.due());
}

TEST(Heartbeat, SilentPeersAreThoseNotHeardOf) {
  Fixture fixture(10 * kSecond);
  fixture.clock.advanceTo(6 * kSecond);
  fixture.heartbeat.heard(2);
  EXPECT_EQ(others(fixture.heartbeat.silent(Heartbeat::Patience::kFull)), Peers{});
  EXPECT_EQ(others(fixture.heartbeat.silent(Heartbeat::Patience::kLittle)), Peers{1});
  fixture.clock.advanceTo(10 * kSecond);
  EXPECT_EQ(others(fixture.heartbeat.silent(Heartbeat::Patience::kFull)), Peers{});
  EXPECT_EQ(others(fixture.heartbeat.silent(Heartbeat::Patience::kLittle)), (Peers{1, 2}));
  fixture.clock.advanceTo(10 * kSecond + 1);
  EXPECT_EQ(others(fixture.heartbeat.silent(Heartbeat::Patience::kFull)), Peers{1});
  const Status why = fixture.heartbeat.why(1);
  EXPECT_EQ(why.kind(), ErrorKind::kIo);
  EXPECT_EQ(why.message().find("no sign of life for 10 s (its process is stopped, "), 0u)
      << why.message();
}

TEST(Heartbeat, PeersAreThoseWhoseLinksAreUp) {
  Fixture fixture(kSecond);
  EXPECT_EQ(others(fixture.heartbeat.peers()), (Peers{1, 2}));
  fixture.transport->giveUp(1, makeError(ErrorKind::kIo, "gone"));
  EXPECT_EQ(others(fixture.heartbeat.peers()), Peers{2});
  fixture.clock.advanceTo(2 * kSecond);
  EXPECT_EQ(others(fixture.heartbeat.silent(Heartbeat::Patience::kFull)), Peers{2});
}

TEST(Heartbeat, WithoutALimitNobodyIsSilent) {
  Fixture fixture(0);
  fixture.clock.advanceTo(3600 * kSecond);
  EXPECT_FALSE(fixture.heartbeat.due());
  EXPECT_EQ(others(fixture.heartbeat.silent(Heartbeat::Patience::kLittle)), Peers{});
}
