// Load checks, and the loop that polls the ranks of a run.
#include "runtime/exec/program.h"

#include "runtime/exec/rank.h"
#include "runtime/model/plan/check.h"
#include "runtime/model/plan/names.h"
#include "runtime/primitives/isa.h"
#include "runtime/transport/loopback.h"

#include <algorithm>

namespace headrace::exec {
namespace {

constexpr int64_t kInterruptNanoseconds = 50'000'000;

Status checkProcessor(const plan::Plan &plan) {
  using primitives::Isa;
  for (Isa isa : {Isa::kBaseline, Isa::kV3, Isa::kV4}) {
    if (plan.isa == primitives::isaName(isa)) {
      return isa <= primitives::detectIsa()
                 ? Status()
                 : makeError(ErrorKind::kMismatch, "this processor does not run kernels for ",
                             plan.isa, ", only up to ",
                             primitives::isaName(primitives::detectIsa()));
    }
  }
  return {};
}

Status checkBuilt(const plan::Plan &plan) {
  for (size_t t = 0; t < plan.tasks.size(); ++t) {
    if (plan.tasks[t].kind == plan::TaskKind::kRepeat) {
      return makeError(ErrorKind::kUnsupported, "repeat is not built yet: ",
                       plan::describeTask(plan, static_cast<int32_t>(t)));
    }
  }
  return {};
}

/// One run: the ranks and the thread that polls them.
class Run {
public:
  Run(const plan::Plan &plan, const std::vector<std::unique_ptr<KernelCall>> &kernels,
      Session &session, const Bindings &bindings, const RunOptions &options)
      : plan_(plan), kernels_(kernels), session_(session), bindings_(bindings), options_(options),
        telemetry_(*options.clock) {}

  ~Run() {
    for (const std::unique_ptr<Rank> &rank : ranks_) {
      rank->close();
    }
  }

  Expected<RunResult> run() {
    int64_t start = options_.clock->nowNanoseconds();
    HR_RETURN_IF_ERROR(makeRanks());
    HR_RETURN_IF_ERROR(pollRanks());
    RunResult result;
    collect(result);
    result.profile.wallSeconds =
        static_cast<double>(options_.clock->nowNanoseconds() - start) * 1e-9;
    result.profile.ranks = options_.ranks;
    result.profile.threads = static_cast<uint32_t>(session_.pool().workers());
    for (const std::unique_ptr<Rank> &rank : ranks_) {
      rank->addProfile(result.profile, start);
      result.profile.peakBytes.push_back(rank->peakBytes());
    }
    if (options_.tracing == Tracing::kOn) {
      result.traceJson = telemetry_.traceJson();
    }
    return result;
  }

private:
  Status makeRanks() {
    std::vector<std::unique_ptr<Transport>> transports =
        makeLoopback(static_cast<int>(options_.ranks));
    auto workers = static_cast<size_t>(session_.pool().workers());
    for (uint32_t r = 0; r < options_.ranks; ++r) {
      RankContext context;
      context.plan = &plan_;
      context.kernels = &kernels_;
      context.rank = r;
      context.size = options_.ranks;
      context.lanes = options_.determinism == Determinism::kFixed
                          ? 1
                          : (workers + options_.ranks - 1) / options_.ranks;
      context.pool = &session_.pool();
      context.doorbell = &doorbell_;
      context.clock = options_.clock;
      context.memory = std::make_shared<RankMemory>(
          session_.blocks(),
          Budget::Options{Tier::kHost, session_.options().memoryBytes / options_.ranks,
                          "--memory"});
      context.exchange = options_.exchange;
      context.sources = &bindings_.tables;
      context.tensors = &bindings_.tensors;
      for (size_t w = 0; options_.tracing == Tracing::kOn && w < workers; ++w) {
        context.tracks.push_back(
            telemetry_.track(static_cast<int>(r), "worker " + std::to_string(w)));
      }
      HR_ASSIGN_OR_RETURN(auto rank, Rank::create(std::move(context), std::move(transports[r])));
      ranks_.push_back(std::move(rank));
    }
    return {};
  }

  Status pollRanks() {
    int64_t lastAsked = options_.clock->nowNanoseconds();
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
      if (options_.interrupted &&
          options_.clock->nowNanoseconds() - lastAsked >= kInterruptNanoseconds) {
        lastAsked = options_.clock->nowNanoseconds();
        if (options_.interrupted()) {
          ranks_.front()->cancel("stopped by the user");
        }
      }
      if (session_.options().threads == 0 && session_.pool().runOne()) {
        continue;
      }
      doorbell_.wait(options_.interrupted ? kInterruptNanoseconds : -1);
    }
  }

  /// All ranks agree on it; one that heard of it late has it all the same.
  Status firstFailure() const {
    for (const std::unique_ptr<Rank> &rank : ranks_) {
      if (Status status = rank->status(); !status.ok()) {
        return status;
      }
    }
    return makeError(ErrorKind::kInternal, "a rank failed without a reason");
  }

  void collect(RunResult &result) {
    Rank &first = *ranks_.front();
    if (!plan_.result.columns.empty()) {
      auto table = std::make_shared<TableResult>();
      table->schema = plan_.result;
      table->chunks = first.takeChunks();
      result.table = std::move(table);
    }
    for (int32_t buffer : first.resultBuffers()) {
      std::shared_ptr<TensorBuffer> tensor = first.takeBuffer(buffer);
      result.tensors.push_back(TensorResult{plan_.buffers[buffer].name,
                                            plan_.buffers[buffer].element, tensor->localShape(),
                                            tensor, tensor->data()});
    }
  }

  const plan::Plan &plan_;
  const std::vector<std::unique_ptr<KernelCall>> &kernels_;
  Session &session_;
  const Bindings &bindings_;
  const RunOptions &options_;
  Doorbell doorbell_;
  Telemetry telemetry_;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

} // namespace

Session::Session(SessionOptions options)
    : options_(options), blocks_(std::make_shared<BlockPool>(BlockPool::Options{
                             options.memoryBytes, options.retainedBytes, "--memory"})),
      pool_(WorkerPool::Options{options.threads, "worker"}) {}

uint64_t TableResult::rowCount() const {
  uint64_t rows = 0;
  for (const ChunkHandle &chunk : chunks) {
    rows += chunk->rows;
  }
  return rows;
}

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
  program->library_ = std::move(library);
  HR_RETURN_IF_ERROR(program->resolveKernels());
  return std::shared_ptr<const Program>(std::move(program));
}

Expected<RunResult> Program::run(Session &session, const Bindings &bindings,
                                 const RunOptions &options) const {
  if (options.ranks == 0 || options.ranks > 1024) {
    return makeError(ErrorKind::kUser, "ranks: 1 to 1024 expected, got ", options.ranks);
  }
  return Run(plan_, kernels_, session, bindings, options).run();
}

} // namespace headrace::exec
