// Peak memory over half-open intervals, and what counts as excess.
#include "model/solve/problem.h"

#include <gtest/gtest.h>

namespace headrace::solve {
namespace {

TEST(Problem, peak_is_over_time_not_the_sum) {
  Problem problem;
  problem.tierBytesMax = {10, 1};
  problem.nodes = {{{0, 0}, {{0, 0, 4, {3, 7}}, {1, 2, 2, {50, 50}}}},
                   {{0}, {{0, 4, 6, {8}}}},
                   {{0}, {{0, 3, 5, {2}}}}};
  EXPECT_EQ(memoryPeak(problem, {0, 0, 0}), (std::vector<double>{10, 0}));
  EXPECT_EQ(memoryExcess(problem, {0, 0, 0}), (std::vector<double>{0, 0}));
  problem.tierBytesMax = {9, 1};
  EXPECT_EQ(memoryExcess(problem, {1, 0, 0}), (std::vector<double>{1, 0}));
}

TEST(Problem, refuses_what_does_not_fit_together) {
  auto message = [](const auto &change) {
    Problem problem;
    problem.tierBytesMax = {10};
    problem.nodes = {{{0, 1}, {{0, 0, 4, {3, 7}}}}, {{0}, {}}};
    problem.edges = {{0, 1, {0, 0}}};
    EXPECT_TRUE(problem.check().ok());
    change(problem);
    return problem.check().message();
  };
  EXPECT_EQ(
      message([](Problem &p) { p.nodes[1].cost = {-1}; }).find("node 1 needs costs from 0 to "),
      0u);
  EXPECT_EQ(message([](Problem &p) { p.nodes[0].memory[0].bytes = {3}; }),
            "memory of node 0 does not fit its strategies");
  EXPECT_EQ(message([](Problem &p) { p.edges[0].target = 0; }), "edge 0 needs two different nodes");
  EXPECT_EQ(
      message([](Problem &p) { p.edges[0].cost = {0}; }).find("edge 0 needs 2 costs from 0 to "),
      0u);
}

} // namespace
} // namespace headrace::solve
