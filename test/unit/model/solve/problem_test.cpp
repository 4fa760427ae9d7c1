// Peak memory over half-open intervals, and what counts as excess.
#include "runtime/model/solve/problem.h"

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

} // namespace
} // namespace headrace::solve
