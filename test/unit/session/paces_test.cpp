// What runs measured of ranks, and the keys that each is to have by that.
// Sources: runtime/session/paces.cpp
#include "runtime/session/paces.h"

#include <gtest/gtest.h>

namespace headrace::session {
namespace {

/// One kernel on each rank: a million rows a second, at these speeds.
plan::Profile profileOf(const std::vector<double> &speeds, double seconds = 0.1) {
  plan::Profile profile;
  for (size_t rank = 0; rank < speeds.size(); ++rank) {
    plan::TaskProfile task;
    task.rank = static_cast<int>(rank);
    task.kind = "run";
    task.rowsIn = static_cast<int64_t>(1e6 * seconds * speeds[rank]);
    task.busySeconds = seconds + 0.2; // read for 0.2 seconds
    task.loadSeconds = 0.2;
    profile.tasks.push_back(task);
  }
  return profile;
}

using Shares = std::vector<uint32_t>;

TEST(Paces, NothingIsKnownOrRanksAreAlike) {
  EXPECT_EQ(Paces(3).keyShares(), Shares());
  Paces paces(3);
  paces.learn(profileOf({1, 1, 0.2}, 0.001)); // too short
  EXPECT_EQ(paces.keyShares(), Shares());
  paces = Paces(3);
  paces.learn(profileOf({1, 0.9, 0.8}));
  EXPECT_EQ(paces.keyShares(), Shares());
}

TEST(Paces, ASlowRankHasFewerKeys) {
  Paces paces(4);
  paces.learn(profileOf({1, 0.5, 0.95, 1}));
  EXPECT_EQ(paces.keyShares(), (Shares{256, 128, 256, 256}));
  Paces stuck(2);
  stuck.learn(profileOf({1, 0.001}));
  EXPECT_EQ(stuck.keyShares(), (Shares{256, 8}));
}

TEST(Paces, RowsOfOtherKernelsAreOtherWork) {
  // The second kernel takes ten times as long for a row, and only rank 1 has rows for it.
  plan::Profile profile = profileOf({1, 1});
  profile.tasks.push_back(profile.tasks[1]);
  profile.tasks.back().task = 1;
  profile.tasks.back().rowsIn /= 10;
  Paces paces(2);
  paces.learn(profile);
  EXPECT_EQ(paces.keyShares(), Shares());
}

TEST(Paces, WhatIsNoKernelIsNoPace) {
  plan::Profile profile = profileOf({1, 1});
  for (const char *kind : {"exchange", "result"}) {
    profile.tasks.push_back(profile.tasks[1]);
    profile.tasks.back().kind = kind;
    profile.tasks.back().busySeconds = 30;
  }
  Paces paces(2);
  paces.learn(profile);
  EXPECT_EQ(paces.keyShares(), Shares());
}

TEST(Paces, OldRunsAreForgotten) {
  Paces paces(2);
  for (int run = 0; run < 20; ++run) {
    paces.learn(profileOf({1, 1}, 0.5));
  }
  paces.learn(profileOf({1, 0.33}, 0.5));
  Shares slow = paces.keyShares();
  ASSERT_EQ(slow.size(), 2u);
  EXPECT_LT(slow[1], 140u);
  paces.learn(profileOf({1, 0.33}, 0.5));
  EXPECT_LT(paces.keyShares()[1], slow[1]);
  for (int run = 0; run < 3; ++run) {
    paces.learn(profileOf({1, 1}, 0.5));
  }
  EXPECT_EQ(paces.keyShares(), Shares());
}

} // namespace
} // namespace headrace::session
