// Advances from phase to phase.
#include "runtime/exec/work/phased_job.h"

namespace headrace::exec {

PollState PhasedJob::poll() {
  while (status_.ok()) {
    if (job_.valid()) {
      PollState state = job_.poll();
      if (state == PollState::kPending) {
        return state;
      }
      status_ = job_.status();
      job_ = Job();
    } else if (phases_.empty()) {
      return PollState::kDone;
    } else {
      Expected<JobPhase> phase = phases_.front()();
      phases_.pop_front();
      if (!phase.ok()) {
        status_ = phase.status();
      } else if (phase->morsels > 0) {
        MorselBody body = std::move(phase->body);
        if (busy_) {
          body = [body = std::move(body), busy = busy_, clock = clock_](int worker,
                                                                        int64_t morsel) {
            int64_t begin = clock->nowNanoseconds();
            Status status = body(worker, morsel);
            *busy += clock->nowNanoseconds() - begin;
            return status;
          };
        }
        each_.morsels = phase->morsels;
        job_ = pool_->submit(each_, std::move(body));
      }
    }
  }
  return PollState::kFailed;
}

} // namespace headrace::exec
