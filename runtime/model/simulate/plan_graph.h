// A plan on a topology as a graph of activities: what every task costs on a rank of each class,
// chunk by chunk.
#pragma once

#include "runtime/model/plan/plan.h"
#include "runtime/model/simulate/graph.h"

#include <map>
#include <string>

namespace headrace::simulate {

/// What the plan runs on, which is not in the plan itself.
struct Workload {
  int64_t ranks = 1;
  /// Rows over all ranks, by the name of a slot or a stream. A slot that is loaded must be here; a
  /// stream that is not has the rows of what it is made from.
  std::map<std::string, double> rows;
  double rowsRelativeError = 0;
  double operationsPerValue = 4; ///< of a kernel, for each value it reads or writes
  /// A stream is simulated in at most this many chunks; fewer chunks are quicker and overlap less.
  int64_t chunksMax = 32;
};

/// Equal ranks become one, so the size does not grow with ranks. Streams hold their producers as in
/// the run: by their credit, scaled to the simulated chunks and at least two. A choose takes the
/// branch that the expected value of its hole decides; a repeat's body counts as often as it may
/// run. Rank 0's share after a gather is simulated on a rank of the first class. Errors (kUser):
/// ranks that the topology lacks, a slot without rows. `plan` must have passed plan::check.
Expected<Graph> planGraph(const plan::Plan &plan, const topology::Topology &topology,
                          const Workload &workload);

} // namespace headrace::simulate
