// One job a state.
#include "runtime/exec/task/finishing.h"

namespace headrace::exec {

Finishing::Finishing(RankContext &context, int32_t task)
    : context_(context), counters_(*context.counters[task]),
      start_(context.clock->nowNanoseconds()) {
  for (const plan::StateArgument &argument : context.plan->tasks[task].states()) {
    const plan::State &state = context.plan->states[argument.state];
    if (argument.use != plan::StateUse::kPerWorker ||
        (context.comesAgain[task] && !context.roundStates[argument.state]) ||
        --context.fillersLeft[argument.state] != 0) {
      continue;
    }
    states_.push_back(argument.state);
    if (context.states[argument.state]->onGpu()) {
      continue; // it is finished there
    }
    FinishContext finish;
    auto call = [&](int32_t kernel) {
      return kernel == plan::kNone ? nullptr : (*context.kernels)[kernel].get();
    };
    finish.merge = call(state.mergeKernel);
    finish.pool = context.pool;
    finish.job = context.jobOf(task);
    finish.rank = context.rank;
    finish.size = context.size;
    jobs_.push_back(context.states[argument.state]->finish(finish));
    jobs_.back()->countBusy(counters_.finishBusyNanoseconds, *context.clock);
  }
}

PollState Finishing::poll() {
  for (std::unique_ptr<PhasedJob> &job : jobs_) {
    PollState state = job ? job->poll() : PollState::kDone;
    if (state == PollState::kFailed) {
      status_ = job->status();
      return state;
    }
    if (state == PollState::kPending) {
      return state;
    }
    job.reset();
  }
  for (int32_t state : states_) {
    if (context_.states[state]) {
      counters_.stateRows += static_cast<int64_t>(context_.states[state]->rowCount());
      counters_.orderWords += static_cast<int64_t>(context_.states[state]->orderWords());
    }
  }
  counters_.finishNanoseconds = states_.empty() ? 0 : context_.clock->nowNanoseconds() - start_;
  return PollState::kDone;
}

} // namespace headrace::exec
