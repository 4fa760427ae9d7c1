// The solver against exhaustive search on random small problems, with and without memory limits.
// Sources: model/solve/{anytime,contradiction,random_choice}.cpp
#include "model/solve/solve.h"
#include "test/unit/model/solve/random_problems.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <set>

namespace headrace::solve {
namespace {

TEST(Solve, equals_brute_force_without_limits) {
  int solvable = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    Problem problem = randomProblem(seed, Memory::kFree, 2 + seed % 8, 0.2 + 0.1 * (seed % 7));
    Best best = bruteForce(problem);
    Expected<Solution> solution = solve(problem, timeless(50));
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
    Expected<Solution> solution = solve(problem, timeless(60));
    ASSERT_TRUE(solution.ok()) << "seed " << seed;
    EXPECT_TRUE(solution->fits()) << "seed " << seed;
    EXPECT_GE(solution->cost, best.feasibleCost - 1e-9) << "seed " << seed;
    EXPECT_LE(solution->bound, best.feasibleCost + 1e-9) << "seed " << seed;
    ratioSum += solution->cost / best.feasibleCost;
    ++limited;
  }
  ASSERT_GE(limited, 40);
  EXPECT_LE(ratioSum / limited, 1.001);
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

/// 100 nodes at once that hold 6, 6 or 18 bytes; of three in a row one must hold 18, so all hold
/// 1000 or more.
Problem conflicts(uint64_t seed, double limit) {
  std::mt19937_64 random(seed);
  auto cost = [&] { return static_cast<double>(random() % 100); };
  Problem problem;
  problem.tierBytesMax = {limit};
  for (int32_t n = 0; n < 100; ++n) {
    problem.nodes.push_back({{cost(), cost(), cost()}, {{0, 0, 9, {6, 6, 18}}}});
    for (int32_t other = std::max(0, n - 2); other < n; ++other) {
      problem.edges.push_back(
          {other,
           n,
           {kForbidden, cost(), cost(), cost(), kForbidden, cost(), cost(), cost(), cost()}});
    }
  }
  return problem;
}

TEST(Solve, same_seed_same_run) {
  int several = 0;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    Problem problem = conflicts(seed, 1050);
    std::vector<double> costs[2];
    Choice choices[2];
    for (int run = 0; run < 2; ++run) {
      SolveOptions options = timeless(10, 5);
      options.progress = [&](const Progress &progress) {
        costs[run].push_back(progress.cost);
        costs[run].push_back(progress.bound);
      };
      Expected<Solution> solution = solve(problem, options);
      choices[run] = solution.ok() ? solution->choice : Choice();
    }
    EXPECT_EQ(choices[0], choices[1]) << "seed " << seed;
    EXPECT_EQ(costs[0], costs[1]) << "seed " << seed;
    several += costs[0].size() > 2;
  }
  EXPECT_GE(several, 2); // runs of more than one round were compared
}

TEST(Solve, chains_with_limits_equal_exhaustive_search) {
  int limited = 0;
  int hopeless = 0;
  int best = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Problem problem = randomChain(seed, 5 + seed % 5, 0.2 + 0.05 * (seed % 9));
    Best exact = bruteForce(problem);
    Expected<Solution> solution = solve(problem, timeless(60));
    ASSERT_EQ(solution.ok(), !exact.allowed.empty()) << "seed " << seed;
    if (!solution.ok()) {
      continue;
    }
    EXPECT_TRUE(exact.allowed.contains(solution->choice)) << "seed " << seed;
    if (!(exact.feasibleCost < kForbidden)) {
      EXPECT_FALSE(solution->fits()) << "seed " << seed;
      EXPECT_NE(solution->whyNothingFits, "") << "seed " << seed;
      ++hopeless;
      continue;
    }
    ++limited;
    EXPECT_TRUE(solution->fits()) << "seed " << seed;
    EXPECT_EQ(solution->whyNothingFits, "") << "seed " << seed;
    EXPECT_GE(solution->cost, exact.feasibleCost) << "seed " << seed;
    EXPECT_LE(solution->bound, exact.feasibleCost * (1 + 1e-9)) << "seed " << seed;
    best += solution->cost == exact.feasibleCost;
  }
  EXPECT_GE(limited, 100);
  EXPECT_GE(hopeless, 10);
  EXPECT_EQ(best, limited);
}

TEST(Solve, hundreds_of_layers_fit) {
  Problem problem = trainingGraph(200);
  Expected<Solution> free = solve(problem, timeless(1));
  ASSERT_TRUE(free.ok());
  EXPECT_LE(free->gap(), 1e-6);
  double peak = memoryPeak(problem, free->choice)[0];
  double last = free->cost;
  for (double share : {0.9, 0.6}) {
    problem.tierBytesMax = {share * peak};
    Expected<Solution> solution = solve(problem, timeless(40));
    ASSERT_TRUE(solution.ok());
    EXPECT_TRUE(solution->fits()) << share;
    EXPECT_LE(solution->gap(), 0.1) << share;
    EXPECT_GT(solution->cost, last) << "a limit that binds costs something: " << share;
    last = solution->cost;
  }
}

