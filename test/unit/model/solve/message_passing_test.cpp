// Bounds of sweeps never exceed the optimum, and are tight on trees.
#include "model/solve/message_passing.h"
#include "model/solve/min_plus.h"
#include "test/unit/model/solve/random_problems.h"

#include <gtest/gtest.h>
#include <random>

namespace headrace::solve {
namespace {

TEST(MessagePassing, bounds_stay_below_the_optimum_and_come_near) {
  double ratioSum = 0;
  int count = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Problem problem = randomProblem(seed, Memory::kFree, 4 + seed % 5, 0.3 + 0.1 * (seed % 6));
    Best best = bruteForce(problem);
    if (best.allowed.empty()) {
      continue;
    }
    Graph graph(problem);
    MessagePassing messages(graph);
    double bound = 0;
    for (int sweep = 0; sweep < 50; ++sweep) {
      bound = messages.sweep(graph.unaries());
      ASSERT_LE(bound, best.cost * (1 + 1e-9)) << "seed " << seed << " sweep " << sweep;
    }
    ratioSum += bound / best.cost;
    ++count;
  }
  ASSERT_GE(count, 20);
  EXPECT_GE(ratioSum / count, 0.9);
}

TEST(MessagePassing, messages_of_other_prices_still_give_bounds) {
  std::mt19937_64 random(3);
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    Problem problem = randomProblem(seed, Memory::kFree, 6, 0.5);
    Graph graph(problem);
    MessagePassing messages(graph);
    for (int prices = 0; prices < 5; ++prices) {
      for (Node &node : problem.nodes) {
        for (double &cost : node.cost) {
          cost = 1e-3 * static_cast<double>(random() % 1000);
        }
      }
      Best best = bruteForce(problem);
      double bound = messages.sweep(Graph(problem).unaries());
      ASSERT_TRUE(best.allowed.empty() || bound <= best.cost * (1 + 1e-9)) << "seed " << seed;
    }
  }
}

TEST(MessagePassing, trees_are_solved) {
  Problem problem;
  std::mt19937_64 random(11);
  for (int32_t n = 0; n < 9; ++n) {
    problem.nodes.push_back(
        {{1.0 * (random() % 9), 1.0 * (random() % 9), 1.0 * (random() % 9)}, {}});
    if (n > 0) {
      Edge edge{static_cast<int32_t>(random() % n), n, {}};
      for (int i = 0; i < 9; ++i) {
        edge.cost.push_back(1.0 * (random() % 9));
      }
      problem.edges.push_back(edge);
    }
  }
  double best = bruteForce(problem).cost;
  Graph graph(problem);
  MessagePassing messages(graph);
  double bound = 0;
  for (int sweep = 0; sweep < 30; ++sweep) {
    bound = messages.sweep(graph.unaries());
  }
  Choice choice;
  messages.decode(graph.unaries(), choice);
  EXPECT_NEAR(bound, best, 1e-9);
  EXPECT_NEAR(graph.cost(graph.unaries(), choice), best, 1e-9);
}

TEST(MinPlus, vectors_give_the_bits_of_the_plain_loop_and_write_no_further) {
  std::mt19937_64 random(2);
  for (int32_t rows = 1; rows <= 20; ++rows) {
    for (int32_t columns = 1; columns <= 20; ++columns) {
      std::vector<double> base(rows);
      std::vector<double> table(static_cast<size_t>(rows) * columns);
      for (double &value : base) {
        value = 1e-3 * static_cast<double>(random() % 100000) - 20;
      }
      for (double &value : table) {
        value = random() % 5 == 0 ? 1e12 : 1e-7 * static_cast<double>(random() % 1000000000);
      }
      std::vector<double> out(columns + 8, -1);
      std::vector<double> expected(columns + 8, -1);
      minPlus(base.data(), rows, table.data(), columns, out.data());
      minPlusPlain(base.data(), rows, table.data(), columns, expected.data());
      ASSERT_EQ(out, expected) << rows << " × " << columns;
    }
  }
}

TEST(Graph, equal_matrices_are_stored_once) {
  Problem problem;
  problem.nodes = {{{1, 2}, {}}, {{3, 4}, {}}, {{5, 6}, {}}};
  problem.edges = {{0, 1, {0, 1, 2, 3}}, {2, 1, {0, 1, 2, 3}}, {0, 2, {0, 1, 2, kForbidden}}};
  Graph graph(problem);
  EXPECT_EQ(graph.tableCount(), 2u);
  EXPECT_DOUBLE_EQ(graph.cost(graph.unaries(), {1, 0, 0}), 2 + 3 + 5 + 2 + 0 + 2);
  EXPECT_GE(graph.cost(graph.unaries(), {1, 0, 1}), graph.forbidden());
  EXPECT_LT(graph.cost(graph.unaries(), {1, 1, 0}), graph.forbidden());
}

} // namespace
} // namespace headrace::solve
