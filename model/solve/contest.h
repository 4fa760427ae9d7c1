// Reads problems in the JSON format of the IOPDDL contest (ASPLOS/EuroSys 2025): nodes with live
// intervals, costs and memory per strategy, cost matrices on edges, one memory limit.
#pragma once

#include "model/solve/problem.h"

#include <string>
#include <string_view>

namespace headrace::solve {

/// A problem of the contest. Costs of 1e18 and more are kForbidden; memory has one tier, with no
/// limit if the document gives none.
struct ContestProblem {
  std::string name;
  Problem problem;
};

/// Parses a whole document; it streams, so that memory is that of the problem. Errors (kUser) begin
/// with the JSON path, as "$.problem.edges.costs[3]: expected 12 costs, got 11". Values are numbers
/// from 0 (costs saturate at 1e18); an edge may name one node, or the same node twice, and then
/// costs as that node does.
Expected<ContestProblem> parseContest(std::string_view text);

} // namespace headrace::solve
