// Regions are solved exactly as far as elimination reaches; walks keep their cost and load true.
#include "runtime/model/solve/local_search.h"
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
    bool fitted = walk.fits();
    for (int move = 0; move < 300; ++move) {
      walk.move(static_cast<int32_t>(random() % graph.size()),
                1 + static_cast<int32_t>(random() % 9), graph.unaries(), 1000, random);
      ASSERT_TRUE(walk.fits() || !fitted) << "seed " << seed;
      fitted = walk.fits();
    }
    EXPECT_NEAR(walk.cost(), graph.cost(graph.unaries(), walk.choice()), 1e-9 * walk.cost());
    std::vector<double> load;
    uses.load(walk.choice(), load);
    EXPECT_EQ(load, walk.load());
    EXPECT_EQ(walk.fits(), memoryExcess(problem, walk.choice())[0] == 0);
  }
}

} // namespace
} // namespace headrace::solve
