// WorkerPool: the threads of a process that run kernels, morsel by morsel, for all its ranks.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/base/doorbell.h"
#include "runtime/base/poll.h"
#include "runtime/base/status.h"

namespace headrace {

/// Runs morsel `morsel` (from 0) on worker `worker` (0 to workers()-1; one worker runs one morsel
/// at a time, so per-worker state needs no lock). An error stops the job.
using MorselBody = std::function<Status(int worker, int64_t morsel)>;

/// A part of a job, described when it begins: sizes may depend on what earlier parts did.
struct JobPhase {
  int64_t morsels = 0; ///< 0: there is nothing left to do
  MorselBody body;
};
/// Makes the phase that follows, on the worker that ended the one before: no other thread has to
/// wake up for it. An error fails the job.
using NextPhase = std::function<Expected<JobPhase>()>;

struct JobOptions {
  /// Shown in traces and when a check fails.
  std::string name = {};
  int64_t morsels = 1;
  /// At most so many workers at once.
  int workersMax = std::numeric_limits<int>::max();
  /// Whose job it is: workers are shared fairly between owners, and an owner's jobs go by their
  /// precedence, the lowest first; equal ones share fairly.
  const void *owner = nullptr;
  int32_t precedence = 0;
  /// Rung when the job ends. May be null; else it outlives the job.
  Doorbell *doorbell = nullptr;
};

class WorkerPool;

/// Purpose: a submitted job: poll it, ask why it failed, cancel it.
/// Ownership: move-only. Dropping it cancels the job and waits for the morsels under way, so that
/// what the body refers to may be freed. Thread-safety: poll(), status() and cancel() from any
/// thread. Ordering: morsels start in ascending order; all effects of the body are visible after
/// poll() answers other than kPending. Lifetime: within the pool's.
class Job {
public:
  Job() = default;
  Job(Job &&) noexcept = default;
  Job &operator=(Job &&other) noexcept;
  ~Job() { drop(); }

  bool valid() const { return state_ != nullptr; }
  PollState poll() const;
  /// Of the smallest morsel that failed; kCancelled after cancel(); ok while pending.
  Status status() const;
  /// No further morsel starts; those under way end, and stopRequested() tells them to. Idempotent.
  void cancel();
  int64_t morselsDone() const;

private:
  friend class WorkerPool;
  struct State;
  void drop();
  std::shared_ptr<State> state_;
};

/// Purpose: T threads that take morsels of jobs, as JobOptions say. With nothing to do they stay
/// awake for a moment, then sleep. Ownership: owns the threads; its destructor ends them after the
/// morsels under way; jobs not done by then are cancelled. Thread-safety: full; bodies may submit
/// jobs, but must not wait for them. With `threads` 0 there are no threads: runOne() runs the next
/// morsel, on the caller, in a fixed order, as simulations need it.
class WorkerPool {
public:
  struct Options {
    int threads = 1;
    /// Thread names, for debuggers and traces.
    std::string name = "worker";
  };
  explicit WorkerPool(Options options);
  ~WorkerPool();
  WorkerPool(const WorkerPool &) = delete;
  WorkerPool &operator=(const WorkerPool &) = delete;

  /// How many worker indices bodies may see: at least 1.
  int workers() const;

  /// Has ended when `next`, if there is one, has no further phase.
  [[nodiscard]] Job submit(JobOptions options, MorselBody body, NextPhase next = nullptr);

  /// Whether a job of lower precedence has a morsel that no worker has: a body that goes on for
  /// long should then return, and be submitted again. Cheap, and may be a moment late.
  bool wanted(int32_t precedence) const {
    return foremost_.load(std::memory_order_relaxed) < precedence;
  }

  /// Without threads: runs one morsel, or answers false if none is ready.
  bool runOne();

private:
  friend class Job;
  std::shared_ptr<Job::State> pickLocked();
  /// Sets `foremost_` anew.
  void lookLocked();
  void runMorsels(Job::State &job, int worker, int64_t most);
  /// A worker has done what it took: the job goes on, begins its next phase, or ends.
  void leave(std::unique_lock<std::mutex> &lock, Job::State &job);
  void beginNextPhase(std::unique_lock<std::mutex> &lock, Job::State &job);
  void endLocked(Job::State &job);
  void work(int worker);
  /// Returns at news, or when a worker has been awake for long enough.
  void stayAwake(uint64_t seen) const;

  Options options_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::condition_variable left_;
  std::deque<std::shared_ptr<Job::State>> jobs_;
  /// How often there was something new to do; written under the mutex.
  std::atomic<uint64_t> news_{0};
  uint64_t turns_ = 0; ///< morsels or rows of them that workers have taken
  /// The lowest precedence among jobs that a worker could take now.
  std::atomic<int32_t> foremost_{std::numeric_limits<int32_t>::max()};
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

} // namespace headrace
