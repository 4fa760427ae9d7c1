// A plan on a topology as a graph of activities: what every task costs on a rank of each class,
// chunk by chunk.
#pragma once

#include "model/cost/cost.h"
#include "model/cost/task_time.h"
#include "model/plan/plan.h"
#include "model/simulate/graph.h"
#include "model/simulate/rank_class.h"

#include <map>
#include <string>

namespace headrace::simulate {

/// What the plan runs on, which is not in the plan itself.
struct Workload {
  int64_t ranks = 1;
  /// Rows over all ranks, by the name of a slot or a stream. What is not here has the rows that the
  /// compiler estimated, scaled as the slots here are against its estimates of them; where it did
  /// not estimate, a stream has the rows of what it is made from.
  std::map<std::string, double> rows;
  /// Workers of all ranks together, if the ranks are CPU ranks of one process: then tasks take what
  /// cost/task_time.h says, and what goes between ranks is copied by them. 0: each rank has its
  /// device.
  int64_t threads = 0;
  /// With threads: what a rank's part of a task handles, where it is known from a run. Others are
  /// derived from `rows` and the plan's estimates.
  std::map<int32_t, cost::TaskRows> tasks;
  /// Ranks that are slower, load more, or receive more; others are equal.
  std::vector<RankSkew> skews;
  double memoryBytes = 0; ///< of a rank; what does not fit is spilled; 0 = all of its device
  double rowsRelativeError = 0;
  /// A stream is simulated in at most this many chunks; fewer chunks are quicker and overlap less.
  int64_t chunksMax = 32;
};

/// Equal ranks become one (see RankSkew for others), so the size does not grow with ranks. Kernels
/// use a device in the order of plan::precedences, as workers take them. Streams
/// hold their producers as in the run: by their credit, scaled to the simulated chunks and at least
/// two. A choose takes the branch that the expected value of its hole decides; a repeat's body
/// counts as often as it may run. Rank 0's share after a gather is simulated on a rank of the first
/// class. A state whose reservation exceeds its tier is written in part to the tier below while it
/// is filled and read back before its first reader; without a tier below, the simulation says that
/// there is no room. Errors (kUser): ranks that the topology lacks, skews that make no sense, a
/// slot without rows. `plan` must have passed plan::check.
Expected<Graph> planGraph(const plan::Plan &plan, const topology::Topology &topology,
                          const Workload &workload);

} // namespace headrace::simulate
