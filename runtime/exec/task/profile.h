// What a run counts while it goes on: seconds, rows and bytes of each task on each rank.
#pragma once

#include "model/plan/profile.h"
#include "runtime/abi/kernel.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

namespace headrace::exec {

/// Counters of one task on one rank; lanes add to them.
struct TaskCounters {
  std::atomic<int64_t> busyNanoseconds{0}; ///< inside kernels, loads and codecs, over all workers
  std::atomic<int64_t> loadNanoseconds{0}; ///< of busy: reading and decompressing
  std::atomic<int64_t> rowsIn{0};
  std::atomic<int64_t> rowsOut{0};
  std::atomic<int64_t> bytes{0}; ///< loaded, sent or received
  std::atomic<int64_t> morsels{0};
  std::atomic<int64_t> finishNanoseconds{0}; ///< merging, building or sorting states, as it passed
  std::atomic<int64_t> finishBusyNanoseconds{0}; ///< the same over all workers
  std::atomic<int64_t> stateRows{0};             ///< of the states that it finished
  std::atomic<int64_t> orderWords{0};            ///< see plan::TaskProfile
  std::atomic<int64_t> receivedBytes{0};         ///< of an exchange, from other ranks
  std::atomic<int64_t> heavyKeys{0}; ///< of an exchange of a pair: see plan::TaskProfile
  std::atomic<int64_t> heavyRows{0};
  /// Rows that each selecting stage of the kernel let through.
  std::array<std::atomic<int64_t>, HR_COUNTED_STAGES> stageRows{};

  /// What was counted, into the profile of the task.
  void report(plan::TaskProfile &profile) const {
    constexpr double kNanosecond = 1e-9;
    profile.busySeconds = kNanosecond * static_cast<double>(busyNanoseconds);
    profile.loadSeconds = kNanosecond * static_cast<double>(loadNanoseconds);
    profile.rowsIn = rowsIn;
    profile.rowsOut = rowsOut;
    profile.bytes = bytes;
    profile.morsels = morsels;
    profile.finishSeconds = kNanosecond * static_cast<double>(finishNanoseconds);
    profile.finishBusySeconds = kNanosecond * static_cast<double>(finishBusyNanoseconds);
    profile.stateRows = stateRows;
    profile.orderWords = orderWords;
    profile.receivedBytes = receivedBytes;
    profile.heavyKeys = heavyKeys;
    profile.heavyRows = heavyRows;
    profile.stageRows.assign(stageRows.begin(), stageRows.end());
    while (!profile.stageRows.empty() && profile.stageRows.back() == 0) {
      profile.stageRows.pop_back();
    }
  }
};

/// How far a run is, of the ranks in this process.
struct Progress {
  size_t tasksEnded = 0;
  size_t tasks = 0;
  int64_t rows = 0;    ///< taken in by all tasks so far
  std::string running; ///< a task that is at work, or empty
};

using plan::Profile;
using plan::TaskProfile;

} // namespace headrace::exec
