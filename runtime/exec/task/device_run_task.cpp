// A run task on the rank's GPU.
//
// Each lane is memory in both places and launches over it. A worker takes a morsel, writes its
// columns into pinned memory, submits copies, launches and the way back of the error, and is free;
// the rank's thread asks whether the lane's launches have ended. So one lane's morsel is copied
// while another's is worked on. Columns that are in the device from an earlier run are used there:
// a launch then takes several morsels. States are made before the first launch. One that turns out
// too small is made larger, and all morsels are worked on again: nothing else has seen what the
// task did.
//
//   kLanes --all morsels--> kCounting --> kMoving (tables linked, states copied to the host)
//     ^   `--a state is full--'                --> kAdopting --> kStates --> done
#include "model/plan/page_form.h"
#include "runtime/base/log.h"
#include "runtime/exec/gpu/device_call.h"
#include "runtime/exec/gpu/device_state.h"
#include "runtime/exec/gpu/launch_args.h"
#include "runtime/exec/gpu/morsel_columns.h"
#include "runtime/exec/gpu/read_back_copy.h"
#include "runtime/exec/task/finishing.h"
#include "runtime/exec/task/run_source.h"
#include "runtime/exec/task/task.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>

namespace headrace::exec {
namespace {

/// With fewer, copies and launches would wait for each other.
constexpr size_t kLanesMin = 2;
/// By which a state grows that was full.
constexpr uint64_t kGrowth = 4;
/// Morsels that a launch takes, where nothing must be copied for them.
constexpr uint32_t kBatchMorsels = 16;
/// Rows whose strings one morsel adopts.
constexpr uint64_t kAdoptedRows = 1 << 16;

/// Rows of a state that lives on the GPU.
class DeviceRowsQueue final : public MorselQueue {
public:
  explicit DeviceRowsQueue(const DeviceState &state) : state_(state) {}

  Expected<std::optional<TakenMorsel>> take() override {
    const uint64_t first = next_.fetch_add(plan::kStateMorselRows);
    if (first >= state_.rows()) {
      return std::optional<TakenMorsel>();
    }
    auto pointers = std::make_shared<std::vector<const uint8_t *>>(
        std::min(plan::kStateMorselRows, state_.rows() - first));
    for (uint64_t index = 0; index < pointers->size(); ++index) {
      (*pointers)[index] = reinterpret_cast<const uint8_t *>(state_.row(first + index));
    }
    TakenMorsel taken;
    taken.morsel.rows = static_cast<uint32_t>(pointers->size());
    taken.morsel.firstRow = first;
    taken.morsel.stateRows = pointers->data();
    taken.pin = std::move(pointers);
    return std::optional<TakenMorsel>(std::move(taken));
  }
  size_t available() const override {
    const uint64_t next = next_;
    return next < state_.rows() ? (state_.rows() - next - 1) / plan::kStateMorselRows + 1 : 0;
  }
  bool ended() const override { return available() == 0; }
  void again() override { next_ = 0; }

private:
  const DeviceState &state_;
  std::atomic<uint64_t> next_{0};
};

struct GpuLane {
  GpuLane(GpuContext &gpu, BumpArena arena) : call(gpu), scratch(std::move(arena)) {}
  DeviceCall call;
  DeviceMemory pinned, block;             ///< for columns on their way, and such as do not stay
  std::vector<DeviceColumns::Block> uses; ///< until the launches have ended
  BumpArena scratch;
  bool inFlight = false;
  uint64_t order = 0; ///< of launches
  Event done;
  Job job; ///< last: ended before the rest goes
};

/// A state that this task fills.
struct Filled {
  int32_t index = plan::kNone;
  bool stays = false; ///< on the GPU; else it is copied to the host
  DeviceState::Room room;
  std::unique_ptr<DeviceState> state;
  Event event; ///< of what the phase waits for
  std::optional<DeviceCall> link;
  DeviceState::Image image;
  std::unique_ptr<ReadBackCopy> copy;
};

class DeviceRunTask final : public TaskRunnerOf<plan::RunTask> {
public:
  using TaskRunnerOf::TaskRunnerOf;
  ~DeviceRunTask() override {
    adopting_.reset();
    for (GpuLane &lane : lanes_) {
      lane.job = Job();
    }
  }
  Status start() override;
  PollState poll() override;
  bool mustBeAsked() const override;
  const char *waitsFor() const override { return mustBeAsked() ? "the GPU" : nullptr; }

private:
  enum class Phase : uint8_t { kLanes, kCounting, kMoving, kAdopting, kStates, kDone };

