// Max-min fair rates, worked out by hand.
#include "model/simulate/fair_share.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

namespace headrace::simulate {
namespace {

Activity using_(std::vector<Use> uses, double rateMax = 0, int32_t precedence = kFirst) {
  Activity activity;
  activity.uses = std::move(uses);
  activity.rateMax = rateMax;
  activity.precedence = precedence;
  return activity;
}

std::vector<FairRate> ratesOf(const Graph &graph) {
  FairShare share(graph);
  std::vector<int32_t> all(graph.activities.size());
  std::iota(all.begin(), all.end(), 0);
  std::vector<FairRate> rates;
  share.rates(all, rates);
  std::vector<FairRate> again;
  share.rates(all, again); // nothing is left of the call before
  for (size_t i = 0; i < rates.size(); ++i) {
    EXPECT_EQ(rates[i].bytesPerSecond, again[i].bytesPerSecond);
  }
  return rates;
}

Graph withResources(std::vector<double> capacities) {
  Graph graph;
  for (const double capacity : capacities) {
    graph.resources.push_back({"r", capacity, topology::Sharing::kShared, 0});
  }
  return graph;
}

TEST(FairShare, what_a_bottleneck_leaves_goes_to_the_others) {
  // One goes through both: the first resource gives each a half, the second has 10 − 2 left.
  Graph graph = withResources({4, 10});
  graph.activities = {using_({{0, 1}}), using_({{0, 1}, {1, 1}}), using_({{1, 1}})};
  const std::vector<FairRate> rates = ratesOf(graph);
  EXPECT_DOUBLE_EQ(rates[0].bytesPerSecond, 2);
  EXPECT_DOUBLE_EQ(rates[1].bytesPerSecond, 2);
  EXPECT_DOUBLE_EQ(rates[2].bytesPerSecond, 8);
  EXPECT_EQ(rates[1].bottleneck, 0);
  EXPECT_EQ(rates[2].bottleneck, 1);
}

TEST(FairShare, bytes_may_take_several_units) {
  // Rates are equal, not what they take: 3 r + r = 8.
  Graph graph = withResources({8});
  graph.activities = {using_({{0, 3}}), using_({{0, 1}})};
  EXPECT_DOUBLE_EQ(ratesOf(graph)[0].bytesPerSecond, 2);
  EXPECT_DOUBLE_EQ(ratesOf(graph)[1].bytesPerSecond, 2);
}

TEST(FairShare, bounds_of_their_own_and_fatpipes_leave_more_to_others) {
  Graph graph = withResources({9, 2});
  graph.resources[1].sharing = topology::Sharing::kFatpipe;
  graph.activities = {using_({{0, 1}}, 1), using_({{0, 1}, {1, 1}}), using_({{0, 1}}),
                      using_({{1, 1}}), using_({})};
  const std::vector<FairRate> rates = ratesOf(graph);
  EXPECT_DOUBLE_EQ(rates[0].bytesPerSecond, 1);
  EXPECT_EQ(rates[0].bottleneck, kNone);
  EXPECT_DOUBLE_EQ(rates[1].bytesPerSecond, 2);
  EXPECT_EQ(rates[1].bottleneck, 1);
  EXPECT_DOUBLE_EQ(rates[2].bytesPerSecond, 6);
  EXPECT_DOUBLE_EQ(rates[3].bytesPerSecond, 2); // each alone
  EXPECT_EQ(rates[4].bytesPerSecond, std::numeric_limits<double>::infinity());
}

TEST(FairShare, lower_precedences_take_first) {
  Graph graph = withResources({10});
  graph.activities = {using_({{0, 1}}, 0, 1), using_({{0, 1}}, 4, 0), using_({{0, 1}}, 0, 1),
                      using_({{0, 1}}, 0, 2)};
  const std::vector<FairRate> rates = ratesOf(graph);
  EXPECT_DOUBLE_EQ(rates[1].bytesPerSecond, 4);
  EXPECT_DOUBLE_EQ(rates[0].bytesPerSecond, 3);
  EXPECT_DOUBLE_EQ(rates[2].bytesPerSecond, 3);
  EXPECT_DOUBLE_EQ(rates[3].bytesPerSecond, 0);
  EXPECT_EQ(rates[3].bottleneck, 0);
}

} // namespace
} // namespace headrace::simulate
