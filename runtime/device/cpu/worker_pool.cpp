// Workers, fair sharing between jobs, and the single-threaded mode.
#include "runtime/device/cpu/worker_pool.h"

#include <algorithm>
#include <pthread.h>
#include <system_error>
#include <tuple>
#include <utility>

#include "runtime/base/check.h"
#include "runtime/base/clock.h"
#include "runtime/base/stop.h"

namespace headrace {

namespace {
/// Morsels a worker takes of one job before it looks at the others: small enough to be fair, and
/// the lock is taken rarely.
constexpr int64_t kMorselsInARow = 4;
/// How long a worker looks for something to do before it sleeps. When a task ends, the rank's
/// thread submits the next within a few microseconds; to wake a core that sleeps takes up to 200
/// (virtual ones: docs/decisions/2026-11-30-awake-between-tasks.md).
constexpr int64_t kAwakeNanoseconds = 200'000;
constexpr int kLooksBetweenYields = 32;
} // namespace

struct Job::State {
  WorkerPool *pool = nullptr;
  JobOptions options;
  MorselBody body;
  NextPhase nextPhase;
  /// The next morsel to start; never more than morsels, or the job's end after a failure.
  std::atomic<int64_t> next{0};
  std::atomic<int64_t> done{0};
  std::atomic<bool> stopped{false};
  /// Nobody wants what is under way either, unlike where a morsel failed: one before it may too.
  std::atomic<bool> cancelled{false};
  std::atomic<PollState> state{PollState::kPending};

  std::mutex failureMutex;
  Status failure;
  int64_t failedMorsel = std::numeric_limits<int64_t>::max();

  /// Guarded by the pool's mutex.
  uint64_t ownersTurn = 0, turn = 0; ///< when a worker last took a morsel of its owner, and of it
  int active = 0;
  bool listed = false;

  /// Whether a worker may take it now.
  bool takes() const { return hasMorsels() && active < options.workersMax; }
  bool hasPhases() const { return nextPhase && !stopped.load(std::memory_order_acquire); }
  bool hasMorsels() const {
    return !stopped.load(std::memory_order_acquire) &&
           next.load(std::memory_order_relaxed) < options.morsels;
  }
  void fail(int64_t morsel, Status status) {
    std::lock_guard lock(failureMutex);
    if (morsel < failedMorsel) {
      failedMorsel = morsel;
      failure = std::move(status);
    }
    stopped.store(true, std::memory_order_release);
  }
  void cancel() {
    // The last place of all: a morsel that fails is the better explanation.
    fail(std::numeric_limits<int64_t>::max() - 1,
         makeError(ErrorKind::kCancelled, "cancelled: ", options.name));
    // Afterwards, so that who ends by it finds the failure there.
    cancelled.store(true, std::memory_order_release);
  }
};

Job &Job::operator=(Job &&other) noexcept {
  if (this != &other) {
    drop();
    state_ = std::move(other.state_);
  }
  return *this;
}

PollState Job::poll() const {
  HR_CHECK(state_);
  return state_->state.load(std::memory_order_acquire);
}

Status Job::status() const {
  HR_CHECK(state_);
  if (poll() == PollState::kPending) {
    return {};
  }
  std::lock_guard lock(state_->failureMutex);
  return state_->failure;
}

int64_t Job::morselsDone() const {
  HR_CHECK(state_);
  return state_->done.load(std::memory_order_relaxed);
}

void Job::cancel() {
  HR_CHECK(state_);
  state_->cancel();
  std::unique_lock lock(state_->pool->mutex_);
  state_->pool->endLocked(*state_);
}

void Job::drop() {
  if (!state_) {
    return;
  }
  if (poll() == PollState::kPending) {
    cancel();
  }
  // A worker may still be on its way out of the body.
  std::unique_lock lock(state_->pool->mutex_);
  state_->pool->left_.wait(lock, [&] { return state_->active == 0; });
  lock.unlock();
  state_.reset();
}

WorkerPool::WorkerPool(Options options) : options_(std::move(options)) {
  HR_CHECK(options_.threads >= 0);
  for (int worker = 0; worker < options_.threads; ++worker) {
    try {
      threads_.emplace_back([this, worker] { work(worker); });
    } catch (const std::system_error &) {
      HR_CHECK(worker > 0);      // no thread at all
      options_.threads = worker; // as many as the system gives
      return;
    }
    std::string name = (options_.name + " " + std::to_string(worker)).substr(0, 15);
    pthread_setname_np(threads_.back().native_handle(), name.c_str());
  }
}

WorkerPool::~WorkerPool() {
  std::deque<std::shared_ptr<Job::State>> left;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    ++news_;
    left = jobs_;
    for (const auto &job : left) {
      job->cancel();
    }
  }
  ready_.notify_all();
  for (std::thread &thread : threads_) {
    thread.join();
  }
  std::lock_guard lock(mutex_);
  for (const auto &job : left) {
    endLocked(*job);
  }
}

int WorkerPool::workers() const { return std::max(1, options_.threads); }

