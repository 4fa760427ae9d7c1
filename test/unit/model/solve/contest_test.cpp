// The reader of contest problems: what it takes, and what it refuses with which path.
#include "model/solve/contest.h"
#include "model/solve/solve.h"

#include <gtest/gtest.h>

namespace headrace::solve {
namespace {

const char *const kSmall = R"({"problem": {
  "edges": {"nodes": [[0, 1], [1, 2], [2], [2, 2]],
            "costs": [[3, 1, 0, 1000000000000000000], [0, 5, 5, 0], [1, 0], [2, 9, 9, 3]]},
  "name": "small",
  "nodes": {"intervals": [[0, 3], [1, 4], [0, 0]],
            "costs": [[10, 20], [5, 6], [7, 2000000000000000000]],
            "usages": [[4, 1], [3, 3], [99, 99]]},
  "usage_limit": 6}})";

TEST(Contest, reads_nodes_edges_and_limit) {
  Expected<ContestProblem> read = parseContest(kSmall);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->name, "small");
  const Problem &problem = read->problem;
  ASSERT_TRUE(problem.check().ok());
  ASSERT_EQ(problem.nodes.size(), 3u);
  EXPECT_EQ(problem.nodes[0].memory[0].bytes, (std::vector<double>{4, 1}));
  EXPECT_TRUE(problem.nodes[2].memory.empty());
  // The edges of one node are costs of it: 7 + 1 + 2; what costs 1e18 is forbidden.
  EXPECT_EQ(problem.nodes[2].cost, (std::vector<double>{10, kForbidden}));
  ASSERT_EQ(problem.edges.size(), 2u);
  EXPECT_EQ(problem.edges[0].cost, (std::vector<double>{3, 1, 0, kForbidden}));
  EXPECT_EQ(problem.tierBytesMax, std::vector<double>{6});
  // 0 with 0 is over the limit in [1, 3).
  Expected<Solution> solution = solve(problem);
  ASSERT_TRUE(solution.ok());
  EXPECT_EQ(solution->choice, (Choice{1, 0, 0}));
  EXPECT_DOUBLE_EQ(solution->cost, 20 + 5 + 10 + 0 + 0);
}

TEST(Contest, without_a_limit_everything_fits) {
  Expected<ContestProblem> read = parseContest(
      R"({"problem":{"name":"","nodes":{"intervals":[[0,9]],"costs":[[1.5]],"usages":[[1e300]]},"edges":{"nodes":[],"costs":[]}}})");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_TRUE(solve(read->problem)->fits());
}

struct Wrong {
  const char *text;
  const char *message;
};

/// A document with one list replaced.
std::string with(const std::string &list, const std::string &value) {
  std::string intervals = "[[0,3],[1,4]]", costs = "[[1,2],[3]]", usages = "[[1,2],[3]]",
              nodes = "[[0,1]]", edgeCosts = "[[1,2]]";
  (list == "intervals" ? intervals
   : list == "costs"   ? costs
   : list == "usages"  ? usages
   : list == "nodes"   ? nodes
                       : edgeCosts) = value;
  return R"({"problem":{"name":"x","nodes":{"intervals":)" + intervals + R"(,"costs":)" + costs +
         R"(,"usages":)" + usages + R"(},"edges":{"nodes":)" + nodes + R"(,"costs":)" + edgeCosts +
         "}}}";
}

