// Where a run task's rows come from, whatever runs it.
#pragma once

#include "runtime/exec/source/morsel_queue.h"
#include "runtime/exec/task/task.h"

#include <atomic>
#include <memory>

namespace headrace::exec {

struct RunSource {
  std::unique_ptr<MorselQueue> queue;
  bool scans = false; ///< its morsels are read from files
};

/// The morsels of a run task from the first one on. `account`: of the task.
Expected<RunSource> openRunSource(const RankContext &context, int32_t task,
                                  const std::shared_ptr<MemoryAccount> &account);

/// The morsels of a load task: those of this rank's share, or all.
Expected<std::unique_ptr<storage::MorselSource>>
openLoad(const RankContext &context, const plan::LoadTask &load, storage::Reach reach);

/// Counts a lane that works on morsels of files.
class ScanningLane {
public:
  ScanningLane(RankMemory &memory, bool scans) : lanes_(scans ? &memory.scans.lanes : nullptr) {
    if (lanes_) {
      ++*lanes_;
    }
  }
  ~ScanningLane() {
    if (lanes_) {
      --*lanes_;
    }
  }
  ScanningLane(const ScanningLane &) = delete;
  ScanningLane &operator=(const ScanningLane &) = delete;

private:
  std::atomic<int> *lanes_;
};

} // namespace headrace::exec
