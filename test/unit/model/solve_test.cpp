// The solver against brute force on random small problems, with and without memory limits.
#include "runtime/model/solve/solve.h"

#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <set>

namespace headrace::solve {
namespace {

enum class Memory { kFree, kLimited };

/// A random problem with some forbidden pairs; costs in the range of seconds of real plans.
Problem randomProblem(uint64_t seed, Memory memory, int32_t nodes, double edgeDensity) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(0, 1);
  Problem problem;
  problem.tierBytesMax = {memory == Memory::kLimited ? 100.0 * nodes / 2 : 1e18};
  for (int32_t n = 0; n < nodes; ++n) {
    Node node;
    MemoryUse use{0, n / 2, n / 2 + 1 + static_cast<int32_t>(random() % 3), {}};
    size_t strategies = 1 + random() % 4;
    for (size_t s = 0; s < strategies; ++s) {
      node.cost.push_back(1e-3 * unit(random));
      use.bytes.push_back(200 * unit(random));
    }
    node.memory.push_back(use);
    problem.nodes.push_back(node);
  }
  for (int32_t a = 0; a < nodes; ++a) {
    for (int32_t b = a + 1; b < nodes; ++b) {
      if (unit(random) > edgeDensity) {
        continue;
      }
      Edge edge{a, b, {}};
      size_t size = problem.nodes[a].cost.size() * problem.nodes[b].cost.size();
      for (size_t i = 0; i < size; ++i) {
        edge.cost.push_back(unit(random) < 0.1 ? kForbidden : 1e-3 * unit(random));
      }
      problem.edges.push_back(edge);
    }
  }
  return problem;
}

struct Best {
  double cost = std::numeric_limits<double>::infinity();
  double feasibleCost = std::numeric_limits<double>::infinity();
  std::set<Choice> allowed;
};

Best bruteForce(const Problem &problem) {
  Best best;
  Choice choice(problem.nodes.size(), 0);
  while (true) {
    double cost = costOf(problem, choice);
    if (cost < kForbidden) {
      best.allowed.insert(choice);
      best.cost = std::min(best.cost, cost);
      if (memoryExcess(problem, choice)[0] <= 0) {
        best.feasibleCost = std::min(best.feasibleCost, cost);
      }
    }
    size_t n = 0;
    while (n < choice.size() && ++choice[n] == static_cast<int32_t>(problem.nodes[n].cost.size())) {
      choice[n++] = 0;
    }
    if (n == choice.size()) {
      return best;
    }
  }
}

TEST(Solve, equals_brute_force_without_limits) {
  int solvable = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    Problem problem = randomProblem(seed, Memory::kFree, 2 + seed % 8, 0.2 + 0.1 * (seed % 7));
    Best best = bruteForce(problem);
    Expected<Solution> solution = solve(problem);
    ASSERT_EQ(solution.ok(), !best.allowed.empty()) << "seed " << seed;
    if (!solution.ok()) {
      continue;
    }
    ++solvable;
    EXPECT_NEAR(solution->cost, best.cost, 1e-9) << "seed " << seed;
    EXPECT_NEAR(costOf(problem, solution->choice), solution->cost, 1e-12) << "seed " << seed;
    EXPECT_LE(solution->bound, best.cost + 1e-9) << "seed " << seed;
    EXPECT_TRUE(solution->fits());
  }
  EXPECT_GE(solvable, 60);
}

TEST(Solve, respects_memory_and_stays_near_the_best_that_fits) {
  int limited = 0;
  double ratioSum = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    Problem problem = randomProblem(seed, Memory::kLimited, 4 + seed % 5, 0.4);
    Best best = bruteForce(problem);
    if (!(best.feasibleCost < kForbidden)) {
      continue;
    }
    SolveOptions options;
    options.secondsMax = 5;
    options.roundsMax = 60;
    Expected<Solution> solution = solve(problem, options);
    ASSERT_TRUE(solution.ok()) << "seed " << seed;
    EXPECT_TRUE(solution->fits()) << "seed " << seed;
    EXPECT_GE(solution->cost, best.feasibleCost - 1e-9) << "seed " << seed;
    EXPECT_LE(solution->bound, best.feasibleCost + 1e-9) << "seed " << seed;
    ratioSum += solution->cost / best.feasibleCost;
    ++limited;
  }
  ASSERT_GE(limited, 40);
  EXPECT_LE(ratioSum / limited, 1.05);
}

