// What a run measured, task by task and rank by rank; as JSON and back.
#pragma once

#include "runtime/base/status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::plan {

/// The counters at the end, with the task's times relative to the run's start.
struct TaskProfile {
  int rank = 0;
  int32_t task = 0;
  std::string name;
  std::string kind;
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
  int64_t orderWords = 0;         ///< of keys, beyond one a row, that sorting the states' rows took
  std::vector<int64_t> stageRows; ///< without the last ones that let nothing through, or are none
  /// Of an exchange: the bytes that came from other ranks; of one of a pair, the keys whose rows
  /// were spread, copied to all ranks or left out, and how many rows of this rank that were.
  int64_t receivedBytes = 0;
  int64_t heavyKeys = 0;
  int64_t heavyRows = 0;
  /// Of a run over a table whose morsels ranks share: those of other ranks that it took, those of
  /// its own that others took, and the messages that it sent about that.
  int64_t morselsTaken = 0;
  int64_t morselsGiven = 0;
  int64_t sharingMessages = 0;
  /// Of a choose: the rows it went by, its bound, and the way it took ("few", "many").
  int64_t chosenBy = 0;
  uint64_t atMost = 0;
  std::string way;
};

struct Profile {
  double wallSeconds = 0;
  uint32_t ranks = 1;
  uint32_t threads = 1;              ///< workers of all ranks together
  std::vector<int64_t> peakBytes;    ///< host memory reserved at once, of the ranks in order
  std::vector<int64_t> spilledBytes; ///< that waited on disk, likewise
  /// Of the keys that are divided among the ranks, what each had against the mean rank; empty: all
  /// had equal parts.
  std::vector<double> keyShares;
  std::vector<TaskProfile> tasks;

  /// Adds what another process measured of the same run: of other ranks, with other threads.
  void add(const Profile &other);

  /// {"wall_seconds", "ranks", "threads", "peak_bytes": […], "spilled_bytes": […],
  /// "key_shares": […] (if unequal), "tasks": [{"rank", "task", "name", "kind", "start_seconds",
  /// "end_seconds", "busy_seconds", "load_seconds", "rows_in", "rows_out", "bytes", "morsels",
  /// "finish_seconds", "finish_busy_seconds", "state_rows", "stage_rows"}]}; exchanges also have
  /// "received_bytes", "heavy_keys", "heavy_rows", runs over a shared table "morsels_taken",
  /// "morsels_given", "sharing_messages", chooses "chosen_by", "at_most", "way", and what sorts
  /// rows "order_words"
  std::string toJson() const;
  /// Errors: kCorrupt for anything but toJson()'s text.
  static Expected<Profile> fromJson(const std::string &text);
};

} // namespace headrace::plan
