// Walks that go uphill: what they keep fits and costs what they say, and they leave local optima.
#include "model/solve/annealing.h"
#include "test/unit/model/solve/random_problems.h"

#include <gtest/gtest.h>

namespace headrace::solve {
namespace {

TEST(Annealing, what_it_keeps_fits_and_costs_what_it_says) {
  int found = 0;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    Problem problem = trainingGraph(4 + static_cast<int32_t>(seed % 7));
    Choice cheapest = solve(problem, timeless(1))->choice;
    problem.tierBytesMax = {(0.6 + 0.01 * static_cast<double>(seed)) *
                            memoryPeak(problem, cheapest)[0]};
    Graph graph(problem);
    MemoryUses uses(problem);
    std::mt19937_64 random(seed);
    Annealing annealing(graph, uses);
    annealing.start(cheapest, {3, 0.01, 10, 3000});
    while (!annealing.isOver()) {
      annealing.advance(std::vector<double>(uses.rowCount(), 0), random);
    }
    if (annealing.best().empty()) {
      continue;
    }
    ++found;
    EXPECT_EQ(memoryExcess(problem, annealing.best()), std::vector<double>{0}) << "seed " << seed;
    EXPECT_NEAR(costOf(problem, annealing.best()), annealing.bestCost(), 1e-9) << "seed " << seed;
  }
  EXPECT_GE(found, 25);
}

TEST(Annealing, nodes_without_an_edge_trade_memory) {
  // Each of ten nodes may be quick and large; five fit. All the same but one, which gains most, is
  // large at first: one has to become slow before another can become quick.
  Problem problem;
  problem.tierBytesMax = {50};
  Choice start;
  for (int32_t n = 0; n < 10; ++n) {
    double slow = 10 + 5 * n;
    problem.nodes.push_back({{slow, 1}, {{0, 0, 9, {0, 10}}}});
    start.push_back(n < 5 ? 1 : 0);
  }
  Graph graph(problem);
  MemoryUses uses(problem);
  std::mt19937_64 random(1);
  Annealing annealing(graph, uses);
  annealing.start(start, {20, 0.1, 10, 5000});
  while (!annealing.isOver()) {
    annealing.advance({0}, random);
  }
  EXPECT_EQ(annealing.best(), (Choice{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}));
}

} // namespace
} // namespace headrace::solve
