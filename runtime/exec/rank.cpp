// Starts tasks when what they wait for has ended, polls them, and settles with the other ranks.
#include "runtime/exec/rank.h"

#include "model/plan/names.h"
#include "model/plan/reservations.h"
#include "runtime/base/check.h"
#include "runtime/base/log.h"
#include "runtime/exec/skew/skew_division.h"
#include "runtime/exec/source/rounds.h"

#include <algorithm>

namespace headrace::exec {

namespace {

/// A pool that the process refused memory does not know who asked.
template <typename T> Expected<T> wantedBy(const char *what, Expected<T> made) {
  if (made.ok() || made.status().kind() != ErrorKind::kMemory) {
    return made;
  }
  return makeError(ErrorKind::kMemory, what, ": ", made.status().message());
}

/// Whether rows pass a task as they come: it fills no state.
bool looksUpOnly(const plan::Task &task) {
  return std::all_of(
      task.states().begin(), task.states().end(),
      [](const plan::StateArgument &state) { return state.use == plan::StateUse::kShared; });
}

/// States that stay at least until the task has ended.
std::vector<int32_t> statesHeld(const plan::Task &task) {
  std::vector<int32_t> held;
  if (const auto *reserve = task.as<plan::ReserveTask>()) {
    held.push_back(reserve->state);
  }
  if (task.sourceState() != plan::kNone) {
    held.push_back(task.sourceState());
  }
  for (const plan::StateArgument &argument : task.states()) {
    held.push_back(argument.state);
  }
  return held;
}

} // namespace

// ---- what tasks ask of the context ----

JobOptions RankContext::jobOf(int32_t task) const {
  return {.name = plan->tasks[task].name,
          .owner = owner,
          .precedence = precedences[task],
          .doorbell = doorbell};
}

std::string RankContext::operationOf(int32_t task) const {
  const plan::Task &described = plan->tasks[task];
  if (described.place != plan::kNone && !plan->places[described.place].operation.empty()) {
    return plan->places[described.place].operation;
  }
  return described.name.empty() ? plan::nameOf(described.kind()) : described.name;
}

std::string RankContext::placeOf(int32_t task) const {
  int32_t place = plan->tasks[task].place;
  return place == plan::kNone ? std::string() : plan->places[place].text;
}

primitives::KeyInterval RankContext::placesAlong(std::span<const int32_t> axes) const {
  const plan::GroupPlace group = place.along(axes);
  return group.count == size ? keyShares->placesOf(group.index)
                             : primitives::equalInterval(group.index, group.count);
}

Expected<std::shared_ptr<MemoryAccount>> RankContext::openAccount(int32_t task) const {
  ReservationRequest request;
  request.operatorName = operationOf(task);
  request.task = TaskId(static_cast<uint32_t>(task));
  request.place = placeOf(task);
  return MemoryAccount::open(memory, request);
}

// ---- set-up ----

Expected<std::unique_ptr<Rank>> Rank::create(RankContext context, Transport &transport) {
  std::unique_ptr<Rank> rank(new Rank(std::move(context)));
  HR_RETURN_IF_ERROR(rank->openBoard(transport));
  if (Status prepared = rank->prepare(); !prepared.ok()) {
    rank->board_->raise(prepared); // and settle, as the others do
  }
  return rank;
}

Rank::~Rank() { close(); }

void Rank::close() {
  if (!context_.transport) {
    return;
  }
  context_.memory->budget.unwatch(context_.doorbell);
  dropTasks();
  context_.states.clear();
  communicators_.clear();
  context_.sharing.reset();
  if (board_) {
    failure_ = board_->poison();
  }
  board_.reset();
  context_.transport->setDoorbell(nullptr);
  context_.transport = nullptr;
}

Status Rank::openBoard(Transport &transport) {
  context_.memory->budget.watch(context_.doorbell);
  transport.setDoorbell(context_.doorbell);
  context_.transport = &transport;
  HR_ASSIGN_OR_RETURN(board_, wantedBy("failure messages",
                                       PoisonBoard::open(transport, *context_.memory->blocks,
                                                         context_.doorbell, context_.heartbeat)));
  context_.board = board_.get();
  return {};
}

Status Rank::prepare() {
  const plan::Plan &plan = *context_.plan;
  for (size_t t = 0; t < plan.tasks.size(); ++t) {
    context_.counters.push_back(std::make_unique<TaskCounters>());
  }
  tasks_.resize(plan.tasks.size());
  tasksLeft_ = tasks_.size();
  fitPools();
  fitChunks();
  HR_RETURN_IF_ERROR(openCommunicators());
  HR_RETURN_IF_ERROR(openSharing());
  context_.buffers.resize(plan.buffers.size());
  context_.rowCounts.resize(plan.buffers.size());
  bufferUsersLeft_ = plan::usersOfBuffers(plan);
  for (const plan::Task &task : plan.tasks) {
    for (int32_t inner : task.body()) {
      tasks_[inner].enabled = false;
    }
  }
  for (const plan::Task &task : plan.tasks) {
    const auto *exchange = task.as<plan::ExchangeTask>();
    if (exchange && isPaired(*exchange, context_.place.along(exchange->axes))) {
      const uint32_t members = context_.place.along(exchange->axes).count;
      context_.skewPairs.try_emplace(
          exchange->pair, std::make_shared<SkewPair>(members == context_.size
                                                         ? context_.keyShares
                                                         : std::make_shared<KeyShares>(members)));
    }
  }
  HR_RETURN_IF_ERROR(prepareStreams());
  return prepareStates();
}

/// The pools of exchanges and of collectives each take at most this part of the limit together:
/// their buffers are smaller where memory is, but not below the least, and then fewer. The same on
/// all ranks.
static constexpr int64_t kPoolsPart = 8;
static constexpr int64_t kPoolBufferBytesMin = 16 << 10;
/// What agreements on a number of rows need.
static constexpr int64_t kAgreementBufferBytes = 4 << 10;

void Rank::fitPools() {
  const plan::Plan &plan = *context_.plan;
  ExchangeSettings &exchanges = context_.exchange;
  exchanges.buffersAPeer = exchanges.window;
  int64_t members = 0;
  auto exchangeBuffers = [&] {
    int64_t buffers = 0;
    for (const plan::Task &task : plan.tasks) {
      if (const auto *exchange = task.as<plan::ExchangeTask>()) {
        // At the first place, where they are most, so that all ranks find the same.
        const plan::GroupPlace first{0, context_.place.along(exchange->axes).count};
        const ExchangePools pools = ExchangePools::of(*exchange, first, exchanges);
        buffers += pools.sendBuffers + pools.receiveBuffers;
      }
    }
    return buffers;
  };
  for (const plan::Task &task : plan.tasks) {
    if (const auto *collective = task.as<plan::CollectiveTask>()) {
      members = std::max<int64_t>(members, context_.place.along(collective->axes).count);
    }
  }
  const int64_t own = context_.memory->budget.limitBytes();
  const int64_t least = context_.leastMemoryBytes > 0 ? context_.leastMemoryBytes : own;
  const int64_t share = std::min(own, least) / kPoolsPart;
  auto fitted = [&](int64_t wanted, int64_t buffers) {
    const int64_t room = share / std::max<int64_t>(buffers, 1) / 4096 * 4096;
    return std::min(wanted, std::max(room, kPoolBufferBytesMin));
  };
  exchanges.bufferBytes = fitted(exchanges.bufferBytes, exchangeBuffers());
  while (exchanges.buffersAPeer > 1 && exchangeBuffers() * exchanges.bufferBytes > share) {
    --exchanges.buffersAPeer;
  }
  context_.collective.bufferBytes =
      members == 0
          ? kAgreementBufferBytes
          : fitted(context_.collective.bufferBytes, (2 + context_.collective.window) * members);
}

/// Parts of the limit that all run tasks, which may be under way at once, and one of them fill.
void Rank::fitChunks() {
  constexpr int64_t kPart = 4, kPartOfTask = 16;
  const int64_t fillers = std::ranges::count_if(context_.plan->tasks, [](const plan::Task &task) {
    return task.as<plan::RunTask>() && task.outputStream() != plan::kNone;
  });
  context_.filledBytes =
      context_.memory->budget.limitBytes() / std::max(kPartOfTask, kPart * fillers);
}

/// Every rank meets the same axes in the same order, which numbers the channels.
Status Rank::openCommunicators() {
  const plan::Plan &plan = *context_.plan;
  const std::vector<int32_t> all = plan::allAxes(plan);
  for (const plan::Task &task : plan.tasks) {
    const auto *collective = task.as<plan::CollectiveTask>();
    const auto *choose = task.as<plan::ChooseTask>();
    bool agrees = choose && plan.holes[choose->hole].agreed;
    if (!collective && !agrees) {
      continue;
    }
    const std::vector<int32_t> &axes = collective ? collective->axes : all;
    if (context_.communicators.contains(axes) || context_.place.along(axes).count == 1) {
      continue;
    }
    CommunicatorOptions options;
    options.channel =
        ChannelId(kFirstCommunicatorChannel + static_cast<uint32_t>(communicators_.size()));
    options.members = context_.place.group(axes);
    options.checksums = context_.exchange.checksums;
    options.bufferBytes = context_.collective.bufferBytes;
    options.window = context_.collective.window;
    options.doublingBytesMax = context_.collective.treeBytesMax;
    HR_ASSIGN_OR_RETURN(
        auto communicator,
        wantedBy("collectives",
                 Communicator::open(*context_.transport, *board_, *context_.memory->blocks,
                                    context_.doorbell, std::move(options))));
    context_.communicators[axes] = communicator.get();
    communicators_.push_back(std::move(communicator));
  }
  return {};
}

Communicator *Rank::communicatorOfAll() const {
  return context_.communicatorOver(plan::allAxes(*context_.plan));
}

Status Rank::prepareStreams() {
  const plan::Plan &plan = *context_.plan;
  context_.loadOfStream.assign(plan.streams.size(), plan::kNone);
  context_.streamOrders.assign(plan.streams.size(), StreamOrder::kNone);
  context_.drainedStreams.assign(plan.streams.size(), 0);
  for (const plan::Stream &stream : plan.streams) {
    context_.streams.push_back(
        std::make_shared<ChunkStream>(stream.capacityChunks, context_.doorbell, stream.writers));
    context_.partedStreams.emplace_back();
    if (stream.parts != 0) {
      HR_ASSIGN_OR_RETURN(
          auto account,
          MemoryAccount::open(context_.memory, {.operatorName = "rows of " + stream.name}));
      HR_ASSIGN_OR_RETURN(context_.partedStreams.back(),
                          PartedStream::open(stream, std::move(account)));
    }
  }
  for (size_t t = 0; t < plan.tasks.size(); ++t) {
    if (const auto *load = plan.tasks[t].as<plan::LoadTask>()) {
      context_.loadOfStream[load->outputStream] = static_cast<int32_t>(t);
    }
  }
  // Streams whose rows come out as they are: without a state on the way to who sees their order.
  std::vector<char> shown(plan.streams.size(), 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (const plan::Task &task : plan.tasks) {
      const int32_t from = task.inputStream(), to = task.outputStream();
      const bool isSeen = task.as<plan::ResultTask>() || task.as<plan::ToTensorTask>() ||
                          (to != plan::kNone && shown[to] && looksUpOnly(task));
      if (from != plan::kNone && isSeen && !shown[from]) {
        changed = shown[from] = 1;
      }
    }
  }
  // An order begins at a sorted state, at a table, or where parts come together, and goes on
  // through tasks.
  std::vector<StreamOrder> &orders = context_.streamOrders;
  for (bool changed = true; changed;) {
    changed = false;
    for (const plan::Task &task : plan.tasks) {
      const int32_t to = task.outputStream();
      // Rows that wait in parts come out in another order.
      if (to == plan::kNone || orders[to] != StreamOrder::kNone || plan.streams[to].parts != 0) {
        continue;
      }
      if (plan.streams[to].writers > 1) {
        orders[to] = shown[to] ? StreamOrder::kAllRanks : StreamOrder::kNone;
      } else if (const auto *run = task.as<plan::RunTask>();
                 run && run->sourceState != plan::kNone) {
        bool sorted = plan.states[run->sourceState].kind == plan::StateKind::kSortBuffer;
        orders[to] = !sorted     ? StreamOrder::kNone
                     : shown[to] ? StreamOrder::kAllRanks // ranks may have a range of it each
                                 : StreamOrder::kOneRank;
      } else if (run) {
        orders[to] = orders[run->inputStream];
      } else if (const auto *exchange = task.as<plan::ExchangeTask>()) {
        bool stored = orders[exchange->inputStream] == StreamOrder::kAllRanks;
        orders[to] = stored ? StreamOrder::kAllRanks : StreamOrder::kNone;
      } else if (task.as<plan::LoadTask>()) {
        orders[to] = shown[to] ? StreamOrder::kAllRanks : StreamOrder::kNone;
      }
      changed |= orders[to] != StreamOrder::kNone;
    }
  }
  return {};
}

Status Rank::prepareStates() {
  const plan::Plan &plan = *context_.plan;
  context_.fillersLeft.assign(plan.states.size(), 0);
  context_.roundStates = plan::statesOfRounds(plan);
  context_.comesAgain.assign(plan.tasks.size(), 0);
  usersLeft_.assign(plan.states.size(), 0);
  for (size_t s = 0; s < plan.states.size(); ++s) {
    HR_ASSIGN_OR_RETURN(auto state,
                        RankState::create(plan, static_cast<int32_t>(s), context_.memory));
    context_.states.push_back(std::move(state));
  }
  for (const plan::Task &task : plan.tasks) {
    for (int32_t state : statesHeld(task)) {
      ++usersLeft_[state];
    }
    for (const plan::StateArgument &argument : task.states()) {
      context_.fillersLeft[argument.state] += argument.use == plan::StateUse::kPerWorker;
    }
  }
  return {};
}

// ---- tasks ----

bool Rank::ready(size_t task) const {
  const plan::Task &value = described(task);
  if (!tasks_[task].enabled) {
    return false;
  }
  for (int32_t before : value.after) {
    if (!ended(before)) {
      return false;
    }
  }
  // A run reads its load's morsels itself, once the load may start.
  if (const auto *run = value.as<plan::RunTask>(); run && run->inputStream != plan::kNone) {
    int32_t load = context_.loadOfStream[run->inputStream];
    return load == plan::kNone || tasks_[load].phase != TaskPhase::kWaiting;
  }
  return true;
}

Status Rank::startTask(size_t task) {
  TaskState &state = tasks_[task];
  auto index = static_cast<int32_t>(task);
  state.phase = TaskPhase::kRunning;
  state.startNanoseconds = context_.clock->nowNanoseconds();
  log(LogLevel::kDebug, "rank ", context_.rank, " starts task ", task, " ", described(task).name,
      context_.onGpu(static_cast<int32_t>(task)) ? " on the GPU" : "");
  switch (described(task).kind()) {
  case plan::TaskKind::kRun:
    state.runner =
        context_.onGpu(index) ? makeDeviceRunTask(context_, index) : makeRunTask(context_, index);
    break;
  case plan::TaskKind::kExchange:
    state.runner = makeExchangeTask(context_, index);
    break;
  case plan::TaskKind::kResult:
    state.runner = makeResultTask(context_, index);
    break;
  case plan::TaskKind::kCollective:
    state.runner = makeCollectiveTask(context_, index);
    break;
  case plan::TaskKind::kCompute:
    state.runner = makeComputeTask(context_, index);
    break;
  case plan::TaskKind::kToTensor:
    state.runner = makeToTensorTask(context_, index);
    break;
  case plan::TaskKind::kInput:
    state.runner = makeInputTask(context_, index);
    break;
  case plan::TaskKind::kChoose: {
    const plan::Hole &hole = context_.plan->holes[described(task).as<plan::ChooseTask>()->hole];
    state.holeValue = holeValue(hole);
    if (Communicator *all = hole.agreed ? communicatorOfAll() : nullptr) {
      state.agreement = all->allReduce(&state.holeValue, 1, ElementType::kInt64, ReduceOp::kSum);
    }
    break;
  }
  case plan::TaskKind::kReserve:
    return reserve(*described(task).as<plan::ReserveTask>());
  case plan::TaskKind::kRepeat:
    state.rounds = planRounds(*described(task).as<plan::RepeatTask>());
    return startRound(task);
  case plan::TaskKind::kLoad:         // by the run that reads its morsels
  case plan::TaskKind::kRelease:      // the state goes with the last task that uses it
  case plan::TaskKind::kTensorResult: // the program takes the buffer in the end
    break;
  }
  return state.runner ? state.runner->start() : Status();
}

/// Refused at once rather than put off: who holds the memory may wait for this very task.
Status Rank::reserve(const plan::ReserveTask &reserve) {
  if (context_.gpu && context_.plan->states[reserve.state].tier == Tier::kDevice) {
    return {}; // by the task that fills it, which knows how much it is
  }
  return context_.states[reserve.state]->reserve(static_cast<int64_t>(reserve.bytes.min));
}

int64_t Rank::holeValue(const plan::Hole &hole) const {
  const TaskCounters &counters = *context_.counters[hole.producer];
  const plan::Task &producer = described(hole.producer);
  if (producer.outputStream() != plan::kNone) {
    return counters.rowsOut;
  }
  for (const plan::StateArgument &argument : producer.states()) {
    if (argument.use == plan::StateUse::kPerWorker && context_.states[argument.state]) {
      return static_cast<int64_t>(context_.states[argument.state]->rowCount());
    }
  }
  return counters.rowsIn;
}

void Rank::skip(int32_t task) {
  for (int32_t inner : described(task).body()) {
    skip(inner);
  }
  for (const plan::StateArgument &argument : described(task).states()) {
    context_.fillersLeft[argument.state] -= argument.use == plan::StateUse::kPerWorker;
  }
  endTask(task, TaskPhase::kSkipped);
  // A stream that no other branch will fill is empty.
  int32_t stream = described(task).outputStream();
  bool filled = stream == plan::kNone;
  for (size_t t = 0; t < tasks_.size(); ++t) {
    filled |= described(t).outputStream() == stream && tasks_[t].phase != TaskPhase::kSkipped;
  }
  if (!filled) {
    context_.streams[stream]->close();
  }
}

Expected<PollState> Rank::pollChoose(size_t task) {
  TaskState &state = tasks_[task];
  if (!state.decided) {
    if (state.agreement.valid()) {
      PollState agreed = state.agreement.poll();
      if (agreed == PollState::kFailed) {
        return state.agreement.status();
      }
      if (agreed == PollState::kPending) {
        return agreed;
      }
    }
    state.decided = true;
    const auto &choose = *described(task).as<plan::ChooseTask>();
    bool few = static_cast<uint64_t>(state.holeValue) <= choose.threshold;
    state.body = few ? choose.thenTasks : choose.elseTasks;
    for (int32_t chosen : state.body) {
      tasks_[chosen].enabled = true;
    }
    for (int32_t other : few ? choose.elseTasks : choose.thenTasks) {
      skip(other);
    }
  }
  for (int32_t chosen : state.body) {
    if (!ended(chosen)) {
      return PollState::kPending;
    }
  }
  return PollState::kDone;
}

Expected<PollState> Rank::pollTask(size_t task) {
  TaskState &state = tasks_[task];
  if (state.runner) {
    PollState polled = state.runner->poll();
    if (polled == PollState::kFailed) {
      return state.runner->status();
    }
    return polled;
  }
  switch (described(task).kind()) {
  case plan::TaskKind::kLoad:
    return context_.drainedStreams[described(task).outputStream()] ? PollState::kDone
                                                                   : PollState::kPending;
  case plan::TaskKind::kChoose:
    return pollChoose(task);
  case plan::TaskKind::kRepeat:
    return pollRepeat(task);
  default:
    return PollState::kDone;
  }
}

void Rank::endTask(size_t task, TaskPhase phase) {
  TaskState &state = tasks_[task];
  state.phase = phase;
  state.endNanoseconds = context_.clock->nowNanoseconds();
  trace(task, nullptr);
  state.runner.reset();
  --tasksLeft_;
  leaveStates(task);
  for (std::span<const int32_t> used : {described(task).inputs(), described(task).outputs()}) {
    for (int32_t buffer : used) {
      if (--bufferUsersLeft_[buffer] == 0) {
        context_.buffers[buffer].reset();
      }
    }
  }
}

// ---- rounds ----

/// Of what there is, for the states of a round: the rest is for blocks that are not full, and what
/// their readers make.
static constexpr double kRoundRoom = 0.5;

std::vector<PartRange> Rank::planRounds(const plan::RepeatTask &repeat) const {
  const plan::Plan &plan = *context_.plan;
  std::vector<uint64_t> bytes; // by part: of the states that its rows fill
  for (int32_t inner : repeat.tasks) {
    const plan::Task &task = plan.tasks[inner];
    const int32_t input = task.inputStream();
    if (input == plan::kNone || !context_.partedStreams[input]) {
      continue;
    }
    const PartedStream &rows = *context_.partedStreams[input];
    bytes.resize(rows.parts());
    for (const plan::StateArgument &argument : task.states()) {
      if (argument.use != plan::StateUse::kPerWorker || !context_.roundStates[argument.state]) {
        continue;
      }
      for (uint32_t part = 0; part < rows.parts(); ++part) {
        const PartedStream::Amount amount = rows.amount(part);
        bytes[part] +=
            rowsBytes(plan.states[argument.state], amount.rows, context_.lanes) + amount.textBytes;
      }
    }
  }
  const double room = static_cast<double>(context_.memory->roomBytes()) * kRoundRoom;
  return roundsOf(bytes, std::min(repeat.roomBytes, static_cast<uint64_t>(std::max(0.0, room))));
}

Status Rank::startRound(size_t task) {
  TaskState &state = tasks_[task];
  const plan::Plan &plan = *context_.plan;
  const auto &repeat = *described(task).as<plan::RepeatTask>();
  const bool last = state.round + 1 == state.rounds.size();
  for (int32_t inner : repeat.tasks) {
    const int32_t input = described(inner).inputStream();
    if (input != plan::kNone && context_.partedStreams[input]) {
      context_.partedStreams[input]->openRound(state.rounds[state.round]);
    }
    context_.comesAgain[inner] = !last;
    tasks_[inner].enabled = true;
    if (state.round == 0) {
      continue;
    }
    tasks_[inner].phase = TaskPhase::kWaiting;
    ++tasksLeft_;
    for (int32_t held : statesHeld(described(inner))) {
      usersLeft_[held] += context_.roundStates[held];
    }
    for (const plan::StateArgument &argument : described(inner).states()) {
      const int32_t filled = argument.state;
      if (argument.use == plan::StateUse::kPerWorker && context_.roundStates[filled]) {
        ++context_.fillersLeft[filled];
        HR_ASSIGN_OR_RETURN(context_.states[filled],
                            RankState::create(plan, filled, context_.memory));
      }
    }
  }
  return {};
}

Expected<PollState> Rank::pollRepeat(size_t task) {
  TaskState &state = tasks_[task];
  for (int32_t inner : described(task).as<plan::RepeatTask>()->tasks) {
    if (!ended(inner)) {
      return PollState::kPending;
    }
  }
  if (++state.round == state.rounds.size()) {
    context_.counters[task]->morsels = static_cast<int64_t>(state.rounds.size());
    return PollState::kDone;
  }
  HR_RETURN_IF_ERROR(startRound(task));
  return PollState::kPending;
}

const char *Rank::waitsFor(size_t task) const {
  if (tasks_[task].runner) {
    return tasks_[task].runner->waitsFor();
  }
  return described(task).as<plan::ChooseTask>() ? "the tasks of its choice" : nullptr;
}

/// What the task waits for from now on (null: nothing); at its end also the task itself.
void Rank::trace(size_t task, const char *wait) {
  Track *track = context_.taskTrack(static_cast<int32_t>(task));
  TaskState &state = tasks_[task];
  bool endedNow = state.phase == TaskPhase::kDone;
  if (!track || (wait == state.wait && !endedNow)) {
    return;
  }
  int64_t now = context_.clock->nowNanoseconds();
  TaskId id(static_cast<uint32_t>(task));
  if (state.wait) {
    track->add({state.wait, SpanKind::kWait, id, state.waitStartNanoseconds, now, 0, 0});
  }
  state.wait = wait;
  state.waitStartNanoseconds = now;
  if (endedNow) {
    const TaskCounters &counters = *context_.counters[task];
    track->add({described(task).name.c_str(), SpanKind::kPhase, id, state.startNanoseconds, now,
                std::max<int64_t>(counters.rowsIn, counters.rowsOut), counters.bytes});
  }
}

void Rank::leaveStates(size_t task) {
  for (int32_t state : statesHeld(described(task))) {
    if (context_.comesAgain[task] && !context_.roundStates[state]) {
      continue;
    }
    if (--usersLeft_[state] == 0) {
      context_.states[state].reset();
    }
  }
}

void Rank::advanceTasks() {
  for (bool changed = true; changed && !board_->poisoned();) {
    changed = false;
    for (size_t t = 0; t < tasks_.size(); ++t) {
      TaskState &state = tasks_[t];
      Status failure;
      if (state.phase == TaskPhase::kWaiting && ready(t)) {
        failure = startTask(t);
        changed = true;
      }
      if (failure.ok() && state.phase == TaskPhase::kRunning) {
        Expected<PollState> polled = pollTask(t);
        if (!polled.ok()) {
          failure = polled.status();
        } else if (*polled == PollState::kDone) {
          endTask(t, TaskPhase::kDone);
          changed = true;
        } else if (!context_.taskTracks.empty()) {
          trace(t, waitsFor(t));
        }
      }
      if (!failure.ok()) {
        board_->raise(failure.at(context_.placeOf(static_cast<int32_t>(t))),
                      TaskId(static_cast<uint32_t>(t)),
                      state.runner ? state.runner->failedRow() : -1);
        return;
      }
    }
  }
}

void Rank::dropTasks() {
  for (TaskState &state : tasks_) {
    state.runner.reset();
  }
  for (TaskState &state : tasks_) {
    state.agreement = Collective();
  }
  context_.streams.clear();
  context_.partedStreams.clear();
}

PollState Rank::poll() {
  if (phase_ == Phase::kRunning) {
    board_->poll();
    pollSharing();
    for (const std::unique_ptr<Communicator> &communicator : communicators_) {
      communicator->poll();
    }
    advanceTasks();
    if (!board_->poisoned() && (tasksLeft_ > 0 || !endSharing())) {
      return PollState::kPending;
    }
    dropTasks();
    phase_ = Phase::kSettling;
  }
  if (phase_ == Phase::kSettling) {
    switch (board_->settle()) {
    case PollState::kPending:
      return PollState::kPending;
    case PollState::kDone:
      phase_ = Phase::kDone;
      break;
    case PollState::kFailed:
      phase_ = Phase::kFailed;
      break;
    }
  }
  return phase_ == Phase::kDone ? PollState::kDone : PollState::kFailed;
}

bool Rank::mustBeAsked() const {
  return std::ranges::any_of(
      tasks_, [](const TaskState &state) { return state.runner && state.runner->mustBeAsked(); });
}

void Rank::cancel(const std::string &reason) {
  if (phase_ == Phase::kRunning) {
    board_->cancel(reason);
  }
}

void Rank::checkLinks() {
  if (phase_ == Phase::kRunning) {
    for (int peer = 0; peer < context_.transport->size() && context_.transport->mayBeDown();
         ++peer) {
      board_->raise(context_.transport->peerStatus(peer));
    }
  }
}

Status Rank::status(Origin origin) const {
  std::optional<Poison> poison = board_ ? board_->poison() : failure_;
  if (!poison) {
    return {};
  }
  return origin == Origin::kLeftOut
             ? poison->status()
             : Status(poison->kind,
                      context_.transport->peerName(poison->rank) + ": " + poison->message,
                      poison->place);
}

void Rank::addProgress(Progress &progress) const {
  progress.tasks += tasks_.size();
  progress.tasksEnded += tasks_.size() - tasksLeft_;
  for (size_t t = 0; t < tasks_.size(); ++t) {
    progress.rows += context_.counters[t]->rowsIn;
    plan::TaskKind kind = described(t).kind();
    bool works = kind == plan::TaskKind::kRun || kind == plan::TaskKind::kCompute ||
                 kind == plan::TaskKind::kToTensor || kind == plan::TaskKind::kCollective;
    if (works && tasks_[t].phase == TaskPhase::kRunning && progress.running.empty()) {
      progress.running = described(t).name;
    }
  }
}

void Rank::addProfile(Profile &profile, int64_t startNanoseconds) const {
  auto seconds = [](int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; };
  for (size_t t = 0; t < tasks_.size(); ++t) {
    const plan::Task &task = described(t);
    if (tasks_[t].phase != TaskPhase::kDone) {
      continue;
    }
    TaskProfile entry;
    entry.rank = static_cast<int>(context_.rank);
    entry.task = static_cast<int32_t>(t);
    entry.name = task.name;
    entry.kind = plan::nameOf(task.kind());
    entry.startSeconds = seconds(tasks_[t].startNanoseconds - startNanoseconds);
    entry.endSeconds = seconds(tasks_[t].endNanoseconds - startNanoseconds);
    context_.counters[t]->report(entry);
    if (const auto *run = task.as<plan::RunTask>(); run && run->inputStream != plan::kNone) {
      addSharing(entry, context_.loadOfStream[run->inputStream]);
    }
    if (const auto *choose = task.as<plan::ChooseTask>()) {
      entry.chosenBy = tasks_[t].holeValue;
      entry.atMost = choose->threshold;
      entry.way = static_cast<uint64_t>(entry.chosenBy) <= choose->threshold ? "few" : "many";
    }
    profile.tasks.push_back(std::move(entry));
  }
}

} // namespace headrace::exec
