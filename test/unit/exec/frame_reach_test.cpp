// How far windows look from a row, and which need their whole partition.
#include "runtime/exec/window/frame_reach.h"

#include <functional>
#include <gtest/gtest.h>

namespace headrace::exec {
namespace {

using plan::FrameEdge;
using plan::FrameUnit;
using plan::WindowFunction;

/// A sum over the rows from two before to three after; `change` makes another one of it.
FrameReach reachWith(const std::function<void(plan::WindowColumn &)> &change, bool ordered = true) {
  plan::WindowColumn window;
  window.function = WindowFunction::kFold;
  window.unit = FrameUnit::kRows;
  window.start = {FrameEdge::kPreceding, {.number = 2}};
  window.end = {FrameEdge::kFollowing, {.number = 3}};
  change(window);
  plan::State state;
  state.kind = plan::StateKind::kWindow;
  state.windows = {window};
  if (ordered) {
    state.order = {{0, false, false}};
  }
  return reachOf(state);
}

void keep(plan::WindowColumn &) {}

TEST(FrameReach, RowsOnBothSides) {
  const FrameReach reach = reachWith(keep);
  EXPECT_FALSE(reach.any);
  EXPECT_EQ(reach.behind, 2u);
  EXPECT_EQ(reach.ahead, 3u);
  const FrameReach before =
      reachWith([](auto &window) { window.end = {FrameEdge::kPreceding, {.number = 1}}; });
  EXPECT_EQ(before.behind, 2u);
  EXPECT_EQ(before.ahead, 0u);
}

TEST(FrameReach, TheFurthestOfAllColumnsCounts) {
  plan::State state;
  state.order = {{0, false, false}};
  for (int64_t rows : {3, 9, 5}) {
    plan::WindowColumn window;
    window.function = rows == 9 ? WindowFunction::kLag : WindowFunction::kLead;
    window.count.number = rows;
    window.end = {FrameEdge::kUnboundedPreceding, {}};
    state.windows.push_back(window);
  }
  const FrameReach reach = reachOf(state);
  EXPECT_FALSE(reach.any);
  EXPECT_EQ(reach.behind, 9u);
  EXPECT_EQ(reach.ahead, 5u);
  // Backwards by a negative number is forwards.
  state.windows[1].count.number = -9;
  EXPECT_EQ(reachOf(state).ahead, 9u);
}

TEST(FrameReach, RanksLookNowhere) {
  for (WindowFunction function : {WindowFunction::kRowNumber, WindowFunction::kRank,
                                  WindowFunction::kNtile, WindowFunction::kCumeDist}) {
    const FrameReach reach = reachWith([&](auto &window) {
      window.function = function;
      window.end = {FrameEdge::kUnboundedPreceding, {}};
    });
    EXPECT_FALSE(reach.any);
    EXPECT_EQ(reach.behind + reach.ahead + reach.first, 0u);
  }
}

TEST(FrameReach, FromTheFirstRowOn) {
  auto fromFirst = [](WindowFunction function, int64_t count = 0) {
    return reachWith([&](auto &window) {
      window.function = function;
      window.count.number = count;
      window.start = {FrameEdge::kUnboundedPreceding, {}};
      window.end = {FrameEdge::kCurrentRow, {}};
    });
  };
  EXPECT_FALSE(fromFirst(WindowFunction::kFold).any);
  EXPECT_EQ(fromFirst(WindowFunction::kFold).first, 0u);
  EXPECT_EQ(fromFirst(WindowFunction::kFirstValue).first, 1u);
  EXPECT_EQ(fromFirst(WindowFunction::kNthValue, 7).first, 7u);
  EXPECT_TRUE(fromFirst(WindowFunction::kNthValue, int64_t{1} << 40).any);
}

TEST(FrameReach, TheLastOfThePeers) {
  auto lastValue = [](FrameUnit unit) {
    return reachWith([&](auto &window) {
      window.function = WindowFunction::kLastValue;
      window.unit = unit;
      window.start = {FrameEdge::kUnboundedPreceding, {}};
      window.end = {FrameEdge::kCurrentRow, {}};
    });
  };
  EXPECT_TRUE(lastValue(FrameUnit::kRange).peers);
  EXPECT_FALSE(lastValue(FrameUnit::kRows).peers);
  EXPECT_FALSE(lastValue(FrameUnit::kRange).any);
}

TEST(FrameReach, WhatNeedsTheWholePartition) {
  const std::function<void(plan::WindowColumn &)> changes[] = {
      [](auto &window) { window.distinct = true; },
      [](auto &window) { window.ignoreNulls = true; },
      [](auto &window) { window.exclude = plan::FrameExclusion::kTies; },
      [](auto &window) { window.order = {{0, true, false}}; },
      [](auto &window) { window.function = WindowFunction::kCollect; },
      [](auto &window) { window.function = WindowFunction::kMode; },
      // A distance that each row has, one in values, and one that is too far.
      [](auto &window) { window.start.distance.field = 0; },
      [](auto &window) { window.unit = FrameUnit::kRange; },
      [](auto &window) { window.unit = FrameUnit::kGroups; },
      [](auto &window) { window.start.distance.number = int64_t{1} << 50; },
      [](auto &window) { window.start.distance.number = -1; },
      [](auto &window) { window.end = {FrameEdge::kUnboundedFollowing, {}}; },
      [](auto &window) {
        window.function = WindowFunction::kLag;
        window.count.field = 0;
      },
  };
  for (size_t index = 0; index < std::size(changes); ++index) {
    EXPECT_TRUE(reachWith(changes[index]).any) << "change " << index;
  }
  // To the last of the peers of a row, where all are peers.
  EXPECT_FALSE(reachWith(keep, false).any);
  EXPECT_TRUE(reachWith(
                  [](auto &window) {
                    window.unit = FrameUnit::kRange;
                    window.start = {FrameEdge::kCurrentRow, {}};
                    window.end = {FrameEdge::kCurrentRow, {}};
                  },
                  false)
                  .any);
}

} // namespace
} // namespace headrace::exec
