// The terms of a fitted collective, worked out by hand.
#include "model/cost/curve.h"

#include <cmath>
#include <gtest/gtest.h>

namespace headrace::cost {
namespace {

using topology::CollectiveFit;
using topology::CollectiveKind;
using topology::Level;

CollectiveFit curve(CollectiveKind kind, Level level = Level::kNetwork) {
  CollectiveFit fit;
  fit.kind = kind;
  fit.level = level;
  return fit;
}

/// 8 ranks on two nodes.
constexpr GroupShape kShape{8, 2, 4};

TEST(Curve, what_coefficients_are_multiplied_with) {
  const TermValues ring = termValues(curve(CollectiveKind::kAllReduce), kShape, 800);
  EXPECT_EQ(ring, (TermValues{1, 14, 8, 4, 1, std::sqrt(1400), 140, 1400}));
  // To ranks of the same node no byte goes through the network.
  EXPECT_EQ(termValues(curve(CollectiveKind::kAllToAll), kShape, 800)[7], 400);
  EXPECT_EQ(termValues(curve(CollectiveKind::kAllToAll, Level::kNode), kShape, 800)[7], 700);
  EXPECT_EQ(termValues(curve(CollectiveKind::kBroadcast), kShape, 800)[7], 800);
  CollectiveFit tree = curve(CollectiveKind::kAllReduce);
  tree.sent = topology::SentBytes::kTree;
  EXPECT_EQ(termValues(tree, kShape, 800)[7], 800); // 2 · (2 − 1) / 2
  tree.sent = topology::SentBytes::kWhole;
  EXPECT_EQ(termValues(tree, kShape, 800)[7], 800);
}

TEST(Curve, seconds_are_the_sum_of_all_terms) {
  CollectiveFit fit = curve(CollectiveKind::kAllReduce);
  for (size_t term = 0; term < kTermCount; ++term) {
    setCoefficient(fit, static_cast<Term>(term), 1 << term);
    EXPECT_EQ(coefficient(fit, static_cast<Term>(term)), 1 << term);
    EXPECT_STRNE(termName(static_cast<Term>(term)), "");
  }
  const double bySize = 32 * std::sqrt(1400) + 64 * 140 + 128 * 1400;
  EXPECT_DOUBLE_EQ(predictSeconds(fit, kShape, 800), 1 + 2 * 14 + 4 * 8 + 8 * 4 + 16 * 1 + bySize);
  setCoefficient(fit, Term::kBytes, 0); // no time at all, but a number
  EXPECT_EQ(fit.bandwidth, 1e18);
}

TEST(Curve, the_least_of_those_that_hold) {
  std::vector<CollectiveFit> fits(4, curve(CollectiveKind::kAllGather));
  for (CollectiveFit &fit : fits) {
    fit.bandwidth = 1e9;
  }
  fits[0].baseSeconds = 3;
  fits[1].baseSeconds = 2;
  fits[2].members = 8; // for exactly these, though it takes longer
  fits[2].baseSeconds = 4;
  fits[3].kind = CollectiveKind::kAllReduce;
  auto least = [&](const GroupShape &shape, double bytes) {
    const CollectiveFit *fit =
        leastFit(fits, CollectiveKind::kAllGather, Level::kNetwork, shape, bytes);
    return fit ? fit - fits.data() : -1;
  };
  EXPECT_EQ(least(kShape, 800), 2);
  std::swap(fits[0], fits[2]);
  EXPECT_EQ(least(kShape, 800), 0); // wherever it stands
  std::swap(fits[0], fits[2]);
  EXPECT_EQ(least({4, 2, 2}, 800), 1);
  fits[1].messageBytesMin = 201;
  EXPECT_EQ(least({4, 2, 2}, 800), 0); // messages of 200 bytes
  fits[0].messageBytesBelow = 200;
  EXPECT_EQ(least({4, 2, 2}, 800), -1);
  fits[0].messageBytesBelow = 200.5;
  EXPECT_EQ(least({4, 2, 2}, 800), 0);
}

} // namespace
} // namespace headrace::cost
