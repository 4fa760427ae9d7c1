// What a run measured: seconds, rows and bytes of each task on each rank.
#pragma once

#include "runtime/abi/kernel.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

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
  std::atomic<int64_t> stateRows{0};         ///< of the states that it finished
  /// Rows that each selecting stage of the kernel let through.
  std::array<std::atomic<int64_t>, HR_COUNTED_STAGES> stageRows{};
};

/// How far a run is, of the ranks in this process.
struct Progress {
  size_t tasksEnded = 0;
  size_t tasks = 0;
  int64_t rows = 0;    ///< taken in by all tasks so far
  std::string running; ///< a task that is at work, or empty
};

/// The counters at the end, with the task's times relative to the run's start.
struct TaskProfile {
  int rank = 0;
  int32_t task = 0;
  std::string name;
  std::string kind;
  std::string phase;
  double startSeconds = 0;
  double endSeconds = 0;
  double busySeconds = 0;
  double loadSeconds = 0;
  int64_t rowsIn = 0;
  int64_t rowsOut = 0;
  int64_t bytes = 0;
  int64_t morsels = 0;
  double finishSeconds = 0;
  double finishBusySeconds = 0;
  int64_t stateRows = 0;
  std::vector<int64_t> stageRows; ///< without the last stages that let nothing through, or that are none
  /// Of a choose: the rows it went by, its bound, and the way it took ("few", "many").
  int64_t chosenBy = 0;
  uint64_t atMost = 0;
  std::string way;
};

struct Profile {
  double wallSeconds = 0;
  uint32_t ranks = 1;
  uint32_t threads = 1;
  std::vector<int64_t> peakBytes; ///< host memory reserved, per rank
  std::vector<TaskProfile> tasks;

  /// {"wall_seconds", "ranks", "threads", "peak_bytes": […], "tasks": [{"rank", "task", "name",
  /// "kind", "phase", "start_seconds", "end_seconds", "busy_seconds", "load_seconds", "rows_in",
  /// "rows_out", "bytes", "morsels", "finish_seconds", "finish_busy_seconds", "state_rows", "stage_rows"}]}; chooses also have "chosen_by", "at_most", "way"
  std::string toJson() const;
};

} // namespace headrace::exec
