// Reductions keep the optimum, with and without memory limits, and lead every choice back at its
// cost.
#include "model/solve/reduction.h"
#include "test/unit/model/solve/random_problems.h"

#include <gtest/gtest.h>

namespace headrace::solve {
namespace {

void expectSameOptimum(const Problem &problem, uint64_t seed, int &smaller) {
  Best before = bruteForce(problem);
  Reduction reduction(problem);
  if (reduction.isContradiction()) {
    EXPECT_TRUE(before.allowed.empty()) << "seed " << seed;
    return;
  }
  const Problem &reduced = reduction.reduced();
  ASSERT_TRUE(reduced.check().ok()) << "seed " << seed;
  Best after = bruteForce(reduced);
  ASSERT_EQ(before.allowed.empty(), after.allowed.empty()) << "seed " << seed;
  if (before.allowed.empty()) {
    return;
  }
  EXPECT_EQ(before.feasibleCost < kForbidden, after.feasibleCost < kForbidden) << "seed " << seed;
  if (before.feasibleCost < kForbidden) {
    EXPECT_NEAR(before.feasibleCost, after.feasibleCost, 1e-9) << "seed " << seed;
  }
  for (const Choice &choice : after.allowed) {
    Choice lifted = reduction.lift(choice);
    ASSERT_TRUE(before.allowed.contains(lifted)) << "seed " << seed;
    EXPECT_NEAR(costOf(problem, lifted), costOf(reduced, choice), 1e-9) << "seed " << seed;
    // Limits that bind are those of the whole problem.
    EXPECT_EQ(memoryExcess(problem, lifted), memoryExcess(reduced, choice)) << "seed " << seed;
  }
  smaller += reduced.nodes.size() < problem.nodes.size();
}

TEST(Reduction, keeps_the_optimum_of_free_problems) {
  int smaller = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    expectSameOptimum(randomProblem(seed, Memory::kFree, 2 + seed % 7, 0.2 + 0.1 * (seed % 7)),
                      seed, smaller);
  }
  EXPECT_GE(smaller, 60);
}

TEST(Reduction, keeps_the_optimum_of_chains_under_limits) {
  int smaller = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    expectSameOptimum(randomChain(seed, 3 + seed % 6, 0.05 * (seed % 14)), seed, smaller);
  }
  EXPECT_GE(smaller, 150);
}

/// Four nodes in a ring with chords, and `twins` equal nodes that three of them see.
Problem withTwins(int32_t twins) {
  Problem problem;
  problem.tierBytesMax = {1e18};
  for (int32_t n = 0; n < 4; ++n) {
    problem.nodes.push_back({{1.0 + n, 3, 2}, {}});
    for (int32_t other = 0; other < n; ++other) {
      problem.edges.push_back({other, n, {0, 2, 5, 3, 1, 2.0 + n, 4, 2, 0}});
    }
  }
  for (int32_t twin = 0; twin < twins; ++twin) {
    problem.nodes.push_back({{2, 1, 2}, {}});
    for (int32_t other = 0; other < 3; ++other) {
      problem.edges.push_back({other, 4 + twin, {1, 3, 0, 2, 2, 1, 0, 2, 4.0 + other}});
    }
  }
  return problem;
}

TEST(Reduction, equal_nodes_become_one_and_the_answer_stays) {
  size_t alone = Reduction(withTwins(1)).reduced().nodes.size();
  for (int32_t twins = 2; twins <= 5; ++twins) {
    Problem problem = withTwins(twins);
    int smaller = 0;
    expectSameOptimum(problem, static_cast<uint64_t>(twins), smaller);
    EXPECT_EQ(Reduction(problem).reduced().nodes.size(), alone);
    Choice choice = solve(problem, timeless(20))->choice;
    for (int32_t twin = 1; twin < twins; ++twin) {
      EXPECT_EQ(choice[4 + twin], choice[4]);
    }
  }
}

TEST(Reduction, chains_vanish) {
  Problem problem;
  for (int32_t n = 0; n < 1000; ++n) {
    problem.nodes.push_back({{1, 2}, {}});
    if (n > 0) {
      problem.edges.push_back({n - 1, n, {0, 3, 1, 0}});
    }
  }
  EXPECT_EQ(Reduction(problem).reduced().nodes.size(), 1u); // what is decided
  EXPECT_DOUBLE_EQ(Reduction(problem).reduced().nodes[0].cost[0], 1000);
}

TEST(Reduction, lowering_a_lifted_choice_gives_it_back) {
  Problem problem = withTwins(2);
  Reduction reduction(problem);
  for (const Choice &choice : bruteForce(reduction.reduced()).allowed) {
    EXPECT_EQ(reduction.lower(reduction.lift(choice)), choice);
  }
}

} // namespace
} // namespace headrace::solve
