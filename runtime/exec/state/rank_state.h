// A state of the plan on one rank: the copies that lanes fill, finishing, and what readers see
// afterwards.
#pragma once

#include "runtime/exec/group/group_merge.h"
#include "runtime/exec/join/join_directory.h"
#include "runtime/exec/kernel/kernel_call.h"
#include "runtime/exec/rows/state_copy.h"
#include "runtime/exec/state/kept_rows.h"
#include "runtime/exec/state/sorted_rows.h"
#include "runtime/exec/window/window_rows.h"
#include "runtime/exec/work/phased_job.h"

#include <atomic>
#include <memory>
#include <span>
#include <vector>

namespace headrace::exec {

class DeviceState;

/// What finishing needs from the run.
struct FinishContext {
  const KernelCall *merge = nullptr; ///< of State.mergeKernel, or null
  WorkerPool *pool = nullptr;
  JobOptions job; ///< of the task that finishes it
  uint32_t rank = 0;
  uint32_t size = 1;
};

/// Purpose: filled -> finished -> read -> dropped.
/// Ownership: owns copies, directory and sorted pointers; dropped when its last reader ends.
/// Thread-safety: copy() from any lane for its own slot, also while slots are added; the rest from
/// the rank's thread, but the const members from any thread once finished.
class RankState {
public:
  /// Where the copies of one filling task are, one a lane. They stay where they are.
  using CopySlots = std::span<std::unique_ptr<StateCopy>>;

  static Expected<std::unique_ptr<RankState>> create(const plan::Plan &plan, int32_t state,
                                                     std::shared_ptr<RankMemory> memory);

  ~RankState();

  /// Takes bytes of the budget before any row is there; what rows need beyond them is asked for as
  /// they come. The typed memory error if there is no room.
  Status reserve(int64_t bytes) { return account_->reserve(bytes); }

  /// Room for `count` more copies: for one filling task, which may start while others fill theirs.
  CopySlots addCopies(size_t count);
  /// The copy in one of this state's slots, made at first use.
  Expected<StateCopy *> copy(std::unique_ptr<StateCopy> &slot) const;

  /// Merges copies, builds the directory, or sorts: by kind. To be polled until done.
  std::unique_ptr<PhasedJob> finish(const FinishContext &context);
  bool finished() const { return finished_; }

  /// What HrArgs.states holds for readers.
  void *shared();
  /// Of the finished state.
  uint64_t rowCount() const { return rowCount_; }
  /// Words of keys, beyond one a row, that sorting them took.
  uint64_t orderWords() const { return sorted_ ? sorted_->furtherWords() : 0; }
  /// Pointers to rows [first, first + count) of the finished state. Sorted states in order. Not of
  /// rows that are kept.
  void rows(uint64_t first, uint64_t count, std::vector<const uint8_t *> &out) const;
  /// Of a sorted state or a window some of whose rows are on disk: rows() has none of them. Else
  /// null.
  const SortedRows *rowsOnDisk() const {
    return sorted_ && !sorted_->isInMemory() ? sorted_.get() : nullptr;
  }
  /// Of a row buffer: its rows, in memory or on disk. Else null.
  KeptRows *keptRows() const { return kept_.get(); }
  int64_t peakBytes() const { return account_->peakBytes(); }

  /// It is finished, and lives on the rank's GPU; for others it has no rows to read.
  void keepOnGpu(std::unique_ptr<DeviceState> state);
  /// Null: it is the host's.
  const DeviceState *onGpu() const { return onGpu_.get(); }
  /// To charge what is copied here from a GPU.
  const std::shared_ptr<MemoryAccount> &account() const { return account_; }

private:
  RankState(const plan::State &state, size_t readers, std::shared_ptr<MemoryAccount> account);
  void addScalarPhase(PhasedJob &job, const FinishContext &context);
  /// Rows into those of a copy. Errors: the merge kernel's.
  Status combine(StateCopy &target, std::span<const RowAddresses> rows,
                 const FinishContext &context) const;
  std::vector<StateCopy *> filledCopies() const;
  void publish();

  const plan::State &state_;
  std::shared_ptr<MemoryAccount> account_;
  std::unique_ptr<KeptRows> kept_; ///< row buffers: what copies hand their rows to
  std::vector<std::vector<std::unique_ptr<StateCopy>>> copies_; ///< per filling task
  std::atomic<size_t> slots_{0}; ///< of all of them: lanes that may fill it
  bool finished_ = false;
  uint64_t rowCount_ = 0;

  // Scalar: the copy that is the result.
  std::vector<StateCopy *> merged_;
  std::unique_ptr<GroupMerge> groups_;
  // Rows of the finished state, and the index of each span's first row.
  std::vector<RowSpan> spans_;
  std::vector<uint64_t> firstRows_;
  std::unique_ptr<JoinDirectory> join_;
  // What computes a window's rows, until they are finished.
  std::unique_ptr<WindowRows> window_;
  std::vector<BumpArena> lists_; ///< that it made, to which rows point
  std::unique_ptr<DeviceState> onGpu_;
  // Sort buffers, and windows that memory has no room for.
  std::unique_ptr<SortedRows> sorted_;
};

} // namespace headrace::exec