TEST(Solve, proves_long_chains_at_once) {
  Problem problem;
  std::mt19937_64 random(7);
  for (int32_t n = 0; n < 500; ++n) {
    problem.nodes.push_back({{1e-3, 2e-3, 3e-3}, {}});
    if (n > 0) {
      Edge edge{n - 1, n, {}};
      for (int i = 0; i < 9; ++i) {
        edge.cost.push_back(1e-6 * static_cast<double>(random() % 10000));
      }
      problem.edges.push_back(edge);
    }
  }
  Expected<Solution> solution = solve(problem);
  ASSERT_TRUE(solution.ok());
  EXPECT_LE(solution->gap(), 1e-6);
  EXPECT_EQ(solution->rounds, 1);
}

TEST(Solve, same_seed_same_choice) {
  Problem problem = randomProblem(11, Memory::kLimited, 9, 0.5);
  SolveOptions options;
  options.secondsMax = 100;
  options.roundsMax = 20;
  options.seed = 5;
  EXPECT_EQ(solve(problem, options)->choice, solve(problem, options)->choice);
}

TEST(Solve, stops_when_the_clock_says_so) {
  Problem problem = randomProblem(13, Memory::kLimited, 9, 0.5);
  problem.tierBytesMax = {1}; // nothing fits, so only the clock can stop it
  SolveOptions options;
  double time = 0;
  options.now = [&] { return time += 0.06; };
  EXPECT_LE(solve(problem, options)->rounds, 5);
  EXPECT_FALSE(solve(problem, options)->fits());
}

TEST(Solve, holding_a_strategy_gives_the_runner_up) {
  Problem problem;
  problem.nodes = {{{1, 5}, {}}, {{1, 1}, {}}};
  problem.edges = {{0, 1, {0, 10, 10, 0}}};
  EXPECT_DOUBLE_EQ(solve(problem)->cost, 2);
  EXPECT_DOUBLE_EQ(solveHolding(problem, {1, -1})->cost, 6);
  EXPECT_DOUBLE_EQ(solveHolding(problem, {1, 0})->cost, 16);
}

TEST(Solve, contradictions_are_refused) {
  Problem problem;
  problem.nodes = {{{1, 1}, {}}, {{1}, {}}};
  problem.edges = {{0, 1, {kForbidden, kForbidden}}};
  EXPECT_EQ(solve(problem).status().message(), "no choice of layouts satisfies all constraints");
  EXPECT_FALSE(randomFeasibleChoice(problem, 1).ok());
}

TEST(Solve, malformed_problems_are_refused) {
  Problem problem;
  problem.nodes = {{{}, {}}};
  EXPECT_FALSE(solve(problem).ok());
  problem.nodes = {{{1}, {}}, {{1}, {}}};
  problem.edges = {{0, 0, {1}}};
  EXPECT_FALSE(solve(problem).ok());
  problem.edges = {{0, 1, {1, 2}}};
  EXPECT_FALSE(solve(problem).ok());
  problem.edges = {{0, 1, {-1}}};
  EXPECT_FALSE(solve(problem).ok());
}

TEST(Solve, random_choices_reach_every_allowed_one) {
  Problem problem = randomProblem(3, Memory::kFree, 4, 0.7);
  Best best = bruteForce(problem);
  ASSERT_GE(best.allowed.size(), 3u);
  ASSERT_LE(best.allowed.size(), 60u);
  std::set<Choice> seen;
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    Expected<Choice> choice = randomFeasibleChoice(problem, seed);
    ASSERT_TRUE(choice.ok());
    ASSERT_TRUE(best.allowed.contains(*choice)) << "seed " << seed;
    seen.insert(*choice);
  }
  EXPECT_EQ(seen, best.allowed);
}

} // namespace
} // namespace headrace::solve
