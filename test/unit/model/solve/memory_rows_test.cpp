// Rows of memory by hand: where limits can bind, what they hold, what prices make of it.
#include "model/solve/memory_rows.h"

#include "model/solve/exhaustive.h"
#include "model/solve/memory_prices.h"
#include "test/unit/model/solve/random_problems.h"

#include <gtest/gtest.h>
#include <random>

namespace headrace::solve {
namespace {

/// Lives of one tier: |0----4), |2------6), |8-10), of 10 or 4 bytes each.
Problem threeLives(double limit) {
  Problem problem;
  problem.tierBytesMax = {limit};
  for (auto [first, last] : {std::pair(0, 4), {2, 6}, {8, 10}}) {
    problem.nodes.push_back({{1, 2}, {{0, first, last, {10, 4}}}});
  }
  return problem;
}

TEST(MemoryRows, only_where_the_largest_uses_exceed_the_limit) {
  const MemoryRows two(threeLives(12));
  ASSERT_EQ(two.size(), 1u); // of the three starts only that at 2, where both live
  EXPECT_EQ(two.timeOf(0), 2);
  const MemoryRows all(threeLives(9));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all.timeOf(1), 8);
  EXPECT_EQ(MemoryRows(threeLives(21)).size(), 0u);
  const RowRange range = all.rows({0, 3, 9, {}});
  EXPECT_EQ(range.first, 1); // the row at 2 is before, that at 8 within
  EXPECT_EQ(range.last, 2);
  EXPECT_TRUE(all.rows({0, 3, 8, {}}).empty()); // half open
}

TEST(MemoryRows, hopeless_where_even_the_least_exceed_it) {
  double bytes = 0;
  EXPECT_EQ(MemoryRows(threeLives(8)).findHopeless(threeLives(8), bytes), -1);
  EXPECT_EQ(MemoryRows(threeLives(7)).findHopeless(threeLives(7), bytes), 0);
  EXPECT_EQ(bytes, 8);
}

TEST(MemoryUses, what_every_choice_holds_is_settled) {
  Problem problem = threeLives(14);
  problem.nodes[1].memory[0].bytes = {6, 6};
  const MemoryUses uses(problem);
  ASSERT_EQ(uses.rowCount(), 1u);
  EXPECT_EQ(uses.settled(), std::vector<double>{6});
  EXPECT_EQ(uses.of(1).size(), 0u);
  std::vector<double> load;
  uses.load({0, 1, 0}, load);
  EXPECT_EQ(load, std::vector<double>{16});
  EXPECT_DOUBLE_EQ(uses.excess({0, 1, 0}), 2.0 / 14);
  EXPECT_EQ(uses.excess({1, 1, 0}), 0);
}

TEST(MemoryUses, rows_stand_for_those_beside_them_that_hold_no_more) {
  // Each starts while those before live: the last start holds most, whatever is chosen.
  Problem problem;
  problem.tierBytesMax = {15};
  for (int32_t first : {0, 2, 4}) {
    problem.nodes.push_back({{0, 0}, {{0, first, 9, {10, 4}}, {0, first, first + 1, {0, 0}}}});
  }
  ASSERT_GE(MemoryRows(problem).size(), 2u);
  const MemoryUses uses(problem);
  ASSERT_EQ(uses.rowCount(), 1u);
  EXPECT_EQ(uses.timeOf(0), 4);
  EXPECT_EQ(uses.rowNear(0, 100), 0);
}

TEST(MemoryUses, loads_and_excess_are_those_of_the_problem) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    const Problem problem = randomChain(seed, 6, 0.3);
    const MemoryUses uses(problem);
    const Graph graph(problem);
    std::mt19937_64 random(seed);
    for (int round = 0; round < 20; ++round) {
      Choice choice;
      for (const Node &node : problem.nodes) {
        choice.push_back(static_cast<int32_t>(random() % node.cost.size()));
      }
      const double excess = memoryExcess(problem, choice)[0] / problem.tierBytesMax[0];
      ASSERT_NEAR(uses.excess(choice), excess, 1e-12) << seed;
    }
  }
}

TEST(MemoryPrices, costs_and_rebate_cancel_where_a_choice_fills_the_limit) {
  const Problem problem = threeLives(14);
  const MemoryUses uses(problem);
  const Graph graph(problem);
  MemoryPrices prices(uses);
  prices.set({{0, 3, 0.5}}); // of the row at 2, which is next
  EXPECT_EQ(prices.price(), std::vector<double>{0.5});
  EXPECT_EQ(prices.list().front().time, 2);
  EXPECT_EQ(prices.rebate(), 7);
  Unaries costs = graph.unaries();
  uses.addPrices(graph, prices.price(), costs);
  EXPECT_EQ(costs, (Unaries{1 + 5, 2 + 2, 1 + 5, 2 + 2, 1, 2}));
  // 10 + 4 bytes are the limit: at any price that choice costs what it costs without.
  EXPECT_EQ(graph.cost(costs, {0, 1, 0}) - prices.rebate(), costOf(problem, {0, 1, 0}));
}

TEST(MemoryPrices, rise_over_the_limit_and_fall_below_it) {
  const Problem problem = threeLives(14);
  const MemoryUses uses(problem);
  MemoryPrices prices(uses);
  prices.update({1, 1, 0}, 1);
  EXPECT_EQ(prices.price(), std::vector<double>{0}); // below it, and nothing to fall
  prices.update({0, 0, 0}, 1);
  const double risen = prices.price()[0];
  EXPECT_GT(risen, 0);
  for (int round = 0; round < 3; ++round) { // the last direction still counts
    prices.update({1, 1, 0}, 1);
  }
  EXPECT_LT(prices.price()[0], risen);
}

} // namespace
} // namespace headrace::solve
