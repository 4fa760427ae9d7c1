// Branch and bound against trying every choice.
#include "model/solve/exhaustive.h"

#include "test/unit/model/solve/random_problems.h"

#include <gtest/gtest.h>

namespace headrace::solve {
namespace {

constexpr int64_t kEnough = 1'000'000'000;

TEST(Exhaustive, finds_the_cheapest_that_fits) {
  int found = 0;
  int none = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const Problem problem = randomProblem(seed, Memory::kLimited, 4 + seed % 5, 0.4);
    const Best best = bruteForce(problem);
    const Graph graph(problem);
    const MemoryUses uses(problem);
    const ExhaustiveResult result = searchExhaustively(graph, uses, graph.forbidden(), kEnough);
    ASSERT_TRUE(result.finished) << seed;
    ASSERT_EQ(result.found, best.feasibleCost < kForbidden) << seed;
    if (!result.found) {
      ++none;
      continue;
    }
    ++found;
    EXPECT_NEAR(result.cost, best.feasibleCost, 1e-9) << seed;
    EXPECT_NEAR(costOf(problem, result.choice), result.cost, 1e-9) << seed;
    EXPECT_EQ(memoryExcess(problem, result.choice)[0], 0) << seed;
    // Only what is cheaper than what is known counts.
    EXPECT_FALSE(searchExhaustively(graph, uses, result.cost, kEnough).found) << seed;
    EXPECT_TRUE(searchExhaustively(graph, uses, result.cost * 1.001 + 1e-9, kEnough).found) << seed;
  }
  EXPECT_GE(found, 40);
  EXPECT_GE(none, 1);
}

TEST(Exhaustive, stops_after_its_steps_and_says_so) {
  const Problem problem = randomProblem(3, Memory::kFree, 8, 0.5);
  const Graph graph(problem);
  EXPECT_FALSE(searchExhaustively(graph, MemoryUses(problem), graph.forbidden(), 20).finished);
}

} // namespace
} // namespace headrace::solve
