// Work for the pool in phases: each phase is a job of morsels and starts when the one before has
// ended.
#pragma once

#include "runtime/base/clock.h"
#include "runtime/device/cpu/worker_pool.h"

#include <atomic>
#include <deque>
#include <functional>

namespace headrace::exec {

/// One phase, described when it starts: sizes may depend on what earlier phases did.
struct JobPhase {
  int64_t morsels = 0; ///< 0: nothing to do
  MorselBody body;
};

/// Purpose: runs phases one after another. Move-only; dropping it cancels. poll() from one thread.
class PhasedJob {
public:
  using MakePhase = std::function<Expected<JobPhase>()>;

  /// `each`: the options of every phase but their morsels.
  PhasedJob(WorkerPool &pool, JobOptions each) : pool_(&pool), each_(std::move(each)) {}
  void add(MakePhase phase) { phases_.push_back(std::move(phase)); }
  /// Adds what workers spend on the phases to `nanoseconds`, which outlives this.
  void countBusy(std::atomic<int64_t> &nanoseconds, const Clock &clock) {
    busy_ = &nanoseconds;
    clock_ = &clock;
  }
  /// Rings the doorbell when it may go further. The first error is sticky.
  PollState poll();
  Status status() const { return status_; }

private:
  WorkerPool *pool_;
  JobOptions each_;
  std::atomic<int64_t> *busy_ = nullptr;
  const Clock *clock_ = nullptr;
  std::deque<MakePhase> phases_;
  Status status_;
  Job job_; ///< last: dropped, and so ended, first
};

} // namespace headrace::exec
