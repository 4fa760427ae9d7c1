// Work for the pool in phases: each has morsels and starts when the one before has ended.
#pragma once

#include "runtime/base/clock.h"
#include "runtime/device/cpu/worker_pool.h"

#include <atomic>
#include <deque>
#include <functional>

namespace headrace::exec {

/// Purpose: runs phases one after another, as one job; those without morsels are passed over.
/// Dropping it cancels. poll() from one thread; phases are described on any.
class PhasedJob {
public:
  using MakePhase = NextPhase;

  /// `each`: the options of every phase but their morsels.
  PhasedJob(WorkerPool &pool, JobOptions each) : pool_(&pool), each_(std::move(each)) {}
  PhasedJob(const PhasedJob &) = delete;
  PhasedJob &operator=(const PhasedJob &) = delete;
  /// Before the first poll().
  void add(MakePhase phase) { phases_.push_back(std::move(phase)); }
  /// Adds what is spent on the phases to `nanoseconds`, which outlives this.
  void countBusy(std::atomic<int64_t> &nanoseconds, const Clock &clock) {
    busy_ = &nanoseconds;
    clock_ = &clock;
  }
  /// The first call begins; the doorbell rings when all has ended. The first error is sticky.
  PollState poll();
  Status status() const { return status_; }

private:
  Status begin();
  Expected<JobPhase> next();

  WorkerPool *pool_;
  JobOptions each_;
  std::atomic<int64_t> *busy_ = nullptr;
  const Clock *clock_ = nullptr;
  std::deque<MakePhase> phases_;
  bool begun_ = false;
  Status status_;
  Job job_; ///< last: dropped, and so ended, first
};

/// A phase of `count` parts: a morsel each, or one for all if together they are so little that
/// another worker would be waited for longer than it helps.
JobPhase phaseOf(int64_t count, bool isLittle, std::function<Status(int64_t)> part);

} // namespace headrace::exec
