// libFuzzer: any bytes as a contest problem, which must be refused with a reason or be solved for a
// few rounds, with a bound below the cost. Cost and fit are checked anew.
#include "model/solve/contest.h"
#include "model/solve/solve.h"
#include "test/fuzz/json_mutation.h"

#include <cstdlib>

using namespace headrace;

namespace {
const char *const kStart =
    R"({"problem":{"name":"x","nodes":{"intervals":[[0,3],[1,4],[2,6],[0,0]],"costs":[[3,1,2],[0,2],[5,1,1],[4]],)"
    R"("usages":[[1,5,3],[2,4],[6,1,3],[9]]},"edges":{"nodes":[[0,1],[1,2],[0,2],[3,0]],)"
    R"("costs":[[0,5,5,0,1000000000000000000,1],[0,2,1,1,0,3],[1,2,3,4,5,6,7,8,9],[1,0,2]]},"usage_limit":9}})";

bool isAllowed(const solve::Problem &problem, const solve::Choice &choice) {
  for (size_t n = 0; n < problem.nodes.size(); ++n) {
    if (problem.nodes[n].cost[choice[n]] >= solve::kForbidden) {
      return false;
    }
  }
  for (const solve::Edge &edge : problem.edges) {
    size_t width = problem.nodes[edge.target].cost.size();
    if (edge.cost[choice[edge.source] * width + choice[edge.target]] >= solve::kForbidden) {
      return false;
    }
  }
  return true;
}
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  Expected<solve::ContestProblem> read = solve::parseContest(text);
  if (!read) {
    if (read.status().message().empty()) {
      abort(); // refused without a reason
    }
    return 0;
  }
  if (!read->problem.check().ok()) {
    abort(); // what was read must be well formed
  }
  solve::SolveOptions options;
  options.roundsMax = 3;
  options.now = [] { return 0.0; };
  Expected<solve::Solution> solution = solve::solve(read->problem, options);
  if (!solution) {
    return 0;
  }
  double cost = solve::costOf(read->problem, solution->choice);
  if (cost != solution->cost || !isAllowed(read->problem, solution->choice) ||
      (solution->fits() && solution->bound > cost) ||
      solution->excessBytes != solve::memoryExcess(read->problem, solution->choice)) {
    abort();
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t sizeMax,
                                          unsigned seed) {
  return fuzz::mutateDocument(data, size, sizeMax, seed, kStart);
}
