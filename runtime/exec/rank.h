// One rank's run of a plan as a pollable state machine.
//
//   kRunning --all tasks done, or poison--> kSettling --all ranks have stopped--> kDone | kFailed
//
// The rank's thread calls poll(); kernels run on the pool. A failure anywhere poisons the board,
// which every rank looks at; tasks are then dropped, which stops their jobs.
#pragma once

#include "runtime/exec/run_options.h"
#include "runtime/exec/session.h"
#include "runtime/exec/task/task.h"

#include <memory>
#include <optional>
#include <vector>

namespace headrace::exec {

class Rank {
public:
  enum class Phase : uint8_t { kRunning, kSettling, kDone, kFailed };

  /// `context` has everything set that stands above its `streams`, but `transport`; the rest is
  /// made here. `transport` outlives close().
  static Expected<std::unique_ptr<Rank>> create(RankContext context, Transport &transport);
  ~Rank();
  Rank(const Rank &) = delete;
  Rank &operator=(const Rank &) = delete;

  PollState poll();
  /// Gives up tasks, streams and channels, once poll() has answered kDone or kFailed on all ranks,
  /// or none is polled any more. Buffers of one rank's pools may be held by another: close all
  /// before destroying any.
  void close();
  /// Stops all ranks with kCancelled.
  void cancel(const std::string &reason);
  /// Fails the run if a peer is not there any more, which a rank that waits for nobody would not
  /// notice before the end.
  void checkLinks();
  /// Of a failed run: the failure where it first happened, not where it was heard of.
  Status status(Origin origin) const;

  /// Whether a task waits for a GPU: poll() again soon.
  bool mustBeAsked() const;

  /// How many ranks there are.
  uint32_t size() const { return context_.size; }
  /// Whether it is rank 0, which has the results.
  bool isFirst() const { return context_.rank == 0; }
  /// Null if it has none: programs without a table, and ranks beside the first, unless the rows of
  /// the result stay where they are.
  std::shared_ptr<const ResultRows> takeResult() { return std::move(context_.result); }
  std::unique_ptr<TensorBuffer> takeBuffer(int32_t buffer) {
    return std::move(context_.buffers[buffer]);
  }
  void addProgress(Progress &progress) const;
  void addProfile(Profile &profile, int64_t startNanoseconds) const;
  int64_t peakBytes() const { return context_.memory->budget.peakReservedBytes(); }
  int64_t spilledBytes() const { return context_.memory->spill->writtenBytes(); }

private:
  enum class TaskPhase : uint8_t { kWaiting, kRunning, kDone, kSkipped };
  struct TaskState {
    TaskPhase phase = TaskPhase::kWaiting;
    bool enabled = true; ///< false: in a body whose turn has not come
    std::unique_ptr<TaskRunner> runner;
    std::vector<int32_t> body; ///< kChoose: the chosen tasks
    int64_t holeValue = 0;     ///< kChoose: stays put while it is agreed on
    Collective agreement;
    bool decided = false;
    std::vector<PartRange> rounds; ///< kRepeat
    size_t round = 0;              ///< kRepeat: the one under way
    int64_t startNanoseconds = 0;
    int64_t endNanoseconds = 0;
    const char *wait = nullptr; ///< of a trace: what it waits for, and since when
    int64_t waitStartNanoseconds = 0;
  };

  explicit Rank(RankContext context) : context_(std::move(context)) {}
  Status openBoard(Transport &transport);
  Status prepare();
  Status prepareStates();
  void fitPools();
  void fitChunks();
  /// Of the groups that the plan's collectives and agreements go over.
  Status openCommunicators();
  Communicator *communicatorOfAll() const;
  Status openSharing();
  void pollSharing();
  bool endSharing();
  Status prepareStreams();
  const plan::Task &described(size_t task) const { return context_.plan->tasks[task]; }

  bool ended(size_t task) const {
    return tasks_[task].phase == TaskPhase::kDone || tasks_[task].phase == TaskPhase::kSkipped;
  }
  bool ready(size_t task) const;
  Status startTask(size_t task);
  Expected<PollState> pollTask(size_t task);
  void endTask(size_t task, TaskPhase phase);
  const char *waitsFor(size_t task) const;
  void trace(size_t task, const char *wait);
  void leaveStates(size_t task);
  Status reserve(const plan::ReserveTask &reserve);
  Expected<PollState> pollChoose(size_t task);
  /// Parts that are read together, by what is there when the repeat begins.
  std::vector<PartRange> planRounds(const plan::RepeatTask &repeat) const;
  Status startRound(size_t task);
  Expected<PollState> pollRepeat(size_t task);
  int64_t holeValue(const plan::Hole &hole) const;
  void addSharing(TaskProfile &entry, int32_t load) const;
  void skip(int32_t task);
  void advanceTasks();
  void dropTasks();

  RankContext context_;
  std::unique_ptr<PoisonBoard> board_;
  std::vector<std::unique_ptr<Communicator>> communicators_;
  std::optional<Poison> failure_; ///< kept when the board is gone
  Phase phase_ = Phase::kRunning;
  std::vector<TaskState> tasks_;
  std::vector<size_t> usersLeft_; ///< per state
  std::vector<int32_t> bufferUsersLeft_;
  size_t tasksLeft_ = 0;
};

} // namespace headrace::exec
