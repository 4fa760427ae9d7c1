// A run task: lanes take morsels, call the kernel, seal output chunks, and in the end the states
// are finished.
//
// Each lane is what a worker holds while it works for this task: scratch, outputs, its copy of the
// states. A lane that finds the output stream full keeps its morsel and gives its worker back; the
// rank's thread submits it again when there is room. No worker ever waits inside a task.
#include "runtime/exec/skew/skew_division.h"
#include "runtime/exec/task/finishing.h"
#include "runtime/exec/task/run_source.h"

#include "runtime/base/check.h"

#include <deque>
#include <optional>

namespace headrace::exec {
namespace {

enum class LanePhase : uint8_t {
  kIdle,    ///< no morsel in hand; perhaps rows in unfinished outputs
  kBlocked, ///< a sealed chunk in hand that the output stream has no room for
  kFlushed, ///< the input has ended and all rows are out
};

struct Lane {
  size_t index = 0;
  LanePhase phase = LanePhase::kIdle;
  std::unique_ptr<KernelFrame> frame;
  std::vector<void *> states;
  std::vector<StateCopy *> filled; ///< those of the states that are its own
  std::vector<std::unique_ptr<OutputChunk>> outputs;
  std::vector<OutputChunk *> outputPointers;
  std::vector<HrOutput> abiOutputs;
  uint32_t sealed = 0; ///< chunks, of all outputs
  std::optional<TakenMorsel> morsel;
  bool started = false;   ///< the kernel has been called for this morsel
  bool finishing = false; ///< the morsel is done; its chunks are being pushed
  uint32_t sequence = 0;  ///< of chunks within the morsel, for ordered streams
  std::vector<ChunkHandle> pending;
  ScopedSpan *span = nullptr; ///< of the trace, while a worker drives it
  int64_t failedRow = -1;
  Job job; ///< last: ended before the rest goes
};

class RunTask final : public TaskRunnerOf<plan::RunTask> {
public:
  using TaskRunnerOf::TaskRunnerOf;
  ~RunTask() override {
    for (Lane &lane : lanes_) {
      lane.job = Job();
    }
  }
  Status start() override;
  PollState poll() override;
  const char *waitsFor() const override;

private:
  const plan::ExchangeTask *exchange() const;
  ChunkSize sizeOfChunks(uint32_t sealed) const;
  Status addOutput(Lane &lane, size_t output);
  Expected<std::optional<TakenMorsel>> takeMorsel(Track *track);
  Status prepareLane(Lane &lane);
  Status drive(Lane &lane, int worker);
  void countStages(Lane &lane);
  Status runMorsel(Lane &lane);
  Status sealOutput(Lane &lane, uint32_t output);
  Status sealAll(Lane &lane);
  bool pushPending(Lane &lane);
  bool hasRows(const Lane &lane) const;
  void submit(Lane &lane);
  Status pollLanes(bool &allFlushed);

