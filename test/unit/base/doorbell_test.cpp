// The doorbell: remembers rings, wakes sleepers, watches descriptors.
#include "runtime/base/doorbell.h"

#include <atomic>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

using namespace headrace;

TEST(Doorbell, RemembersRingsAsOne) {
  Doorbell bell;
  EXPECT_FALSE(bell.consume());
  bell.ring();
  bell.ring();
  EXPECT_EQ(bell.wait(), Doorbell::Wake::kRung);
  EXPECT_FALSE(bell.consume());
  EXPECT_EQ(bell.wait(1'000'000), Doorbell::Wake::kTimeout);
}

TEST(Doorbell, WakesForADescriptorUntilUnwatched) {
  Doorbell bell;
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  bell.watch(ends[0], Doorbell::Interest::kReadable);
  EXPECT_EQ(bell.wait(0), Doorbell::Wake::kTimeout);
  ASSERT_EQ(write(ends[1], "x", 1), 1);
  EXPECT_EQ(bell.wait(), Doorbell::Wake::kDescriptor);
  bell.unwatch(ends[0]);
  EXPECT_EQ(bell.wait(0), Doorbell::Wake::kTimeout);
  close(ends[0]);
  close(ends[1]);
}

TEST(Doorbell, NoNewsIsLostBetweenThreads) {
  constexpr int kNews = 20000;
  Doorbell bell;
  std::atomic<int> news{0};
  std::thread ringer([&] {
    for (int count = 0; count < kNews; ++count) {
      news.fetch_add(1, std::memory_order_relaxed);
      bell.ring();
    }
  });
  // Every ring happens after its news, so a sleep that outlasts the timeout means a lost ring.
  while (news.load(std::memory_order_relaxed) < kNews) {
    ASSERT_NE(bell.wait(5'000'000'000), Doorbell::Wake::kTimeout);
  }
  ringer.join();
}
