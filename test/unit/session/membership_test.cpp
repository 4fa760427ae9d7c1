// Who goes when some ranks do not reach others, and what is told.
#include "runtime/session/membership.h"

#include <gtest/gtest.h>

#include "runtime/session/order.h"

using namespace headrace;
using namespace headrace::session;

TEST(Membership, WhoTheMostDoNotReachGoesFirst) {
  EXPECT_EQ(ranksToLeaveOut({}), std::vector<int>());
  EXPECT_EQ(ranksToLeaveOut({{0, 1}}), std::vector<int>{1}) << "rank 0 stays";
  EXPECT_EQ(ranksToLeaveOut({{1, 2}}), std::vector<int>{2});
  EXPECT_EQ(ranksToLeaveOut({{1, 2}, {1, 3}, {4, 1}}), std::vector<int>{1});
  EXPECT_EQ(ranksToLeaveOut({{1, 2}, {2, 1}, {3, 4}}), (std::vector<int>{2, 4}));
}

TEST(Membership, Packed) {
  Membership given{.epoch = 7, .meeting = {"::1", 8}, .rank = 2, .size = 3, .call = 9};
  Expected<Membership> found = Membership::unpack(given.pack());
  ASSERT_TRUE(found.ok()) << found.status().toString();
  EXPECT_EQ(found->pack(), given.pack());
  EXPECT_EQ(found->meeting.port, 8);
  EXPECT_EQ(found->call, 9u);
}

TEST(Membership, NonsenseIsRefused) {
  EXPECT_EQ(Membership::unpack("").status().message(), "not a membership, it has parts: 0");
  EXPECT_EQ(Membership::unpack(packTexts({"1", "a:1", "3", "3", "0"})).status().message(),
            "not a membership, its rank is: 3");
}