TEST(Solve, a_thousand_layers_begin_with_what_is_best_for_all_alike) {
  Problem problem = trainingGraph(1000);
  Expected<Solution> free = solve(problem, timeless(1));
  ASSERT_TRUE(free.ok());
  problem.tierBytesMax = {0.6 * memoryPeak(problem, free->choice)[0]};
  double first = 0;
  SolveOptions options = timeless(8);
  options.progress = [&](const Progress &progress) {
    if (first == 0 && progress.excess <= 0) {
      first = progress.cost;
      EXPECT_EQ(progress.bound, 0) << "a bound for equal layers is none for all";
    }
  };
  Expected<Solution> solution = solve(problem, options);
  ASSERT_TRUE(solution.ok());
  EXPECT_GE(solution->nodesLeft, 1000); // few would not be worth it
  EXPECT_TRUE(solution->fits());
  EXPECT_GT(first, 0);
  EXPECT_LE(solution->cost, first);
  EXPECT_LE(solution->bound, solution->cost);
  EXPECT_LE(solution->gap(), 0.1);
}

TEST(Solve, says_why_nothing_fits) {
  Problem problem;
  problem.nodes = {{{1, 2}, {{0, 3, 9, {60, 80}}}}, {{1}, {{0, 7, 12, {50}}}}};
  problem.tierBytesMax = {100};
  Expected<Solution> solution = solve(problem);
  ASSERT_TRUE(solution.ok());
  EXPECT_FALSE(solution->fits());
  EXPECT_EQ(solution->excessBytes, std::vector<double>{10});
  EXPECT_EQ(solution->whyNothingFits,
            "at time 7 every choice holds at least 110 bytes of tier 0, the limit is 100");
  SolveOptions named;
  named.nameOf = [](int32_t node) { return node == 0 ? "weights" : "matmul"; };
  EXPECT_EQ(solve(problem, named)->whyNothingFits,
            "at matmul every choice holds at least 110 bytes of tier 0 (weights: 60, matmul: "
            "50), the limit is 100");
  problem.nodes[1].memory[0].first = 9; // half open: the first is gone by then
  EXPECT_TRUE(solve(problem)->fits());
}

TEST(Solve, stops_when_the_clock_says_so) {
  // Nothing fits, but no single time proves it, and there are too many choices to try.
  Problem problem = conflicts(1, 900);
  double time = 0;
  SolveOptions options;
  options.roundsMax = 1000000000;
  options.now = [&] { return time += 0.001; };
  Expected<Solution> solution = solve(problem, options);
  ASSERT_TRUE(solution.ok());
  EXPECT_FALSE(solution->fits());
  EXPECT_LE(solution->rounds, 200);
}

TEST(Solve, holding_a_strategy_gives_the_runner_up) {
  Problem problem;
  problem.nodes = {{{1, 5}, {}}, {{1, 1}, {}}};
  problem.edges = {{0, 1, {0, 10, 10, 0}}};
  EXPECT_DOUBLE_EQ(solve(problem)->cost, 2);
  EXPECT_DOUBLE_EQ(solveHolding(problem, {1, -1})->cost, 6);
  EXPECT_DOUBLE_EQ(solveHolding(problem, {1, 0})->cost, 16);
  EXPECT_EQ(solveHolding(problem, {1}).status().message(), "one entry per node is needed, got 1");
}

TEST(Solve, contradictions_are_refused) {
  Problem problem;
  problem.nodes = {{{1, 1}, {}}, {{1}, {}}};
  problem.edges = {{0, 1, {kForbidden, kForbidden}}};
  EXPECT_EQ(solve(problem).status().message(), "no choice of layouts satisfies all constraints");
  EXPECT_FALSE(randomFeasibleChoice(problem, 1).ok());
}

TEST(Solve, contradictions_name_the_first_node_that_fits_none_before_it) {
  // A chain of equal strategies, but for the third from the end: it must be unlike the first.
  Problem problem;
  problem.nodes.assign(8, {{1, 2}, {}});
  for (int32_t n = 0; n + 1 < 8; ++n) {
    problem.edges.push_back({n, n + 1, {0, kForbidden, kForbidden, 0}});
  }
  problem.edges.push_back({0, 5, {kForbidden, 0, 0, kForbidden}});
  SolveOptions options;
  options.nameOf = [](int32_t node) { return "n" + std::to_string(node); };
  const char *why = "no choice of layouts satisfies all constraints: n5 has none that fits those "
                    "of n0, n4";
  Expected<Solution> solution = solve(problem, options);
  EXPECT_EQ(solution.status().message(), why);
  EXPECT_EQ(solution.status().kind(), ErrorKind::kUser);
  EXPECT_EQ(randomFeasibleChoice(problem, 1, options.nameOf).status().message(), why);
  problem.edges.pop_back();
  problem.nodes[3].cost = {kForbidden, kForbidden};
  EXPECT_EQ(solve(problem, options).status().message(),
            "no choice of layouts satisfies all constraints: n3 has none that fits those of n2");
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
