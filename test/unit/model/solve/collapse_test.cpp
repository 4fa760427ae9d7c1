// Repeated layers: which nodes look alike, and that a choice for all layers is one of the whole.
#include "model/solve/collapse.h"
#include "test/unit/model/solve/random_problems.h"

#include <gtest/gtest.h>
#include <random>

namespace headrace::solve {
namespace {

TEST(Colouring, layers_look_alike_but_for_the_ends) {
  Problem problem = trainingGraph(50);
  Colouring colouring(problem);
  size_t last = colouring.count();
  EXPECT_LE(last, 4u); // weight, activation, work, norm
  for (int radius = 1; radius <= 4; ++radius) {
    colouring.refine();
    EXPECT_GE(colouring.count(), last);
    last = colouring.count();
  }
  EXPECT_GT(last, 8u);
  EXPECT_LT(last, problem.nodes.size() / 3);
}

TEST(Colouring, other_costs_edges_and_memory_look_different) {
  Problem problem;
  problem.tierBytesMax = {9};
  for (int32_t n = 0; n < 6; ++n) {
    problem.nodes.push_back({{1, 2}, {{0, n, n + 1, {3, 4}}}});
  }
  EXPECT_EQ(Colouring(problem).count(), 1u);
  problem.nodes[5].cost[1] = 3;
  problem.nodes[4].memory[0].bytes[0] = 5;
  EXPECT_EQ(Colouring(problem).count(), 3u);
  problem.edges = {{0, 1, {0, 1, 2, 3}}, {3, 2, {0, 1, 2, 3}}};
  Colouring colouring(problem);
  colouring.refine(); // which end of an edge counts
  EXPECT_EQ(colouring.count(), 4u);
  EXPECT_EQ(colouring.colours()[0], colouring.colours()[3]);
}

TEST(Collapse, choices_cost_and_hold_the_same) {
  std::mt19937_64 random(4);
  for (int32_t layers : {1, 7, 30}) {
    Problem problem = trainingGraph(layers);
    Colouring colouring(problem);
    colouring.refine();
    Collapse collapse(problem, colouring.colours());
    const Problem &collapsed = collapse.collapsed();
    ASSERT_TRUE(collapsed.check().ok());
    EXPECT_EQ(collapsed.nodes.size(), colouring.count());
    for (int draw = 0; draw < 20; ++draw) {
      Choice choice;
      for (const Node &node : collapsed.nodes) {
        choice.push_back(static_cast<int32_t>(random() % node.cost.size()));
      }
      Choice whole = collapse.expand(choice);
      EXPECT_EQ(memoryPeak(problem, whole), memoryPeak(collapsed, choice));
      double cost = costOf(problem, whole);
      if (cost < kForbidden) {
        EXPECT_DOUBLE_EQ(cost, costOf(collapsed, choice));
      } else {
        EXPECT_GE(costOf(collapsed, choice), kForbidden);
      }
    }
  }
}

} // namespace
} // namespace headrace::solve
