// What tests of states share: a rank's memory, and workers that finish a state.
#pragma once

#include "runtime/exec/state/rank_state.h"

#include <memory>

namespace headrace::exec {

inline constexpr int64_t kTestBytes = 64 << 20;

inline std::shared_ptr<RankMemory> makeMemory(int64_t bytes = kTestBytes) {
  return std::make_shared<RankMemory>(
      std::make_shared<BlockPool>(BlockPool::Options{bytes, bytes, "--memory"}),
      Budget::Options{Tier::kHost, bytes, "--memory"});
}

inline std::shared_ptr<MemoryAccount> makeAccount(int64_t bytes = kTestBytes) {
  ReservationRequest request;
  request.operatorName = "test";
  return *MemoryAccount::open(makeMemory(bytes), request);
}

/// Waits until so many workers have finished the state.
inline Status finishWith(int threads, RankState &state) {
  WorkerPool pool({.threads = threads});
  Doorbell doorbell;
  FinishContext context;
  context.pool = &pool;
  context.job.doorbell = &doorbell;
  auto job = state.finish(context);
  while (job->poll() == PollState::kPending) {
    doorbell.wait();
  }
  return job->status();
}

} // namespace headrace::exec
