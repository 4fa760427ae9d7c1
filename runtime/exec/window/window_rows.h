// The rows of a window state once all are there: put in order, and their fields computed in place.
#pragma once

#include "runtime/exec/rows/state_copy.h"
#include "runtime/exec/window/entry_sort.h"
#include "runtime/exec/window/large_partition.h"
#include "runtime/exec/window/range_divider.h"
#include "runtime/exec/work/phased_job.h"

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

namespace headrace::exec {

/// Purpose: computes the window fields of the rows of the workers' copies. Entries of the rows are
/// divided into ranges of (hash of the partition keys, prefix of the order); each range is sorted
/// and computed by a worker while it is in its cache; partitions larger than that follow, by all
/// workers.
/// Ownership: refers to rows of the copies, which outlive it; its own memory is charged to the
/// account. Thread-safety: phases from the pool.
class WindowRows {
public:
  WindowRows(const plan::State &state, std::shared_ptr<MemoryAccount> account, int workers);

  /// Adds the work to `job`. `copies` are asked for when it begins.
  void addPhases(PhasedJob &job, std::function<std::vector<StateCopy *>()> copies);
  /// Once they have ended: the lists that rows point to.
  std::vector<BumpArena> takeLists();
  /// Once they have ended: there was no room, and nothing is computed.
  bool lacksMemory() const { return lacksMemory_.load(std::memory_order_relaxed); }

private:
  struct Range {
    uint64_t begin, end;
  };
  /// What a worker keeps from range to range.
  struct Worker {
    Worker(const plan::State &state, const EntryOrder &order,
           const std::shared_ptr<MemoryAccount> &account)
        : sort(order, account), functions(state, account), rows(account), group(account),
          groupBegin(account) {}
    EntrySort sort;
    WindowFunctions functions;
    ScratchArray<uint8_t *> rows; ///< of a range
    ScratchArray<uint32_t> group, groupBegin;
  };

  /// The phases end without an error if memory is refused, and rows could wait on disk.
  void addPhase(PhasedJob &job, std::function<Expected<JobPhase>()> phase);
  Status unlessMemory(const Status &status);
  Expected<JobPhase> divide(const std::vector<StateCopy *> &copies);
  Expected<JobPhase> scatter();
  Expected<JobPhase> sortRanges();
  Expected<JobPhase> listLarge();
  Expected<JobPhase> numberLarge();
  Expected<JobPhase> totalLarge();
  Expected<JobPhase> computeLarge();

  std::vector<unsigned __int128> sampleKeys(uint64_t count) const;
  /// Calls visit(row, its number) for the rows of a morsel.
  template <typename Visit> void visitRows(int64_t morsel, const Visit &visit) const;
  Status computeRange(Worker &worker, size_t number);
  /// Of entries in order, partition by partition.
  Status computePartitions(Worker &worker, std::span<Entry> entries);
  /// Calls run(partition, part) for every part of every large partition, one a morsel.
  template <typename Run> JobPhase overParts(const Run &run);
  Worker &workerOf(int worker);

  const plan::State &state_;
  std::shared_ptr<MemoryAccount> account_;
  EntryOrder order_;
  bool needsPeers_;
  uint64_t count_ = 0;
  std::vector<RowSpan> spans_;
  std::vector<uint64_t> firstRows_; ///< of each span
  std::vector<size_t> morselSpans_; ///< the first span of each morsel, and the end of the last
  RangeDivider divider_;
  ScratchArray<Entry> entries_;
  ScratchArray<uint32_t> rangeIds_; ///< of each row
  ScratchArray<uint64_t> places_;   ///< of each morsel and range: rows, then where they go
  std::vector<Range> ranges_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<LargePartition>> large_;
  std::atomic<bool> lacksMemory_{false};
};

} // namespace headrace::exec