  Device &device() { return context_.gpu->device(); }
  const plan::State &described(const Filled &filled) const {
    return context_.plan->states[filled.index];
  }
  Status prepare();
  Status placeLiterals();
  Status openStates();
  Status openQueue();
  Status drive(GpuLane &lane, int worker);
  /// What is found of a morsel's columns in the device; the others are written for it.
  struct Fill {
    DeviceCall::Columns copy;
    DeviceColumns::Block block; ///< where they stay; null: in the lane's
    std::vector<size_t> written;
  };
  Expected<Fill> fillColumns(GpuLane &lane, const TakenMorsel &taken, std::vector<HrColumn> &made);
  void keepColumns(const TakenMorsel &taken, const Fill &fill, const std::vector<HrColumn> &made);
  Status endLaunches();
  Status pollLanes(bool &quiet);
  Status endLaunch(GpuLane &lane);
  Status beginAgain();
  Status beginCounting();
  Status beginMoving();
  Status beginLink(Filled &filled);
  Status beginAdopting();
  Expected<bool> reached(const Event &event);
  /// Whether all that the phase waits for has been reached.
  Expected<bool> allReached();
  Expected<PollState> advance();
  Status noted(Status status);

  Phase phase_ = Phase::kLanes;
  const KernelCall *kernel_ = nullptr;
  Kernel function_, decoding_;
  std::shared_ptr<MemoryAccount> account_;
  ReservationRequest request_;
  Reservation deviceBytes_;
  DeviceMemory literals_;
  Event literalsPlaced_;
  std::vector<uint64_t> heads_; ///< of states, in the order of HrArgs.states
  std::vector<Event> ready_;
  std::vector<Filled> filled_;
  RunSource source_;
  bool full_ = false; ///< a state was
  std::deque<GpuLane> lanes_;
  std::atomic<uint64_t> launched_{0};
  std::atomic<uint64_t> columnsFound_{0}, columnsWritten_{0};
  std::optional<PhasedJob> adopting_;
  std::optional<Finishing> finishing_;
};

/// Notes that the CPU, which takes memory as rows come, may still be able to.
Status DeviceRunTask::noted(Status status) {
  context_.gpu->wasShort = context_.gpu->wasShort || status.kind() == ErrorKind::kMemory;
  return status;
}

Status DeviceRunTask::start() { return noted(prepare()); }

Status DeviceRunTask::prepare() {
  GpuContext &gpu = *context_.gpu;
  kernel_ = (*context_.kernels)[task_.deviceKernel].get();
  HR_ASSIGN_OR_RETURN(function_, gpu.find(kernel_->described().symbol));
  HR_ASSIGN_OR_RETURN(decoding_, gpu.find(HR_DECODE_PAGES));
  HR_ASSIGN_OR_RETURN(account_, context_.openAccount(index_));
  request_.operatorName = context_.operationOf(index_);
  request_.task = TaskId(static_cast<uint32_t>(index_));
  request_.place = context_.placeOf(index_);
  HR_ASSIGN_OR_RETURN(deviceBytes_, gpu.budget.reserve(request_));
  HR_RETURN_IF_ERROR(placeLiterals());
  for (const plan::StateArgument &argument : task_.states) {
    if (argument.use == plan::StateUse::kPerWorker) {
      const plan::State &state = context_.plan->states[argument.state];
      Filled &filled = filled_.emplace_back();
      filled.index = argument.state;
      filled.stays = state.tier == Tier::kDevice;
      filled.room = gpu.kernels->learntRoom(argument.state).value_or(DeviceState::firstRoom(state));
    }
  }
  for (size_t index = 0; index < std::max(kLanesMin, context_.lanes); ++index) {
    lanes_.emplace_back(gpu, BumpArena(account_));
  }
  HR_RETURN_IF_ERROR(openStates());
  return openQueue();
}

/// The block with its texts behind it.
Status DeviceRunTask::placeLiterals() {
  const plan::Kernel &kernel = kernel_->described();
  if (kernel.literals.empty()) {
    return {};
  }
  size_t bytes = kernel.literalBytes;
  for (const plan::Literal &literal : kernel.literals) {
    bytes += literal.text.size() + HR_PADDING;
  }
  HR_ASSIGN_OR_RETURN(literals_, device().allocate(Tier::kDevice, static_cast<int64_t>(bytes),
                                                   deviceBytes_, Lane::kIn));
  std::vector<std::byte> block(bytes);
  std::memcpy(block.data(), kernel_->literals(), kernel.literalBytes);
  size_t at = kernel.literalBytes;
  for (const plan::Literal &literal : kernel.literals) {
    if (literal.kind != plan::LiteralKind::kString) {
      continue;
    }
    HrString text;
    std::memcpy(&text, block.data() + literal.offset, sizeof text);
    text.data = reinterpret_cast<const uint8_t *>(literals_.at().address + at);
    std::memcpy(block.data() + literal.offset, &text, sizeof text);
    std::memcpy(block.data() + at, literal.text.data(), literal.text.size());
    at += literal.text.size() + HR_PADDING;
  }
  HR_ASSIGN_OR_RETURN(Event placed, device().copy(Place::of(block.data()), literals_.at(),
                                                  static_cast<int64_t>(bytes)));
  literalsPlaced_ = std::move(placed);
  return {};
}

Status DeviceRunTask::openStates() {
  heads_.clear();
  ready_.assign(1, literalsPlaced_);
  auto filled = filled_.begin();
  for (const plan::StateArgument &argument : task_.states) {
    if (argument.use == plan::StateUse::kShared) {
      heads_.push_back(context_.states[argument.state]->onGpu()->head());
      continue;
    }
    filled->state.reset();
    HR_ASSIGN_OR_RETURN(filled->state, DeviceState::create(context_.gpu, described(*filled),
                                                           request_, filled->room));
    heads_.push_back(filled->state->head());
    ready_.push_back(filled->state->ready());
    ++filled;
  }
  return {};
}

Status DeviceRunTask::openQueue() {
  if (task_.sourceState != plan::kNone) {
    source_ = {std::make_unique<DeviceRowsQueue>(*context_.states[task_.sourceState]->onGpu()),
               false};
    return {};
  }
  HR_ASSIGN_OR_RETURN(source_, openRunSource(context_, index_, account_));
  return {};
}

Expected<DeviceRunTask::Fill> DeviceRunTask::fillColumns(GpuLane &lane, const TakenMorsel &taken,
                                                         std::vector<HrColumn> &made) {
  GpuMemory &memory = context_.gpu->memory;
  const HrMorsel &morsel = taken.morsel;
  made.assign(morsel.columnCount, {});
  std::vector<bool> isKept(morsel.columnCount, false);
  bool mayStay = !taken.origins.empty();
  Fill fill;
  for (uint32_t index = 0; index < morsel.columnCount; ++index) {
    if (!taken.origins.empty()) {
      const storage::ColumnOrigin &origin = taken.origins[index];
      if (auto found = memory.columns.find({origin.kept, origin.firstRow, morsel.rows})) {
        made[index] = found->column;
        isKept[index] = true;
        lane.uses.push_back(std::move(found->block));
        continue;
      }
      mayStay = mayStay && !origin.kept.expired();
    }
    fill.written.push_back(index);
  }
  columnsFound_ += morsel.columnCount - fill.written.size();
  columnsWritten_ += fill.written.size();
  if (fill.written.empty()) {
    return fill;
  }
  std::span<const plan::Column> columns;
  if (task_.inputStream != plan::kNone) {
    columns = context_.plan->streams[task_.inputStream].schema.columns;
  }
  HR_ASSIGN_OR_RETURN(MorselColumns image,
                      MorselColumns::measure(morsel, columns, isKept, lane.scratch));
  fill.block = mayStay ? memory.columns.place(image.deviceBytes()) : nullptr;
  HR_RETURN_IF_ERROR(memory.blocks.exchange(lane.block, fill.block ? 0 : image.deviceBytes()));
  HR_RETURN_IF_ERROR(memory.pinned.exchange(lane.pinned, image.bytes()));
  fill.copy.from = lane.pinned.at();
  fill.copy.to = fill.block ? fill.block->at() : lane.block.at();
  fill.copy.bytes = image.bytes();
  fill.copy.decoder = decoding_;
  fill.copy.decodeGroups = image.decodeGroups();
  fill.copy.decodeArgs = fill.copy.to.address + static_cast<uint64_t>(image.decodeAt());
  HR_RETURN_IF_ERROR(image.write(lane.pinned.host(), fill.copy.to.address, made));
  lane.scratch.reset();
  return fill;
}

void DeviceRunTask::keepColumns(const TakenMorsel &taken, const Fill &fill,
                                const std::vector<HrColumn> &made) {
  for (size_t index : fill.written) {
    const storage::ColumnOrigin &origin = taken.origins[index];
    context_.gpu->memory.columns.keep({origin.kept, origin.firstRow, taken.morsel.rows},
                                      {fill.block, made[index]});
  }
}

Status DeviceRunTask::drive(GpuLane &lane, int worker) {
  ScanningLane scanning(*context_.memory, source_.scans);
  ScopedSpan span(context_.workerTrack(worker), SpanKind::kTask, described_.name.c_str(),
                  TaskId(static_cast<uint32_t>(index_)));
  const int64_t begin = context_.clock->nowNanoseconds();
  const uint64_t literals = literals_ ? literals_.at().address : 0;
  DeviceCall::Morsels morsels{.count = 0};
  std::vector<HrColumn> made;
  std::optional<TakenMorsel> taken;
  Fill fill;
  while (morsels.count < kBatchMorsels && fill.written.empty()) {
    const int64_t asked = context_.clock->nowNanoseconds();
    HR_ASSIGN_OR_RETURN(taken, source_.queue->take());
    counters_.loadNanoseconds += context_.clock->nowNanoseconds() - asked;
    if (!taken) {
      break;
    }
    const HrMorsel &morsel = taken->morsel;
    HR_ASSIGN_OR_RETURN(fill, fillColumns(lane, *taken, made));
    const LaunchArgs args(heads_.size(), morsel.columnCount, morsel.stateRows ? morsel.rows : 0);
    if (morsels.count == 0) {
      const int64_t most = morsel.stateRows ? 1 : int64_t{kBatchMorsels};
      morsels.argsBytes = args.bytes();
      HR_RETURN_IF_ERROR(lane.call.makeRoom(DeviceCall::kBegin + most * args.bytes()));
    }
    const int64_t at = morsels.end();
    args.write(lane.call.host() + at, lane.call.device() + static_cast<uint64_t>(at), morsel, made,
               literals, heads_);
    ++morsels.count;
    morsels.rows = std::max<uint64_t>(morsels.rows, morsel.rows);
    span.addRows(morsel.rows);
    span.addBytes(static_cast<int64_t>(taken->bytes));
    counters_.rowsIn += morsel.rows;
    counters_.bytes += static_cast<int64_t>(taken->bytes);
    ++counters_.morsels;
    if (morsel.stateRows) {
      break;
    }
  }
  if (morsels.count == 0) {
    return {};
  }
  HR_ASSIGN_OR_RETURN(lane.done, lane.call.launch(function_, kernel_->described().threads, morsels,
                                                  ready_, fill.copy));
  if (fill.block) {
    keepColumns(*taken, fill, made);
  }
  lane.order = launched_.fetch_add(1);
  lane.inFlight = true;
  counters_.busyNanoseconds += context_.clock->nowNanoseconds() - begin;
  return {};
}

Status DeviceRunTask::endLaunch(GpuLane &lane) {
  lane.inFlight = false;
  lane.uses.clear();
  const HrError error = lane.call.error();
  if (error.code == HR_ERROR_MEMORY) {
    full_ = true;
    return {};
  }
  if (error.code != HR_OK) {
    failedRow_ = static_cast<int64_t>(error.row);
    return kernel_->error(error);
  }
  return {};
}

Expected<bool> DeviceRunTask::reached(const Event &event) {
  switch (device().poll(event)) {
  case PollState::kPending:
    return false;
  case PollState::kFailed:
    return device().status();
  case PollState::kDone:
    break;
  }
  return true;
}

/// Launches end in their order: behind one that has not ended none is asked for, since each
/// question keeps the driver from those who submit.
Status DeviceRunTask::endLaunches() {
  for (;;) {
    GpuLane *oldest = nullptr;
    for (GpuLane &lane : lanes_) {
      if (!lane.job.valid() && lane.inFlight && (!oldest || lane.order < oldest->order)) {
        oldest = &lane;
      }
    }
    if (oldest == nullptr) {
      return {};
    }
    HR_ASSIGN_OR_RETURN(bool ended, reached(oldest->done));
    if (!ended) {
      return {};
    }
    HR_RETURN_IF_ERROR(endLaunch(*oldest));
  }
}

Status DeviceRunTask::pollLanes(bool &quiet) {
  for (GpuLane &lane : lanes_) {
    if (lane.job.valid() && lane.job.poll() != PollState::kPending) {
      HR_RETURN_IF_ERROR(lane.job.status());
      lane.job = Job();
    }
  }
  HR_RETURN_IF_ERROR(endLaunches());
  size_t available = full_ ? 0 : source_.queue->available();
  quiet = true;
  for (GpuLane &lane : lanes_) {
    if (!lane.job.valid() && !lane.inFlight && available > 0) {
      --available;
      lane.job = context_.pool->submit(context_.jobOf(index_), [this, &lane](int worker, int64_t) {
        return drive(lane, worker);
      });
    }
    quiet = quiet && !lane.job.valid() && !lane.inFlight;
  }
  quiet = quiet && (full_ || source_.queue->ended());
  return {};
}

/// With larger states.
Status DeviceRunTask::beginAgain() {
  full_ = false;
  counters_.rowsIn = 0;
  counters_.morsels = 0;
  counters_.bytes = 0;
  for (Filled &filled : filled_) {
    filled.room = filled.room.times(kGrowth);
    context_.gpu->kernels->learnRoom(filled.index, filled.room);
    log(LogLevel::kInfo, "state ", described(filled).name,
        " was full on the GPU: again with room for ", filled.room.rows, " rows");
  }
  source_.queue->again();
  return openStates();
}

Status DeviceRunTask::beginCounting() {
  phase_ = Phase::kCounting;
  log(LogLevel::kDebug, "task ", described_.name, " found ", columnsFound_.load(),
      " columns of morsels on the GPU and copied ", columnsWritten_.load());
  if (task_.inputStream != plan::kNone) {
    context_.drainedStreams[task_.inputStream] = 1;
  }
  for (GpuLane &lane : lanes_) {
    lane.call.end();
    context_.gpu->memory.blocks.giveBack(std::move(lane.block));
    context_.gpu->memory.pinned.giveBack(std::move(lane.pinned));
  }
  lanes_.clear();
  source_.queue.reset();
  for (Filled &filled : filled_) {
    HR_ASSIGN_OR_RETURN(filled.event, filled.state->count(account_->reservation()));
  }
  return {};
}

Expected<bool> DeviceRunTask::allReached() {
  for (const Filled &filled : filled_) {
    HR_ASSIGN_OR_RETURN(bool one, reached(filled.event));
    if (!one) {
      return false;
    }
  }
  return true;
}

Status DeviceRunTask::beginLink(Filled &filled) {
  GpuContext &gpu = *context_.gpu;
  const plan::Kernel &link = context_.plan->kernels[described(filled).linkKernel];
  HR_ASSIGN_OR_RETURN(Kernel function, gpu.find(link.symbol));
  if (filled.state->rows() > UINT32_MAX) {
    return makeError(
        ErrorKind::kMemory, // no test: no device has memory for so many
        "a table of a join on a GPU has at most 4294967295 rows, got: ", filled.state->rows());
  }
  HR_RETURN_IF_ERROR(filled.state->makeTable());
  filled.link.emplace(gpu);
  HrMorsel rows = {};
  rows.rows = static_cast<uint32_t>(filled.state->rows());
  const LaunchArgs args(1, 0, 0);
  const DeviceCall::Morsels one{1, args.bytes(), rows.rows};
  HR_RETURN_IF_ERROR(filled.link->makeRoom(one.end()));
  const uint64_t head = filled.state->head();
  args.write(filled.link->host() + DeviceCall::kBegin, filled.link->device() + DeviceCall::kBegin,
             rows, {}, 0, std::span(&head, 1));
  HR_ASSIGN_OR_RETURN(filled.event, filled.link->launch(function, link.threads, one,
                                                        std::span(&filled.state->ready(), 1), {}));
  return {};
}

Status DeviceRunTask::beginMoving() {
  phase_ = Phase::kMoving;
  for (Filled &filled : filled_) {
    filled.state->takeCount();
    filled.event = Event();
    if (!filled.stays) {
      HR_ASSIGN_OR_RETURN(
          filled.image,
          filled.state->readBack(context_.states[filled.index]->account()->reservation()));
      filled.event = filled.image.done;
    } else if (described(filled).kind == plan::StateKind::kJoinTable) {
      HR_RETURN_IF_ERROR(beginLink(filled));
    }
  }
  return {};
}

Status DeviceRunTask::beginAdopting() {
  phase_ = Phase::kAdopting;
  adopting_.emplace(*context_.pool, context_.jobOf(index_));
  for (Filled &filled : filled_) {
    RankState &state = *context_.states[filled.index];
    if (filled.stays) {
      if (filled.link && filled.link->error().code != HR_OK) {
        return (*context_.kernels)[described(filled).linkKernel]->error(filled.link->error());
      }
      if (filled.link) {
        filled.link->end();
      }
      state.keepOnGpu(std::move(filled.state));
      continue;
    }
    filled.copy =
        std::make_unique<ReadBackCopy>(described(filled), state.account(), std::move(filled.image));
    filled.state.reset();
    adopting_->add([&filled]() -> Expected<JobPhase> {
      const uint64_t rows = filled.copy->rowCount();
      return JobPhase{static_cast<int64_t>((rows + kAdoptedRows - 1) / kAdoptedRows),
                      [&filled, rows](int, int64_t morsel) {
                        const uint64_t first = static_cast<uint64_t>(morsel) * kAdoptedRows;
                        return filled.copy->adopt(first, std::min(kAdoptedRows, rows - first));
                      }};
    });
  }
  return {};
}

Expected<PollState> DeviceRunTask::advance() {
  if (phase_ == Phase::kLanes) {
    bool quiet = false;
    HR_RETURN_IF_ERROR(pollLanes(quiet));
    if (!quiet) {
      return PollState::kPending;
    }
    if (full_) {
      HR_RETURN_IF_ERROR(beginAgain());
      context_.doorbell->ring();
      return PollState::kPending;
    }
    HR_RETURN_IF_ERROR(beginCounting());
  }
  for (auto [phase, begin] : {std::pair(Phase::kCounting, &DeviceRunTask::beginMoving),
                              std::pair(Phase::kMoving, &DeviceRunTask::beginAdopting)}) {
    if (phase_ == phase) {
      HR_ASSIGN_OR_RETURN(bool all, allReached());
      if (!all) {
        return PollState::kPending;
      }
      HR_RETURN_IF_ERROR((this->*begin)());
    }
  }
  if (phase_ == Phase::kAdopting) {
    const PollState adopted = adopting_->poll();
    if (adopted != PollState::kDone) {
      return adopted == PollState::kFailed ? Expected<PollState>(adopting_->status()) : adopted;
    }
    for (Filled &filled : filled_) {
      if (filled.copy) {
        context_.states[filled.index]->addCopies(1).front() = std::move(filled.copy);
      }
    }
    finishing_.emplace(context_, index_);
    phase_ = Phase::kStates;
  }
  const PollState finished = finishing_->poll();
  if (finished == PollState::kFailed) {
    return finishing_->status();
  }
  phase_ = finished == PollState::kDone ? Phase::kDone : phase_;
  return finished;
}

PollState DeviceRunTask::poll() {
  Expected<PollState> state = advance();
  return state.ok() ? *state : fail(noted(state.status()));
}

bool DeviceRunTask::mustBeAsked() const {
  return phase_ == Phase::kCounting || phase_ == Phase::kMoving ||
         std::ranges::any_of(
             lanes_, [](const GpuLane &lane) { return !lane.job.valid() && lane.inFlight; });
}

} // namespace

std::unique_ptr<TaskRunner> makeDeviceRunTask(RankContext &context, int32_t task) {
  return std::make_unique<DeviceRunTask>(context, task);
}

} // namespace headrace::exec
