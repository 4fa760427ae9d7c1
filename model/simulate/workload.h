// Workload: what a plan is simulated with.
#pragma once

#include "model/cost/cost.h"
#include "model/cost/task_time.h"
#include "model/simulate/rank_class.h"

#include <map>
#include <string>
#include <vector>

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

} // namespace headrace::simulate