  enum class Phase : uint8_t { kLanes, kStates, kDone };
  Phase phase_ = Phase::kLanes;
  const KernelCall *kernel_ = nullptr;
  std::shared_ptr<MemoryAccount> account_;
  std::unique_ptr<MorselQueue> queue_;
  bool scans_ = false; ///< its morsels are read from files
  std::shared_ptr<ChunkSink> output_;
  bool isPart_ = false;   ///< its rows stand behind those of other writers of the stream
  bool ordered_ = false;  ///< its chunks have places in the order of the stream
  bool sketched_ = false; ///< an exchange of a pair looks at the first rows of each target
  size_t outputs_ = 0;    ///< chunks that a lane fills at a time: one a reader
  std::vector<RankState::CopySlots> copies_; ///< per state argument: one a lane, or none
  DictionaryMaps dictionaryMaps_;            ///< of the lanes, whose frames find them there
  std::deque<Lane> lanes_;
  std::optional<Finishing> finishing_;
};

Status RunTask::start() {
  kernel_ = (*context_.kernels)[task_.kernel].get();
  const std::shared_ptr<PartedStream> parted =
      task_.outputStream == plan::kNone ? nullptr : context_.partedStreams[task_.outputStream];
  HR_ASSIGN_OR_RETURN(account_, context_.openAccount(index_));
  HR_ASSIGN_OR_RETURN(RunSource source, openRunSource(context_, index_, account_));
  queue_ = std::move(source.queue);
  scans_ = source.scans;
  if (parted) {
    output_ = parted;
    outputs_ = parted->parts();
  } else if (task_.outputStream != plan::kNone) {
    output_ = context_.streams[task_.outputStream];
    isPart_ = context_.plan->streams[task_.outputStream].writers > 1 &&
              context_.streamOrders[task_.outputStream] == StreamOrder::kAllRanks;
    const plan::ExchangeTask *taker = task_.partitioned ? exchange() : nullptr;
    outputs_ = taker ? context_.place.along(taker->axes).count : 1;
    sketched_ = taker && isPaired(*taker, context_.place.along(taker->axes)) && outputs_ > 1;
  }
  ordered_ = task_.outputStream != plan::kNone && queue_->ordered() &&
             context_.streamOrders[task_.outputStream] != StreamOrder::kNone;
  size_t lanes = context_.lanes;
  for (const plan::StateArgument &argument : task_.states) {
    const plan::State &state = context_.plan->states[argument.state];
    bool merged =
        state.kind == plan::StateKind::kScalar || state.kind == plan::StateKind::kGroupTable;
    if (argument.use == plan::StateUse::kPerWorker && merged && state.mergeKernel == plan::kNone) {
      lanes = 1; // copies of it could not be brought together
    }
  }
  std::vector<RankState::CopySlots> &kept = context_.keptCopies[index_];
  kept.resize(task_.states.size());
  for (size_t i = 0; i < task_.states.size(); ++i) {
    const auto &[state, use] = task_.states[i];
    if (use == plan::StateUse::kPerWorker && (kept[i].empty() || context_.roundStates[state])) {
      kept[i] = context_.states[state]->addCopies(lanes);
    }
  }
  copies_ = kept;
  for (size_t i = 0; i < lanes; ++i) {
    lanes_.emplace_back().index = i;
  }
  return {};
}

/// That takes the rows of a partitioned run.
const plan::ExchangeTask *RunTask::exchange() const {
  for (const plan::Task &task : context_.plan->tasks) {
    const auto *exchange = task.as<plan::ExchangeTask>();
    if (exchange && exchange->inputStream == task_.outputStream) {
      return exchange;
    }
  }
  return nullptr; // no such plan is loaded
}

/// Of the next one, after so many of the lane.
ChunkSize RunTask::sizeOfChunks(uint32_t sealed) const {
  const plan::Stream &stream = context_.plan->streams[task_.outputStream];
  // Those of a stream in parts can leave memory.
  const size_t waiting = stream.parts != 0 ? 0 : stream.capacityChunks;
  ChunkSize size =
      chunkSizeWithin(stream, lanes_.size() * outputs_ + waiting, context_.filledBytes);
  const auto targets = static_cast<uint32_t>(outputs_);
  if (sketched_ && sealed < kKeptRows / firstChunkRows(targets)) {
    size.rows = std::min(firstChunkRows(targets), size.rows);
  }
  return size;
}

Status RunTask::addOutput(Lane &lane, size_t output) {
  const plan::Stream &stream = context_.plan->streams[task_.outputStream];
  auto chunk = std::make_unique<OutputChunk>(stream, account_, sizeOfChunks(lane.sealed));
  HR_RETURN_IF_ERROR(chunk->prepare());
  lane.outputPointers[output] = chunk.get();
  lane.abiOutputs[output] = chunk->abi();
  lane.outputs[output] = std::move(chunk);
  return {};
}

/// Runs on the worker that uses the lane first, so that its memory is near it.
Status RunTask::prepareLane(Lane &lane) {
  HR_ASSIGN_OR_RETURN(lane.frame, KernelFrame::create(*kernel_, account_, context_.rank,
                                                      context_.size, &dictionaryMaps_));
  lane.frame->stopBy(context_.board->flag());
  lane.frame->drawFrom(context_.seed);
  lane.frame->divideBy(*context_.keyShares);
  for (size_t i = 0; i < task_.states.size(); ++i) {
    RankState &state = *context_.states[task_.states[i].state];
    if (task_.states[i].use == plan::StateUse::kShared) {
      lane.states.push_back(state.shared());
    } else {
      HR_ASSIGN_OR_RETURN(StateCopy * copy, state.copy(copies_[i][lane.index]));
      lane.states.push_back(copy->abi());
      lane.filled.push_back(copy);
    }
  }
  lane.outputs.resize(outputs_);
  lane.outputPointers.resize(outputs_);
  lane.abiOutputs.resize(outputs_);
  for (size_t i = 0; i < outputs_; ++i) {
    HR_RETURN_IF_ERROR(addOutput(lane, i));
  }
  lane.frame->worker().outputs = lane.abiOutputs.data();
  lane.frame->worker().outputCount = static_cast<uint32_t>(outputs_);
  lane.frame->context().outputs = lane.outputPointers.data();
  return {};
}

bool RunTask::hasRows(const Lane &lane) const {
  for (const HrOutput &output : lane.abiOutputs) {
    if (output.rows != 0) {
      return true;
    }
  }
  return false;
}

Status RunTask::sealOutput(Lane &lane, uint32_t output) {
  OutputChunk &chunk = *lane.outputs[output];
  // The kernel counts rows in the HrOutput of its worker; columns are shared with the chunk.
  chunk.abi().rows = lane.abiOutputs[output].rows;
  if (chunk.abi().rows == 0) {
    return {};
  }
  ChunkOrder order;
  if (isPart_) {
    order.push_back(task_.part);
  }
  if (ordered_ && lane.morsel) {
    order.insert(order.end(), lane.morsel->order.begin(), lane.morsel->order.end());
    order.push_back(lane.sequence++);
  }
  counters_.rowsOut += chunk.abi().rows;
  HR_ASSIGN_OR_RETURN(ChunkHandle sealed,
                      chunk.seal(std::move(order), static_cast<int32_t>(output)));
  lane.pending.push_back(std::move(sealed));
  if (sketched_ && sizeOfChunks(++lane.sealed).rows > lane.abiOutputs[output].capacity) {
    return addOutput(lane, output); // larger from now on
  }
  HR_RETURN_IF_ERROR(chunk.prepare());
  lane.abiOutputs[output] = chunk.abi();
  return {};
}

Status RunTask::sealAll(Lane &lane) {
  for (uint32_t i = 0; i < lane.outputs.size(); ++i) {
    HR_RETURN_IF_ERROR(sealOutput(lane, i));
  }
  return {};
}

bool RunTask::pushPending(Lane &lane) {
  size_t pushed = 0;
  while (pushed < lane.pending.size() && output_->tryPush(lane.pending[pushed])) {
    ++pushed;
  }
  lane.pending.erase(lane.pending.begin(), lane.pending.begin() + static_cast<ptrdiff_t>(pushed));
  return lane.pending.empty();
}

void RunTask::countStages(Lane &lane) {
  uint64_t last = lane.morsel->morsel.rows;
  for (size_t stage = 0; stage < HR_COUNTED_STAGES; ++stage) {
    if (uint64_t rows = lane.frame->rowsThrough(stage)) {
      counters_.stageRows[stage] += static_cast<int64_t>(rows);
      last = rows;
    }
  }
  for (StateCopy *filled : lane.filled) {
    filled->offered(last);
    if (filled->isSated()) {
      queue_->stop();
    }
  }
}

/// Calls the kernel until the morsel is done or a chunk is sealed.
Status RunTask::runMorsel(Lane &lane) {
  if (!lane.started) {
    lane.frame->beginMorsel();
    lane.started = true;
    lane.sequence = 0;
  }
  HrResult result = lane.frame->run(lane.morsel->morsel, lane.states.data());
  if (context_.stopped()) {
    return {}; // rows and errors may be of functions that gave up
  }
  switch (result) {
  case HR_DONE:
    lane.frame->endMorsel();
    if (ordered_) {
      HR_RETURN_IF_ERROR(sealAll(lane));
    }
    counters_.rowsIn += lane.morsel->morsel.rows;
    counters_.bytes += static_cast<int64_t>(lane.morsel->bytes);
    lane.span->addRows(lane.morsel->morsel.rows);
    lane.span->addBytes(static_cast<int64_t>(lane.morsel->bytes));
    ++counters_.morsels;
    countStages(lane);
    lane.morsel.reset();
    lane.started = false;
    return {};
  case HR_OUTPUT_FULL: {
    uint32_t full = lane.frame->worker().fullOutput;
    if (full >= lane.abiOutputs.size() || lane.abiOutputs[full].rows == 0) {
      return makeError(ErrorKind::kInternal,
                       "kernel wants room in an output that is empty or absent: ", full);
    }
    return sealOutput(lane, full);
  }
  case HR_ERROR:
    lane.failedRow = static_cast<int64_t>(lane.frame->worker().error.row);
    return lane.frame->error();
  case HR_STOPPED:
    return {};
  default:
    return makeError(ErrorKind::kInternal, "unexpected result of a kernel: ", result);
  }
}

/// With a span for what comes from files.
Expected<std::optional<TakenMorsel>> RunTask::takeMorsel(Track *track) {
  int32_t load =
      task_.inputStream == plan::kNone ? plan::kNone : context_.loadOfStream[task_.inputStream];
  if (!track || load == plan::kNone) {
    return queue_->take();
  }
  ScopedSpan span(track, SpanKind::kIo, context_.plan->tasks[load].name.c_str(),
                  TaskId(static_cast<uint32_t>(load)));
  Expected<std::optional<TakenMorsel>> taken = queue_->take();
  if (taken.ok() && *taken) {
    span.addRows((*taken)->morsel.rows);
    span.addBytes(static_cast<int64_t>((*taken)->bytes));
  }
  return taken;
}

Status RunTask::drive(Lane &lane, int worker) {
  ScanningLane scanning(*context_.memory, scans_);
  if (!lane.frame) {
    HR_RETURN_IF_ERROR(prepareLane(lane));
  }
  Track *track = context_.workerTrack(worker);
  ScopedSpan span(track, SpanKind::kTask, described_.name.c_str(),
                  TaskId(static_cast<uint32_t>(index_)));
  lane.span = &span;
  int64_t begin = context_.clock->nowNanoseconds();
  auto book = [&] { counters_.busyNanoseconds += context_.clock->nowNanoseconds() - begin; };
  bool worked = false;
  while (!context_.stopped()) {
    if (!pushPending(lane)) {
      lane.phase = LanePhase::kBlocked;
      book();
      return {};
    }
    lane.phase = LanePhase::kIdle;
    if (worked && !lane.morsel && context_.pool->wanted(context_.precedences[index_])) {
      break; // a task that goes before this one has something to do
    }
    if (!lane.morsel) {
      int64_t before = context_.clock->nowNanoseconds();
      HR_ASSIGN_OR_RETURN(lane.morsel, takeMorsel(track));
      counters_.loadNanoseconds += context_.clock->nowNanoseconds() - before;
    }
    if (!lane.morsel) {
      if (!queue_->ended()) {
        break;
      }
      if (!hasRows(lane)) {
        lane.phase = LanePhase::kFlushed;
        break;
      }
      HR_RETURN_IF_ERROR(sealAll(lane));
      continue;
    }
    HR_RETURN_IF_ERROR(runMorsel(lane));
    worked = true;
  }
  book();
  return {};
}

void RunTask::submit(Lane &lane) {
  lane.job = context_.pool->submit(
      context_.jobOf(index_), [this, &lane](int worker, int64_t) { return drive(lane, worker); });
}

Status RunTask::pollLanes(bool &allFlushed) {
  // Lanes under way will take some of what is available; start only as many as the rest needs.
  bool ended = queue_->ended();
  size_t available = queue_->available();
  allFlushed = true;
  for (Lane &lane : lanes_) {
    if (lane.job.valid()) {
      if (lane.job.poll() == PollState::kPending) {
        allFlushed = false;
        continue;
      }
      if (Status status = lane.job.status(); !status.ok()) {
        failedRow_ = lane.failedRow;
        return status;
      }
      lane.job = Job();
    }
    if (lane.phase == LanePhase::kIdle && ended && (!lane.frame || !hasRows(lane))) {
      lane.phase = LanePhase::kFlushed;
    }
    if (lane.phase == LanePhase::kFlushed) {
      continue;
    }
    allFlushed = false;
    if (lane.phase == LanePhase::kBlocked) {
      if (output_->hasRoom()) {
        submit(lane);
      }
    } else if (ended || available > 0) {
      available -= available > 0;
      submit(lane);
    }
  }
  // Lanes may have seen the end first.
  if (task_.inputStream != plan::kNone && (allFlushed || queue_->ended())) {
    context_.drainedStreams[task_.inputStream] = 1;
  }
  return {};
}

const char *RunTask::waitsFor() const {
  if (phase_ != Phase::kLanes) {
    return nullptr;
  }
  bool blocked = false;
  for (const Lane &lane : lanes_) {
    if (lane.job.valid()) {
      return nullptr;
    }
    blocked |= lane.phase == LanePhase::kBlocked;
  }
  return blocked ? "room in its output" : "input";
}

PollState RunTask::poll() {
  if (phase_ == Phase::kLanes) {
    bool allFlushed = false;
    if (Status status = pollLanes(allFlushed); !status.ok()) {
      return fail(status);
    }
    if (!allFlushed) {
      return PollState::kPending;
    }
    lanes_.clear();
    dictionaryMaps_.clear();
    queue_.reset();
    if (output_ && !context_.comesAgain[index_]) {
      output_->close();
    }
    finishing_.emplace(context_, index_);
    phase_ = Phase::kStates;
  }
  PollState state = finishing_->poll();
  if (state == PollState::kFailed) {
    return fail(finishing_->status());
  }
  if (state == PollState::kPending) {
    return state;
  }
  phase_ = Phase::kDone;
  return PollState::kDone;
}

} // namespace

std::unique_ptr<TaskRunner> makeRunTask(RankContext &context, int32_t task) {
  return std::make_unique<RunTask>(context, task);
}

} // namespace headrace::exec
