// Regions are solved exactly as far as elimination reaches; walks keep their cost and load true.
// Sources: model/solve/row_loads.cpp
#include "model/solve/local_search.h"
#include "test/unit/model/solve/random_problems.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

namespace headrace::solve {
namespace {

std::vector<int32_t> all(const Graph &graph) {
  std::vector<int32_t> nodes(graph.size());
  std::iota(nodes.begin(), nodes.end(), 0);
  return nodes;
}

TEST(Neighbourhood, never_worse_and_exact_if_nothing_is_kept) {
  std::mt19937_64 random(5);
  int exact = 0;
  for (uint64_t seed = 1; seed <= 80; ++seed) {
    Problem problem = randomProblem(seed, Memory::kFree, 4 + seed % 5, 0.2 + 0.1 * (seed % 6));
    Best best = bruteForce(problem);
    Graph graph(problem);
    Neighbourhood neighbourhood(graph);
    Choice choice(graph.size(), 0);
    for (int round = 0; round < 5; ++round) {
      double before = graph.cost(graph.unaries(), choice);
      int32_t kept = neighbourhood.improve(graph.unaries(), all(graph), choice, random);
      double after = graph.cost(graph.unaries(), choice);
      ASSERT_LE(after, before * (1 + 1e-12)) << "seed " << seed;
      if (kept == 0 && !best.allowed.empty()) {
        ASSERT_NEAR(after, best.cost, 1e-9) << "seed " << seed;
        ++exact;
      }
    }
  }
  EXPECT_GE(exact, 50);
}

TEST(Neighbourhood, only_the_region_changes) {
  std::mt19937_64 random(6);
  Problem problem = randomProblem(4, Memory::kFree, 9, 0.6);
  Graph graph(problem);
  Neighbourhood neighbourhood(graph);
  Choice choice(graph.size(), 0);
  std::vector<int32_t> region = {1, 4, 7};
  neighbourhood.improve(graph.unaries(), region, choice, random);
  for (int32_t node = 0; node < 9; ++node) {
    EXPECT_TRUE(choice[node] == 0 || std::count(region.begin(), region.end(), node) == 1) << node;
  }
}

TEST(LocalSearch, keeps_cost_and_load_and_never_leaves_what_fits) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    Problem problem = randomChain(seed, 30, 0.15);
    Graph graph(problem);
    MemoryUses uses(problem);
    LocalSearch walk(graph, uses);
    walk.start(Choice(graph.size(), 0));
    Terms terms{0, 1000, 0, Terms::Fit::kStays};
    bool fitted = walk.fits();
    for (int step = 0; step < 300; ++step) {
      Move move{static_cast<int32_t>(random() % graph.size()),
                1 + static_cast<int32_t>(random() % 9)};
      if (step % 3 == 0) {
        move.force = static_cast<int32_t>(random() % graph.strategies(move.seed));
      }
      terms.noise = step % 2 == 0 ? 0 : 2;
      walk.move(move, terms, random);
      ASSERT_TRUE(walk.fits() || !fitted) << "seed " << seed;
      fitted = walk.fits();
    }
    EXPECT_NEAR(walk.cost(), graph.cost(graph.unaries(), walk.choice()), 1e-9 * walk.cost());
    std::vector<double> load;
    uses.load(walk.choice(), load);
    EXPECT_EQ(load, walk.loads().load());
    EXPECT_EQ(walk.fits(), memoryExcess(problem, walk.choice())[0] == 0);
  }
}

TEST(LocalSearch, a_forced_strategy_is_answered_by_its_neighbours) {
  // A path whose nodes must all choose alike: no node alone can change.
  Problem problem;
  for (int32_t n = 0; n < 6; ++n) {
    problem.nodes.push_back({{n == 3 ? 9.0 : 0.0, 1.0}, {}});
    if (n > 0) {
      problem.edges.push_back({n - 1, n, {0, kForbidden, kForbidden, 0}});
    }
  }
  Graph graph(problem);
  MemoryUses uses(problem);
  LocalSearch walk(graph, uses);
  walk.start(Choice(6, 0));
  std::mt19937_64 random(1);
  Terms terms{0, 0, 0, Terms::Fit::kStays};
  EXPECT_FALSE(walk.move({0, 1, 1}, terms, random)); // too few may answer
  EXPECT_TRUE(walk.move({0, 6, 1}, terms, random));
  EXPECT_EQ(walk.choice(), Choice(6, 1));
  EXPECT_FALSE(walk.move({0, 6, 0}, terms, random)); // back is uphill
  terms.riseMax = 3;
  EXPECT_TRUE(walk.move({0, 6, 0}, terms, random));
  EXPECT_DOUBLE_EQ(walk.cost(), 9);
}

TEST(RowLoads, equal_those_counted_anew) {
  // Two tiers of many rows, loads near the limit and far from it.
  Problem problem;
  problem.tierBytesMax = {900, 500};
  std::mt19937_64 random(9);
  for (int32_t n = 0; n < 1200; ++n) {
    auto first = static_cast<int32_t>(random() % 2400);
    auto last = first + 1 + static_cast<int32_t>(random() % 200);
    auto bytes = static_cast<double>(random() % 30);
    problem.nodes.push_back({{0, 0}, {{n % 2, first, last, {bytes, 30 - bytes}}}});
  }
  MemoryUses uses(problem);
  ASSERT_GT(uses.rowCount(), 200u);
  Choice choice(1200, 0);
  RowLoads loads(uses);
  loads.start(choice);
  int over = 0;
  for (int step = 0; step < 2000; ++step) {
    auto node = static_cast<int32_t>(random() % 1200);
    loads.shift(node, choice[node], 1 - choice[node]);
    choice[node] = 1 - choice[node];
    if (step % 20 == 0) {
      RowLoads anew(uses);
      anew.start(choice);
      ASSERT_EQ(loads.load(), anew.load());
      ASSERT_EQ(loads.fits(), anew.fits());
      ASSERT_NEAR(loads.excess(), anew.excess(), 1e-9 * (1 + anew.excess()));
      over += !loads.fits();
    }
  }
  EXPECT_GT(over, 0);
}

} // namespace
} // namespace headrace::solve
