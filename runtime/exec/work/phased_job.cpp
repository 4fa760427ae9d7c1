// Hands the pool phase after phase.
#include "runtime/exec/work/phased_job.h"

namespace headrace::exec {
namespace {

/// Adds what a scope takes.
class BusyTime {
public:
  BusyTime(std::atomic<int64_t> *nanoseconds, const Clock *clock)
      : nanoseconds_(nanoseconds), clock_(clock), begin_(clock ? clock->nowNanoseconds() : 0) {}
  ~BusyTime() {
    if (nanoseconds_) {
      *nanoseconds_ += clock_->nowNanoseconds() - begin_;
    }
  }
  BusyTime(const BusyTime &) = delete;
  BusyTime &operator=(const BusyTime &) = delete;

private:
  std::atomic<int64_t> *nanoseconds_;
  const Clock *clock_;
  int64_t begin_;
};

} // namespace

JobPhase phaseOf(int64_t count, bool isLittle, std::function<Status(int64_t)> part) {
  if (!isLittle || count < 2) {
    return {count, [part = std::move(part)](int, int64_t morsel) { return part(morsel); }};
  }
  return {1, [count, part = std::move(part)](int, int64_t) {
            for (int64_t each = 0; each < count; ++each) {
              HR_RETURN_IF_ERROR(part(each));
            }
            return Status();
          }};
}

/// The next phase that has morsels.
Expected<JobPhase> PhasedJob::next() {
  const BusyTime making(busy_, clock_);
  while (!phases_.empty()) {
    MakePhase make = std::move(phases_.front());
    phases_.pop_front();
    HR_ASSIGN_OR_RETURN(JobPhase phase, make());
    if (phase.morsels > 0) {
      if (busy_) {
        phase.body = [body = std::move(phase.body), busy = busy_, clock = clock_](int worker,
                                                                                  int64_t morsel) {
          const BusyTime working(busy, clock);
          return body(worker, morsel);
        };
      }
      return phase;
    }
  }
  return JobPhase{};
}

Status PhasedJob::begin() {
  HR_ASSIGN_OR_RETURN(JobPhase first, next());
  if (first.morsels > 0) {
    each_.morsels = first.morsels;
    job_ = pool_->submit(each_, std::move(first.body), [this] { return next(); });
  }
  return {};
}

PollState PhasedJob::poll() {
  if (!begun_) {
    begun_ = true;
    status_ = begin();
  }
  if (job_.valid()) {
    PollState state = job_.poll();
    if (state == PollState::kPending) {
      return state;
    }
    status_ = job_.status();
    job_ = Job();
  }
  return status_.ok() ? PollState::kDone : PollState::kFailed;
}

} // namespace headrace::exec
