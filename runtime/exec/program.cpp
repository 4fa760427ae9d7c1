// Load checks, and the loops that poll the ranks of a run, on the real or a simulated network.
#include "runtime/exec/program.h"

#include "model/plan/check.h"
#include "model/plan/names.h"
#include "model/plan/precedence.h"
#include "runtime/base/check.h"
#include "runtime/base/log.h"
#include "runtime/base/random.h"
#include "runtime/base/readable.h"
#include "runtime/base/temporary_space.h"
#include "runtime/exec/gpu/gpu_context.h"
#include "runtime/exec/rank.h"
#include "runtime/exec/skew/key_shares.h"
#include "runtime/primitives/dispatch/isa.h"
#include "runtime/transport/loopback.h"

#include <algorithm>

namespace headrace::exec {
namespace {

/// "1 rank", "2 ranks".
std::string counted(int64_t number, const char *what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

constexpr int64_t kInterruptNanoseconds = 50'000'000;
constexpr int64_t kProgressNanoseconds = 500'000'000;
/// Of a simulation: for each so many pairs of ranks one more message may arrive between two polls.
constexpr size_t kPairsAStep = 4096;
/// Between two questions to a GPU.
constexpr int64_t kAskNanoseconds = 20'000;
Status checkProcessor(const plan::Plan &plan) {
  using primitives::Isa;
  for (Isa isa : {Isa::kBaseline, Isa::kV3, Isa::kV4}) {
    if (plan.isa == primitives::isaName(isa)) {
      return isa <= primitives::detectIsa()
                 ? Status()
                 // no test: it takes an older processor than that of the tests
                 : makeError(ErrorKind::kMismatch, "this processor does not run kernels for ",
                             plan.isa, ", only up to ",
                             primitives::isaName(primitives::detectIsa()));
    }
  }
  return {};
}

Status checkBuilt(const plan::Plan &plan) {
  for (size_t t = 0; t < plan.tasks.size(); ++t) {
    if (plan.tasks[t].device != plan::Device::kCpu && !plan.tasks[t].as<plan::RunTask>()) {
      return makeError(ErrorKind::kUnsupported,
                       "this runtime runs only kernels over rows on GPUs, got: ",
                       plan::describeTask(plan, static_cast<int32_t>(t)));
    }
  }
  return {};
}

bool usesGpu(const plan::Plan &plan) {
  return std::ranges::any_of(
      plan.tasks, [](const plan::Task &task) { return task.device == plan::Device::kGpu; });
}

/// One run: the ranks of this process and the thread that polls them.
class Run {
public:
  /// `gpu`: null if the CPU runs all tasks.
  Run(const plan::Plan &plan, const std::vector<std::unique_ptr<KernelCall>> &kernels,
      std::shared_ptr<GpuKernels> gpu, Session &session, const Bindings &bindings,
      const RunOptions &options)
      : plan_(plan), kernels_(kernels), gpu_(std::move(gpu)), session_(session),
        bindings_(bindings), options_(options),
        telemetry_(options.simulation ? virtualClock_ : *options.clock,
                   {.spansMax = options.traceEventsMax}),
        precedences_(options.simulation ? std::vector<int32_t>(plan.tasks.size(), 0)
                                        : plan::precedences(plan)) {}

  ~Run() {
    for (size_t r = 0; r < ranks_.size(); ++r) {
      ranks_[r]->close();
      if (!owned_.empty()) {
        owned_[r].reset();
      }
    }
    network_.reset(); // with the messages under way: their buffers are of the ranks' pools
    session_.endRun();
  }

  Expected<RunResult> runAll() {
    owned_ = makeTransports();
    std::vector<Transport *> transports;
    for (const std::unique_ptr<Transport> &transport : owned_) {
      transports.push_back(transport.get());
    }
    return run(transports);
  }

  /// `transports`: those of the ranks of this process.
  Expected<RunResult> run(const std::vector<Transport *> &transports) {
    int64_t start = clock().nowNanoseconds();
    log(LogLevel::kInfo, "run of ", counted(plan_.tasks.size(), "task"), " starts on ",
        counted(transports.front()->size(), "rank"), ", with ",
        counted(session_.pool().workers(), "worker"), " in this process");
    TemporarySpace::instance().use(options_.spill.directory, options_.spill.limitBytes);
    HR_RETURN_IF_ERROR(makeRanks(transports));
    HR_RETURN_IF_ERROR(options_.simulation ? simulateRanks() : pollRanks());
    RunResult result;
    collect(result);
    result.profile.wallSeconds = static_cast<double>(clock().nowNanoseconds() - start) * 1e-9;
    result.profile.ranks = static_cast<uint32_t>(transports.front()->size());
    result.profile.threads = static_cast<uint32_t>(session_.pool().workers());
    for (uint32_t rank = 0; !keyShares_->areEqual() && rank < keyShares_->ranks(); ++rank) {
      result.profile.keyShares.push_back(keyShares_->against(rank));
    }
    for (const std::unique_ptr<Rank> &rank : ranks_) {
      rank->addProfile(result.profile, start);
      result.profile.peakBytes.push_back(rank->peakBytes());
      result.profile.spilledBytes.push_back(rank->spilledBytes());
    }
    if (options_.tracing == Tracing::kOn) {
      result.traceJson = telemetry_.traceJson();
      if (int64_t dropped = telemetry_.droppedSpans(); dropped > 0) {
        log(LogLevel::kWarning, "events that the trace lacks (raise --trace-events): ", dropped);
      }
    }
    log(LogLevel::kInfo, "run of ", counted(plan_.tasks.size(), "task"), " on ",
        counted(result.profile.ranks, "rank"), " ended after ", result.profile.wallSeconds, " s");
    return result;
  }

  /// Whether it failed because a GPU had too little memory.
  bool gpuWasShort() const {
    return std::ranges::any_of(
        gpus_, [](const std::shared_ptr<GpuContext> &gpu) { return gpu->wasShort.load(); });
  }

private:
  Sharing sharing() const {
    return options_.determinism == Determinism::kFixed ? Sharing::kOff : options_.shareMorsels;
  }
  const Clock &clock() const { return options_.simulation ? virtualClock_ : *options_.clock; }

  std::vector<std::unique_ptr<Transport>> makeTransports() {
    auto ranks = static_cast<int>(options_.ranks);
    if (!options_.simulation) {
      return makeLoopback(ranks);
    }
    SimOptions simulation = *options_.simulation;
    simulation.size = ranks;
    network_ = std::make_unique<SimNetwork>(std::move(simulation), virtualClock_);
    std::vector<std::unique_ptr<Transport>> transports;
    for (int r = 0; r < ranks; ++r) {
      transports.push_back(network_->transport(r));
    }
    return transports;
  }

  Status makeRanks(const std::vector<Transport *> &transports) {
    const auto size = static_cast<uint32_t>(transports.front()->size());
    if (plan_.movableKeys && !options_.keyShares.empty() && sharing() == Sharing::kOn) {
      HR_CHECK(options_.keyShares.size() == size);
      keyShares_ = std::make_shared<const KeyShares>(options_.keyShares);
    } else {
      keyShares_ = std::make_shared<const KeyShares>(size);
    }
    auto workers = static_cast<size_t>(session_.pool().workers());
    size_t here = transports.size();
    for (Transport *transport : transports) {
      auto r = static_cast<uint32_t>(transport->rank());
      RankContext context;
      context.plan = &plan_;
      context.kernels = &kernels_;
      context.rank = r;
      context.size = static_cast<uint32_t>(transport->size());
      context.place.rank = r;
      HR_ASSIGN_OR_RETURN(context.place.sizes, plan::axisSizes(plan_, context.size));
      context.lanes = options_.determinism == Determinism::kFixed ? 1 : (workers + here - 1) / here;
      context.pool = &session_.pool();
      context.owner = this;
      context.precedences = precedences_;
      context.doorbell = options_.simulation
                             ? bells_.emplace_back(std::make_unique<Doorbell>()).get()
                             : &doorbell_;
      context.clock = &clock();
      context.memory = std::make_shared<RankMemory>(
          session_.blocks(),
          Budget::Options{Tier::kHost, session_.options().memoryBytes / static_cast<int64_t>(here),
                          kMemorySetting, session_.hostTier()},
          options_.spill);
      if (gpu_) {
        const std::shared_ptr<MemoryTier> &tier = gpu_->accelerator->tier();
        context.gpu = std::make_shared<GpuContext>(
            gpu_,
            Budget::Options{Tier::kDevice, tier->limitBytes() / static_cast<int64_t>(here),
                            kDeviceMemorySetting, tier},
            *session_.gpuMemory());
        gpus_.push_back(context.gpu);
      }
      context.exchange = options_.exchange;
      context.collective = options_.collective;
      context.heartbeat = {&clock(), silenceNanosecondsMax()};
      context.shareMorsels = sharing();
      context.leastMemoryBytes = options_.leastMemoryBytes;
      context.seed = options_.seed;
      context.keyShares = keyShares_;
      context.sources = &bindings_.tables;
      context.tensors = &bindings_.tensors;
      context.parts = &bindings_.parts;
      context.rankHere = ranks_.size();
      if (options_.tracing == Tracing::kOn) {
        addTracks(context, workers);
      }
      HR_ASSIGN_OR_RETURN(auto rank, Rank::create(std::move(context), *transport));
      ranks_.push_back(std::move(rank));
    }
    return {};
  }

  void addTracks(RankContext &context, size_t workers) {
    auto rank = static_cast<int>(context.rank);
    for (size_t t = 0; t < plan_.tasks.size(); ++t) {
      context.taskTracks.push_back(
          telemetry_.track(rank, "task " + std::to_string(t) + " " + plan_.tasks[t].name));
    }
    for (size_t w = 0; w < workers; ++w) {
      context.workerTracks.push_back(telemetry_.track(rank, "worker " + std::to_string(w)));
    }
  }

  int64_t silenceNanosecondsMax() const {
    return options_.simulation ? 0 : static_cast<int64_t>(options_.peerSilenceSecondsMax * 1e9);
  }

  /// How long a doorbell may be waited for; -1: until it rings.
  int64_t waitNanoseconds() const {
    bool alone = static_cast<size_t>(ranks_.front()->size()) == ranks_.size();
    int64_t beat = alone ? 0 : Heartbeat::intervalNanoseconds(silenceNanosecondsMax());
    int64_t asked = options_.interrupted || options_.progress ? kInterruptNanoseconds : 0;
    return beat > 0 && asked > 0 ? std::min(beat, asked) : beat + asked > 0 ? beat + asked : -1;
  }

  /// Whether it was time to ask.
  bool askWhetherToStop() {
    int64_t now = options_.clock->nowNanoseconds();
    if (now - lastAsked_ < kInterruptNanoseconds) {
      return false;
    }
    lastAsked_ = now;
    if (options_.interrupted && options_.interrupted()) {
      ranks_.front()->cancel(stoppedByUser().message());
    }
    return true;
  }

  /// Not killed by a simulation.
  bool isAlive(size_t rank) const { return !network_ || network_->alive(static_cast<int>(rank)); }

  /// Of a simulation: whether a rank does nothing now that it is its turn. One that has died gives
  /// up what it has under way; nobody hears of that.
  bool standsStill(int rank, Random &random) {
    if (!network_->alive(rank)) {
      ranks_[static_cast<size_t>(rank)]->cancel("died in the simulation");
      return false;
    }
    const SimOptions &simulation = *options_.simulation;
    return network_->isPaused(rank) ||
           (rank == simulation.slowRank && random.chance(simulation.idleProbability));
  }

  /// One thread: the seed draws the order of polls, and whether a morsel runs or a message arrives
  /// next. Of many ranks a few are polled at a time: those with news, after some messages.
  Status simulateRanks() {
    Random random(options_.simulation->seed);
    const size_t stepsMax = 1 + ranks_.size() * ranks_.size() / kPairsAStep;
    std::vector<PollState> states(ranks_.size(), PollState::kPending);
    std::vector<char> news(ranks_.size(), 1);
    bool lastResort = false; // all were polled though nothing was under way
    while (true) {
      std::vector<size_t> ready;
      bool pending = false, stoodStill = false;
      for (size_t r = 0; r < ranks_.size(); ++r) {
        if (states[r] != PollState::kPending) {
          continue;
        }
        pending = true;
        news[r] |= bells_[r]->consume() || !isAlive(r);
        if (news[r]) {
          ready.push_back(r);
        }
      }
      if (!pending) {
        return simulationEnded(states);
      }
      for (size_t left = ready.size(); left > 0; --left) {
        std::swap(ready[random.below(left)], ready[left - 1]);
        size_t r = ready[left - 1];
        if (standsStill(static_cast<int>(r), random)) {
          stoodStill = true;
          continue;
        }
        news[r] = 0;
        states[r] = ranks_[r]->poll();
      }
      askWhetherToStop();
      bool moved = false;
      for (size_t left = 1 + random.below(stepsMax); left > 0; --left) {
        bool messageFirst = random.chance(0.5);
        bool step = messageFirst && network_->advance();
        moved |= step || session_.pool().runOne() || (!messageFirst && network_->advance());
      }
      if (moved || stoodStill || !ready.empty()) {
        lastResort &= !moved;
      } else if (lastResort) {
        return makeError(ErrorKind::kInternal,
                         "hang: ranks wait, and no morsel and no message is under way");
      } else {
        lastResort = true;
        std::ranges::fill(news, 1);
      }
    }
  }

  Status simulationEnded(const std::vector<PollState> &states) const {
    for (size_t r = 0; r < states.size(); ++r) {
      if (states[r] == PollState::kFailed && isAlive(r)) {
        return firstFailure();
      }
    }
    return isAlive(0) ? Status() : makeError(ErrorKind::kIo, "rank 0 died in the simulation");
  }

  Status pollRanks() {
    int64_t lastTold = options_.clock->nowNanoseconds();
    while (true) {
      bool pending = false;
      bool failed = false;
      for (const std::unique_ptr<Rank> &rank : ranks_) {
        PollState state = rank->poll();
        pending |= state == PollState::kPending;
        failed |= state == PollState::kFailed;
      }
      if (!pending) {
        return failed ? firstFailure() : Status();
      }
      if (askWhetherToStop()) {
        for (const std::unique_ptr<Rank> &rank : ranks_) {
          rank->checkLinks();
        }
      }
      if (options_.progress &&
          options_.clock->nowNanoseconds() - lastTold >= kProgressNanoseconds) {
        lastTold = options_.clock->nowNanoseconds();
        Progress progress;
        for (const std::unique_ptr<Rank> &rank : ranks_) {
          rank->addProgress(progress);
        }
        options_.progress(progress);
      }
      if (session_.options().threads == 0 && session_.pool().runOne()) {
        continue;
      }
      bool asked = std::ranges::any_of(
          ranks_, [](const std::unique_ptr<Rank> &rank) { return rank->mustBeAsked(); });
      doorbell_.wait(asked ? kAskNanoseconds : waitNanoseconds());
    }
  }

  /// All ranks agree on it; one that heard of it late has it all the same.
  Status firstFailure() const {
    for (size_t r = 0; r < ranks_.size(); ++r) {
      Status status = isAlive(r) ? ranks_[r]->status(options_.origin) : Status();
      if (!status.ok()) {
        return status;
      }
    }
    // no test: who fails raises why
    return makeError(ErrorKind::kInternal, "a rank failed without a reason");
  }

  void collect(RunResult &result) {
    collectTensors(result);
    if (plan_.resident && plan_.result.columns.empty()) {
      return; // tensors
    }
    if (plan_.resident) {
      for (const std::unique_ptr<Rank> &rank : ranks_) {
        result.parts.push_back(rank->takeResult());
      }
    } else {
      result.table = ranks_.front()->takeResult();
    }
  }

  /// Tasks end in any order, results have the order of the plan; one buffer may be several results.
  void collectTensors(RunResult &result) {
    std::map<int32_t, std::vector<std::shared_ptr<TensorBuffer>>> taken; // of the ranks that count
    for (const plan::Task &task : plan_.tasks) {
      const auto *asked = task.as<plan::TensorResultTask>();
      if (!asked) {
        continue;
      }
      std::vector<std::shared_ptr<TensorBuffer>> &tensors = taken[asked->buffer];
      for (size_t r = tensors.size(); r < (plan_.resident ? ranks_.size() : 1); ++r) {
        tensors.push_back(ranks_[r]->takeBuffer(asked->buffer));
      }
      const plan::Buffer &buffer = plan_.buffers[asked->buffer];
      const std::shared_ptr<TensorBuffer> &first = tensors.front();
      TensorResult made{buffer.name, buffer.element, first->localShape(), nullptr, nullptr};
      if (!plan_.resident) {
        made.pin = first;
        made.data = first->data();
      } else {
        for (size_t d = 0; d < made.shape.size(); ++d) {
          made.shape[d] = buffer.splitOf(static_cast<int32_t>(d)) ? buffer.shape[d] : made.shape[d];
        }
        std::ranges::transform(tensors, std::back_inserter(made.parts),
                               [](const auto &tensor) { return tensor->part(); });
      }
      result.tensors.push_back(std::move(made));
    }
  }

  const plan::Plan &plan_;
  const std::vector<std::unique_ptr<KernelCall>> &kernels_;
  const std::shared_ptr<GpuKernels> gpu_;
  std::vector<std::shared_ptr<GpuContext>> gpus_; ///< of the ranks
  Session &session_;
  const Bindings &bindings_;
  const RunOptions &options_;
  int64_t lastAsked_ = 0;
  VirtualClock virtualClock_;
  Doorbell doorbell_;                            ///< of all ranks of this process
  std::vector<std::unique_ptr<Doorbell>> bells_; ///< of a simulation: by rank, instead
  Telemetry telemetry_;
  std::vector<int32_t> precedences_; ///< by task; of a simulation all equal, for more interleavings
  std::shared_ptr<const KeyShares> keyShares_;
  std::unique_ptr<SimNetwork> network_;           ///< of a simulation
  std::vector<std::unique_ptr<Transport>> owned_; ///< of runAll()
  std::vector<std::unique_ptr<Rank>> ranks_;
};

} // namespace

Status Program::resolveKernels() {
  for (size_t k = 0; k < plan_.kernels.size(); ++k) {
    HR_ASSIGN_OR_RETURN(auto call, KernelCall::resolve(plan_, static_cast<int32_t>(k), *library_));
    kernels_.push_back(std::move(call));
  }
  return {};
}

Expected<std::shared_ptr<const Program>>
Program::load(plan::Plan plan, std::shared_ptr<const KernelLibrary> library) {
  HR_RETURN_IF_ERROR(plan::check(plan));
  HR_RETURN_IF_ERROR(checkProcessor(plan));
  HR_RETURN_IF_ERROR(checkBuilt(plan));
  std::shared_ptr<Program> program(new Program());
  program->plan_ = std::move(plan);
  program->hostPeak_ = plan::peakReservation(program->plan_, Tier::kHost);
  program->library_ = std::move(library);
  HR_RETURN_IF_ERROR(program->resolveKernels());
  return std::shared_ptr<const Program>(std::move(program));
}

/// Loaded once for each device.
Expected<std::shared_ptr<GpuKernels>> Program::gpuKernels(Session &session,
                                                          const RunOptions &options) const {
  const std::shared_ptr<Accelerator> &accelerator = session.options().accelerator;
  // Sums of threads come in any order.
  const bool fixed = options.determinism == Determinism::kFixed || options.simulation;
  if (!accelerator || fixed || !usesGpu(plan_)) {
    return std::shared_ptr<GpuKernels>();
  }
  std::lock_guard lock(gpuMutex_);
  if (!gpuKernels_ || gpuKernels_->accelerator != accelerator) {
    auto kernels = std::make_shared<GpuKernels>();
    kernels->accelerator = accelerator;
    HR_ASSIGN_OR_RETURN(kernels->module, accelerator->device().load(library_->deviceImage()));
    gpuKernels_ = std::move(kernels);
  }
  return gpuKernels_;
}

Status Program::checkCapacity(int64_t limitBytes, int64_t ranks) const {
  const auto limit = static_cast<uint64_t>(limitBytes);
  if (hostPeak_.task == plan::kNone || hostPeak_.bytes <= limit) {
    return {};
  }
  const plan::PeakReservation peak = plan::peakReservation(plan_, Tier::kHost, ranks);
  if (peak.bytes <= limit) {
    return {};
  }
  const plan::Task &task = plan_.tasks[peak.task];
  const plan::Place *place = task.place == plan::kNone ? nullptr : &plan_.places[task.place];
  auto bytes = static_cast<int64_t>(std::min<uint64_t>(peak.bytes, INT64_MAX));
  return makeError(ErrorKind::kMemory, "out of ", tierName(Tier::kHost),
                   " memory: ", place ? place->operation : task.name,
                   " and what is held with it need at least ", formatBytes(bytes), " (", bytes,
                   " bytes) of the limit of ", formatBytes(limitBytes), " a rank; raise ",
                   kMemorySetting)
      .at(place ? place->text : "");
}

Status Program::checkTopology(const RunOptions &options) const {
  if (options.topologyHash.empty() || options.topologyHash == plan_.topologyHash) {
    return {};
  }
  return makeError(ErrorKind::kMismatch, "the plan was compiled for another topology, '",
                   plan_.explanation.topology,
                   "': compile it again for the one that it is to run on, with content ",
                   options.topologyHash, ", or run it as it is with --topology any; got ",
                   plan_.topologyHash);
}

Expected<RunResult> Program::run(Session &session, const Bindings &bindings,
                                 const RunOptions &options) const {
  if (options.ranks == 0 || options.ranks > 1024) {
    return makeError(ErrorKind::kUser, "ranks: 1 to 1024 expected, got ", options.ranks);
  }
  if (options.simulation && session.options().threads != 0) {
    return makeError(ErrorKind::kUser, "a simulation needs a session without threads, got ",
                     session.options().threads);
  }
  HR_RETURN_IF_ERROR(checkTopology(options));
  HR_RETURN_IF_ERROR(checkCapacity(session.options().memoryBytes / options.ranks, options.ranks));
  HR_ASSIGN_OR_RETURN(std::shared_ptr<GpuKernels> gpu, gpuKernels(session, options));
  {
    Run run(plan_, kernels_, gpu, session, bindings, options);
    Expected<RunResult> result = run.runAll();
    if (result.ok() || !run.gpuWasShort()) {
      return result;
    }
    log(LogLevel::kWarning, "the CPU runs the plan again: ", result.status().message());
  }
  return Run(plan_, kernels_, nullptr, session, bindings, options).runAll();
}

Status Program::checkRank(const Session &session, const RunOptions &options) const {
  if (options.simulation) {
    return makeError(ErrorKind::kUser, "a simulation runs all its ranks in one process");
  }
  HR_RETURN_IF_ERROR(checkTopology(options));
  return checkCapacity(session.options().memoryBytes, options.ranks);
}

Expected<RunResult> Program::runRank(Session &session, const Bindings &bindings,
                                     const RunOptions &options, Transport &transport) const {
  HR_RETURN_IF_ERROR(checkRank(session, options));
  HR_ASSIGN_OR_RETURN(std::shared_ptr<GpuKernels> gpu, gpuKernels(session, options));
  return Run(plan_, kernels_, std::move(gpu), session, bindings, options).run({&transport});
}

} // namespace headrace::exec
