// The end of a run task: the states that it was the last to fill are merged, linked or sorted.
#pragma once

#include "runtime/exec/task/task.h"

#include <memory>
#include <vector>

namespace headrace::exec {

/// Purpose: polled until done. Thread-safety: of the rank's thread. Destroying it stops its jobs.
class Finishing {
public:
  /// Begins at once.
  Finishing(RankContext &context, int32_t task);
  /// Counts what it took in the task's counters.
  PollState poll();
  const Status &status() const { return status_; }

private:
  RankContext &context_;
  TaskCounters &counters_;
  std::vector<std::unique_ptr<PhasedJob>> jobs_;
  std::vector<int32_t> states_;
  int64_t start_ = 0;
  Status status_;
};

} // namespace headrace::exec
