// A task of the plan on one rank, as the rank's state machine drives it; and what tasks share.
#pragma once

#include "model/plan/mesh.h"
#include "runtime/base/clock.h"
#include "runtime/communication/communicator.h"
#include "runtime/communication/poison.h"
#include "runtime/exec/chunk/chunk_stream.h"
#include "runtime/exec/chunk/result_rows.h"
#include "runtime/exec/kernel/kernel_call.h"
#include "runtime/exec/share/morsel_sharing.h"
#include "runtime/exec/source/parted_stream.h"
#include "runtime/exec/state/rank_state.h"
#include "runtime/exec/task/profile.h"
#include "runtime/exec/task/tensor_buffer.h"
#include "runtime/storage/columns/source.h"
#include "runtime/telemetry/telemetry.h"
#include "runtime/transport/transport.h"

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace headrace::exec {

struct GpuContext;
class SkewPair;

/// Opens the rows of a table slot for one rank. Called on every rank, from the rank's thread.
using OpenSource = std::function<Expected<std::unique_ptr<storage::MorselSource>>(
    const plan::Slot &slot, storage::Share share)>;

/// Sizes of what exchanges and collectives use; see the settings of the same names.
struct ExchangeSettings {
  int64_t bufferBytes = 1 << 20;
  int64_t window = 4;
  /// Buffers of a receiving pool for each peer: fewer than the window where memory is short.
  int64_t buffersAPeer = 4;
  Checksums checksums = Checksums::kOn;
};

/// How many buffers the pools of an exchange task have at a place in its group.
struct ExchangePools {
  int64_t sendBuffers = 1;
  int64_t receiveBuffers = 1;

  static ExchangePools of(const plan::ExchangeTask &task, plan::GroupPlace place,
                          const ExchangeSettings &settings);
};

/// Whether an exchange agrees on heavy keys with its pair: each rank hears of the keys of each
/// other one, which is too much to hear among very many. Whoever has all rows of a key has them
/// then.
inline bool isPaired(const plan::ExchangeTask &task, plan::GroupPlace place) {
  constexpr uint32_t kRanksMax = 256;
  return task.pair != plan::kNone && place.count <= kRanksMax;
}

struct CollectiveSettings {
  int64_t bufferBytes = 1 << 20;
  int64_t window = 4;
  int64_t treeBytesMax = 64 << 10;
};

/// Purpose: everything of one rank that its tasks share. Owned by the Rank; outlives its tasks.
struct RankContext {
  const plan::Plan *plan = nullptr;
  const std::vector<std::unique_ptr<KernelCall>> *kernels = nullptr;
  uint32_t rank = 0;
  uint32_t size = 1;
  plan::MeshPosition place; ///< of the rank in the mesh
  size_t lanes = 1;         ///< workers that one task of this rank may use at once
  WorkerPool *pool = nullptr;
  const void *owner = nullptr;          ///< whose jobs those of all ranks of this run are
  std::span<const int32_t> precedences; ///< by task, as plan::precedences
  Doorbell *doorbell = nullptr;
  const Clock *clock = nullptr;
  std::shared_ptr<RankMemory> memory;
  std::shared_ptr<GpuContext> gpu; ///< null: the CPU runs all tasks
  PoisonBoard *board = nullptr;
  Transport *transport = nullptr;
  std::shared_ptr<MorselSharing> sharing; ///< null: no load of the plan is shared
  ExchangeSettings exchange;
  CollectiveSettings collective;
  HeartbeatOptions heartbeat;
  Sharing shareMorsels = Sharing::kOn;
  int64_t leastMemoryBytes = 0; ///< of any rank; 0: all have as much as this one
  int64_t seed = 0;             ///< of the run
  int64_t filledBytes = 0;      ///< what chunks may take that a run task fills, and its stream
  const std::map<std::string, OpenSource> *sources = nullptr;
  const std::map<std::string, TensorView> *tensors = nullptr;
  std::shared_ptr<const KeyShares> keyShares;                            ///< of all ranks
  const std::map<std::string, std::vector<TensorPart>> *parts = nullptr; ///< as Bindings::parts
  size_t rankHere = 0; ///< which of the ranks of this process it is
  /// By pair of exchanges: what both know of heavy keys.
  std::map<int32_t, std::shared_ptr<SkewPair>> skewPairs;
  std::map<std::vector<int32_t>, Communicator *> communicators; ///< by axes, where messages go
  std::vector<Track *> workerTracks; ///< of a trace: one a worker, or empty
  std::vector<Track *> taskTracks;   ///< likewise, one a task; written by the rank's thread

  std::vector<std::shared_ptr<ChunkStream>> streams;
  std::vector<std::shared_ptr<PartedStream>> partedStreams; ///< per stream: instead, or null
  std::vector<std::shared_ptr<RankState>> states;
  std::vector<size_t> fillersLeft; ///< per state: tasks that still fill it
  std::vector<char> roundStates;   ///< per state: made anew in each round of a repeat
  std::vector<char> comesAgain;    ///< per task: a later round of its repeat runs it again
  /// What a repeated task fills of states that outlive the round: by task, then by argument.
  std::map<int32_t, std::vector<RankState::CopySlots>> keptCopies;
  std::vector<std::unique_ptr<TensorBuffer>>
      buffers;                           ///< null: not written yet, or not used any more
  std::vector<RowCount> rowCounts;       ///< per buffer: of those that size others
  std::vector<int32_t> loadOfStream;     ///< per stream: the load task that produces it, or kNone
  std::vector<StreamOrder> streamOrders; ///< per stream: whether chunks carry an order
  std::vector<char> drainedStreams; ///< per stream: its consumer has taken all morsels of the load
  std::vector<std::unique_ptr<TaskCounters>> counters; ///< per task

  // Results, on rank 0.
  std::shared_ptr<ResultRows> result; ///< of rank 0

  /// Whether the rank's GPU runs a task.
  bool onGpu(int32_t task) const { return gpu && plan->tasks[task].device == plan::Device::kGpu; }
  bool stopped() const { return board && board->poisoned(); }
  /// Of the ranks that differ along these axes alone; null if that is this rank only.
  Communicator *communicatorOver(const std::vector<int32_t> &axes) const {
    auto found = communicators.find(axes);
    return found == communicators.end() ? nullptr : found->second;
  }
  /// Null without a trace.
  Track *workerTrack(int worker) const {
    return static_cast<size_t>(worker) < workerTracks.size() ? workerTracks[worker] : nullptr;
  }
  Track *taskTrack(int32_t task) const { return taskTracks.empty() ? nullptr : taskTracks[task]; }
  /// Options of a job of one morsel that a task submits.
  JobOptions jobOf(int32_t task) const;
  /// The account of a task, named in memory errors.
  Expected<std::shared_ptr<MemoryAccount>> openAccount(int32_t task) const;
  /// The buffer, made now if its extent was not known before.
  Expected<TensorBuffer *> writable(int32_t buffer);
  /// "aggregate" or the task's name.
  std::string operationOf(int32_t task) const;
  std::string placeOf(int32_t task) const;
  /// Of keys that are divided over these axes, those of this rank.
  primitives::KeyInterval placesAlong(std::span<const int32_t> axes) const;
};

/// Purpose: one task under way. start() once, then poll() until it does not answer kPending.
/// Thread-safety: start(), poll() from the rank's thread. Destroying it stops its jobs and waits
/// for them.
class TaskRunner {
public:
  TaskRunner(RankContext &context, int32_t task)
      : context_(context), index_(task), described_(context.plan->tasks[task]),
        counters_(*context.counters[task]) {}
  virtual ~TaskRunner() = default;
  virtual Status start() = 0;
  virtual PollState poll() = 0;
  /// After a poll() that answered kPending: what it cannot go on without, or null if it works.
  virtual const char *waitsFor() const { return nullptr; }
  /// Whether it waits for a GPU, which rings no doorbell.
  virtual bool mustBeAsked() const { return false; }
  const Status &status() const { return status_; }
  /// The row at which it failed, or -1.
  int64_t failedRow() const { return failedRow_; }

protected:
  PollState fail(Status status) {
    status_ = std::move(status);
    return PollState::kFailed;
  }

  RankContext &context_;
  const int32_t index_;
  const plan::Task &described_;
  TaskCounters &counters_;
  Status status_;
  int64_t failedRow_ = -1;
};

/// A runner of tasks of one kind, with the fields of that kind.
template <typename Work> class TaskRunnerOf : public TaskRunner {
public:
  TaskRunnerOf(RankContext &context, int32_t task)
      : TaskRunner(context, task), task_(*described_.as<Work>()) {}

protected:
  const Work &task_;
};

std::unique_ptr<TaskRunner> makeRunTask(RankContext &context, int32_t task);
std::unique_ptr<TaskRunner> makeDeviceRunTask(RankContext &context, int32_t task);
std::unique_ptr<TaskRunner> makeExchangeTask(RankContext &context, int32_t task);
std::unique_ptr<TaskRunner> makeResultTask(RankContext &context, int32_t task);
std::unique_ptr<TaskRunner> makeCollectiveTask(RankContext &context, int32_t task);
std::unique_ptr<TaskRunner> makeComputeTask(RankContext &context, int32_t task);
std::unique_ptr<TaskRunner> makeToTensorTask(RankContext &context, int32_t task);
std::unique_ptr<TaskRunner> makeInputTask(RankContext &context, int32_t task);

} // namespace headrace::exec