TEST(Contest, wrong_documents_are_refused_with_their_path) {
  ASSERT_TRUE(parseContest(with("edgeCosts", "[[1,2]]")).ok());
  const Wrong kWrong[] = {
      {"", "not valid JSON near byte 1"},
      {"{", "not valid JSON near byte 2"},
      {"[]", "$: expected an object, got an array"},
      {"7", "$: expected an object, got a number"},
      {"{}", "$.problem: missing key: nodes.costs"},
      {R"({"problem":3})", "$.problem: expected an object, got a number"},
      {R"({"problems":{}})", "$.problems: unknown key"},
      {R"({"problem":{"usage_limits":3}})", "$.problem.usage_limits: unknown key"},
      {R"({"problem":{"usage_limit":-3}})",
       "$.problem.usage_limit: expected a number from 0, got -3"},
      {R"({"problem":{"usage_limit":"3"}})",
       "$.problem.usage_limit: expected a number, got a string"},
      {R"({"problem":{"name":3}})", "$.problem.name: expected a string, got a number"},
      {R"({"problem":{"nodes":[]}})", "$.problem.nodes: expected an object, got an array"},
      {R"({"problem":{"nodes":{"costs":3}}})",
       "$.problem.nodes.costs: expected an array of arrays, got a number"},
      {R"({"problem":{"nodes":{"costs":[[1],3]}}})",
       "$.problem.nodes.costs[1]: expected an array, got a number"},
      {R"({"problem":{"nodes":{"costs":[[1],[2,[]]]}}})",
       "$.problem.nodes.costs[1][1]: expected a number, got an array"},
      {R"({"problem":{"nodes":{"costs":[[1],[2,null]]}}})",
       "$.problem.nodes.costs[1][1]: expected a number, got null"},
      {R"({"problem":{"nodes":{"costs":[[1],[2,-1]]}}})",
       "$.problem.nodes.costs[1][1]: expected a number from 0, got -1"},
      {R"({"problem":{"nodes":{"costs":[],"costs":[]}}})", "$.problem.nodes.costs: given twice"},
      {R"({"problem":{"edges":{"price":[]}}})", "$.problem.edges.price: unknown key"},
  };
  for (const Wrong &wrong : kWrong) {
    Expected<ContestProblem> read = parseContest(wrong.text);
    ASSERT_FALSE(read.ok()) << wrong.text;
    EXPECT_EQ(read.status().message(), wrong.message) << wrong.text;
  }
  struct {
    const char *list, *value, *message;
  } const kLists[] = {
      {"intervals", "[[0,3]]", "$.problem.nodes.intervals: expected 2 as costs, got 1"},
      {"intervals", "[[0,3],[4,1]]",
       "$.problem.nodes.intervals[1]: expected two whole numbers, the second not smaller"},
      {"intervals", "[[0,3],[4]]",
       "$.problem.nodes.intervals[1]: expected two whole numbers, the second not smaller"},
      {"intervals", "[[0,3],[0.5,1]]",
       "$.problem.nodes.intervals[1]: expected two whole numbers, the second not smaller"},
      {"intervals", "[[0,3],[0,1e99]]",
       "$.problem.nodes.intervals[1]: expected two whole numbers, the second not smaller"},
      {"costs", "[[1,2],[]]", "$.problem.nodes.costs[1]: expected at least one strategy"},
      {"usages", "[[1,2]]", "$.problem.nodes.usages: expected 2 as costs, got 1"},
      {"usages", "[[1,2],[3,4]]", "$.problem.nodes.usages[1]: expected 1 as costs, got 2"},
      {"nodes", "[[0,1],[1,0]]", "$.problem.edges.costs: expected 2 as nodes, got 1"},
      {"nodes", "[[0,2]]", "$.problem.edges.nodes[0]: expected one or two nodes below 2"},
      {"nodes", "[[]]", "$.problem.edges.nodes[0]: expected one or two nodes below 2"},
      {"nodes", "[[0,1,0]]", "$.problem.edges.nodes[0]: expected one or two nodes below 2"},
      {"nodes", "[[0.5,1]]", "$.problem.edges.nodes[0]: expected one or two nodes below 2"},
      {"edgeCosts", "[[1,2,3]]", "$.problem.edges.costs[0]: expected 2 costs, got 3"},
  };
  for (const auto &wrong : kLists) {
    Expected<ContestProblem> read = parseContest(with(wrong.list, wrong.value));
    ASSERT_FALSE(read.ok()) << wrong.list << wrong.value;
    EXPECT_EQ(read.status().message(), wrong.message) << wrong.list << wrong.value;
  }
  EXPECT_FALSE(parseContest(std::string(kSmall) + "x").ok());
  EXPECT_FALSE(parseContest(std::string_view(kSmall).substr(0, 300)).ok());
  EXPECT_FALSE(parseContest(std::string(100000, '[')).ok());
}

} // namespace
} // namespace headrace::solve