Job WorkerPool::submit(JobOptions options, MorselBody body, NextPhase next) {
  HR_CHECK(options.morsels >= 0 && options.workersMax >= 1);
  Job job;
  job.state_ = std::make_shared<Job::State>();
  job.state_->pool = this;
  job.state_->options = std::move(options);
  job.state_->body = std::move(body);
  job.state_->nextPhase = std::move(next);
  const JobOptions &kept = job.state_->options;
  const bool isOne = kept.morsels == 1; // once a worker has it, it may have another phase
  if (kept.morsels == 0) {
    job.state_->state.store(PollState::kDone, std::memory_order_release);
    if (kept.doorbell) {
      kept.doorbell->ring();
    }
    return job;
  }
  {
    std::lock_guard lock(mutex_);
    HR_CHECK(!stopping_);
    job.state_->listed = true;
    job.state_->turn = job.state_->ownersTurn = turns_;
    for (const std::shared_ptr<Job::State> &other : jobs_) {
      if (other->options.owner == kept.owner) {
        job.state_->ownersTurn = other->ownersTurn;
      }
    }
    jobs_.push_back(job.state_);
    foremost_.store(std::min(foremost_.load(std::memory_order_relaxed), kept.precedence),
                    std::memory_order_relaxed);
    ++news_;
  }
  if (isOne) {
    ready_.notify_one();
  } else {
    ready_.notify_all();
  }
  return job;
}

void WorkerPool::stayAwake(uint64_t seen) const {
  const int64_t end = RealClock::instance().nowNanoseconds() + kAwakeNanoseconds;
  do {
    for (int look = 0; look < kLooksBetweenYields; ++look) {
      if (news_.load(std::memory_order_relaxed) != seen) {
        return;
      }
    }
    std::this_thread::yield(); // the rank's thread may have no core but this one
  } while (RealClock::instance().nowNanoseconds() < end);
}

std::shared_ptr<Job::State> WorkerPool::pickLocked() {
  auto place = [](const Job::State &job) {
    return std::tuple(job.ownersTurn, job.options.precedence, job.turn);
  };
  std::shared_ptr<Job::State> picked;
  for (const std::shared_ptr<Job::State> &job : jobs_) {
    if (job->takes() && (!picked || place(*job) < place(*picked))) {
      picked = job;
    }
  }
  if (picked) {
    ++picked->active;
    picked->turn = ++turns_;
    for (const std::shared_ptr<Job::State> &job : jobs_) {
      if (job->options.owner == picked->options.owner) {
        job->ownersTurn = turns_;
      }
    }
  }
  lookLocked();
  return picked;
}

void WorkerPool::lookLocked() {
  int32_t foremost = std::numeric_limits<int32_t>::max();
  for (const std::shared_ptr<Job::State> &job : jobs_) {
    if (job->takes()) {
      foremost = std::min(foremost, job->options.precedence);
    }
  }
  foremost_.store(foremost, std::memory_order_relaxed);
}

void WorkerPool::runMorsels(Job::State &job, int worker, int64_t most) {
  const StopScope scope(job.cancelled);
  for (int64_t count = 0; count < most && job.hasMorsels(); ++count) {
    int64_t morsel = job.next.fetch_add(1, std::memory_order_relaxed);
    if (morsel >= job.options.morsels) {
      return;
    }
    // Morsels start in ascending order and every started one ends, so the smallest that fails is
    // the same whatever the number of workers.
    if (Status status = job.body(worker, morsel); !status.ok()) {
      job.fail(morsel, std::move(status));
    }
    job.done.fetch_add(1, std::memory_order_relaxed);
  }
}

void WorkerPool::endLocked(Job::State &job) {
  if (job.active > 0 || job.hasMorsels() || !job.listed) {
    return;
  }
  job.listed = false;
  std::erase_if(jobs_, [&](const auto &listed) { return listed.get() == &job; });
  bool failed = job.stopped.load(std::memory_order_acquire);
  job.state.store(failed ? PollState::kFailed : PollState::kDone, std::memory_order_release);
  // Rung under the lock: drop() waits for it, so the doorbell cannot go away in between.
  if (job.options.doorbell) {
    job.options.doorbell->ring();
  }
}

/// Of a job that nobody else is at; meanwhile this worker counts as at it.
void WorkerPool::beginNextPhase(std::unique_lock<std::mutex> &lock, Job::State &job) {
  lock.unlock();
  const StopScope scope(job.cancelled);
  Expected<JobPhase> phase = job.nextPhase();
  lock.lock();
  if (!phase.ok()) {
    job.fail(0, phase.status());
  } else if (phase->morsels == 0) {
    job.nextPhase = nullptr;
  } else {
    job.body = std::move(phase->body);
    job.options.morsels = phase->morsels;
    job.next.store(0, std::memory_order_relaxed);
  }
}

void WorkerPool::leave(std::unique_lock<std::mutex> &lock, Job::State &job) {
  const bool endsPhase = job.active == 1 && !job.hasMorsels() && job.hasPhases();
  if (endsPhase) {
    beginNextPhase(lock, job);
  }
  --job.active;
  endLocked(job);
  if (job.active == 0) {
    left_.notify_all();
  }
  if (!job.hasMorsels()) {
    return;
  }
  ++news_;
  if (endsPhase && job.options.morsels > 1) {
    ready_.notify_all();
  } else {
    ready_.notify_one(); // of a job limited in workers, this one may have kept another from it
  }
}

void WorkerPool::work(int worker) {
  std::unique_lock lock(mutex_);
  while (true) {
    std::shared_ptr<Job::State> job = pickLocked();
    if (!job) {
      if (stopping_) {
        return;
      }
      const uint64_t seen = news_;
      lock.unlock();
      stayAwake(seen);
      lock.lock();
      ready_.wait(lock, [&] { return news_ != seen; });
      continue;
    }
    lock.unlock();
    runMorsels(*job, worker, kMorselsInARow);
    lock.lock();
    leave(lock, *job);
  }
}

bool WorkerPool::runOne() {
  HR_CHECK(options_.threads == 0);
  std::unique_lock lock(mutex_);
  std::shared_ptr<Job::State> job = pickLocked();
  if (!job) {
    return false;
  }
  lock.unlock();
  runMorsels(*job, 0, 1);
  lock.lock();
  leave(lock, *job);
  return true;
}

} // namespace headrace
