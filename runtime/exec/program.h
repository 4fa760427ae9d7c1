// Loading and running of plans: the public face of exec.
//
//   Session session({.threads = 8, .memoryBytes = 8 << 30});
//   auto kernels = KernelLibrary::open("q1.plan/kernels.x86-64-v3.so");
//   auto program = Program::load(plan, *kernels);
//   auto result = (*program)->run(session, bindings, {.ranks = 2});
//   exportStream(result->table, &arrowArrayStream);
#pragma once

#include "model/plan/plan.h"
#include "model/plan/reservations.h"
#include "runtime/base/clock.h"
#include "runtime/device/cpu/worker_pool.h"
#include "runtime/exec/chunk.h"
#include "runtime/exec/kernels.h"
#include "runtime/exec/profile.h"
#include "runtime/exec/task.h"
#include "runtime/memory/block_pool.h"
#include "runtime/transport/sim.h"
#include "runtime/transport/transport.h"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace headrace {
class Accelerator;
}

namespace headrace::exec {

struct GpuKernels;
struct GpuMemory;

struct SessionOptions {
  int threads = 1;                   ///< workers shared by all ranks; 0: none, for simulations
  int64_t memoryBytes = 4ll << 30;   ///< host memory of all ranks together
  int64_t retainedBytes = 1ll << 30; ///< freed blocks kept for the next run
  /// Runs the tasks of plans that are for GPUs; null: the CPU does.
  std::shared_ptr<Accelerator> accelerator = nullptr;
};

/// Purpose: what runs share: worker threads and memory. Thread-safety: several programs may run in
/// it at once. Lifetime: outlives the runs; results may outlive it.
class Session {
public:
  explicit Session(SessionOptions options);
  WorkerPool &pool() { return pool_; }
  const std::shared_ptr<BlockPool> &blocks() const { return blocks_; }
  /// In which all that the session's runs hold is counted; storage may keep pages in what is free.
  const std::shared_ptr<MemoryTier> &hostTier() const { return hostTier_; }
  /// Of the accelerator; null without one.
  GpuMemory *gpuMemory() const { return gpuMemory_.get(); }
  const SessionOptions &options() const { return options_; }

private:
  SessionOptions options_;
  std::shared_ptr<MemoryTier> hostTier_;
  std::shared_ptr<BlockPool> blocks_;
  std::shared_ptr<GpuMemory> gpuMemory_;
  WorkerPool pool_;
};

/// What the slots of a plan are bound to, by slot name.
struct Bindings {
  std::map<std::string, OpenSource> tables;
  std::map<std::string, TensorView> tensors;
  /// Of resident tensors: the part of each rank of this process, in their order.
  std::map<std::string, std::vector<TensorPart>> parts;
};

enum class Determinism : uint8_t {
  kNone,  ///< floating-point sums may differ in their last bits from run to run
  kFixed, ///< one lane a rank: same bits for the same ranks and plan
};
enum class Tracing : uint8_t { kOff, kOn };
/// Whether the error of a run names the rank that failed.
enum class Origin : uint8_t { kLeftOut, kNamed };

struct RunOptions {
  uint32_t ranks = 1; ///< all in this process (run)
  /// Content hash of the topology that the plan must have been compiled for; empty: any will do.
  std::string topologyHash;
  Determinism determinism = Determinism::kNone;
  Tracing tracing = Tracing::kOff;
  int64_t traceEventsMax = 1 << 18; ///< that each track of a trace keeps
  SpillOptions spill;
  ExchangeSettings exchange;
  CollectiveSettings collective;
  /// Of the keys of exchanges by hash, the parts that ranks are to have, as KeyShares has them, if
  /// the plan's are movable and morsels are shared; empty: equal ones.
  std::vector<uint32_t> keyShares = {};
  /// Off too where the run is deterministic: who reads a row decides the order of sums.
  Sharing shareMorsels = Sharing::kOn;
  /// A rank of another process that gives no sign of life for so long is given up; 0: never.
  double peerSilenceSecondsMax = 0;
  /// Memory of the rank that has least: the pools of messages are sized by it on all ranks. 0: they
  /// have the same.
  int64_t leastMemoryBytes = 0;
  int64_t seed = 0; ///< of what `random()` draws; the same on all ranks
  Origin origin = Origin::kLeftOut;
  const Clock *clock = &RealClock::instance();
  /// Ranks on a simulated network in virtual time (`size` and `clock` are set by the run): polls,
  /// morsels and messages interleave as its seed draws them, and a hang is an error. Needs a
  /// session without threads.
  std::optional<SimOptions> simulation = {};
  /// Asked about every 50 ms on the calling thread; true cancels the run.
  std::function<bool()> interrupted;
  /// Told twice a second on the calling thread, from half a second on.
  std::function<void(const Progress &)> progress;
};

struct TensorResult {
  std::string name;
  plan::Element element = plan::Element::kF32;
  std::vector<int64_t> shape;      ///< of the whole
  std::shared_ptr<const void> pin; ///< holds `data`
  const void *data = nullptr;      ///< row-major; null of a resident result
  /// Of a resident result: as Bindings::parts has it.
  std::vector<TensorPart> parts = {};
};

struct RunResult {
  /// Null if the program has only tensors as results, or a resident one.
  std::shared_ptr<const ResultRows> table;
  /// Of a resident result: the rows of each rank of this process, in their order.
  std::vector<std::shared_ptr<const ResultRows>> parts;
  std::vector<TensorResult> tensors; ///< in task order; resident ones on every rank
  Profile profile;
  std::string traceJson; ///< Chrome's trace format, if asked for
};

/// Purpose: a checked plan with its kernels, ready to run any number of times. Immutable,
/// thread-safe.
class Program {
public:
  /// Refuses a plan that check() refuses, an instruction set that this processor lacks, kernels
  /// without a symbol of the plan, and tasks that are not built yet (kUnsupported).
  static Expected<std::shared_ptr<const Program>>
  load(plan::Plan plan, std::shared_ptr<const KernelLibrary> library);

  /// Runs on the calling thread and the session's workers until the end. Errors carry kind and
  /// place.
  Expected<RunResult> run(Session &session, const Bindings &bindings,
                          const RunOptions &options) const;

  /// Runs the one rank that the transport is, with the session's memory and threads to itself; the
  /// other ranks run the same plan elsewhere at the same time. Results are on rank 0 only, unless
  /// they are resident; errors are the same on all ranks, which have then all stopped. The
  /// transport serves one run.
  Expected<RunResult> runRank(Session &session, const Bindings &bindings, const RunOptions &options,
                              Transport &transport) const;

  /// What runRank() refuses at once, on this rank alone.
  Status checkRank(const Session &session, const RunOptions &options) const;

  const plan::Plan &plan() const { return plan_; }

private:
  Program() = default;
  Status resolveKernels();
  Status checkTopology(const RunOptions &options) const;
  /// Whether the least that the plan needs at one time fits a rank's limit.
  Status checkCapacity(int64_t limitBytes, int64_t ranks) const;
  /// Null if the CPU runs all tasks.
  Expected<std::shared_ptr<GpuKernels>> gpuKernels(Session &session,
                                                   const RunOptions &options) const;
  plan::Plan plan_;
  plan::PeakReservation hostPeak_; ///< of a rank that holds all of each tensor
  std::shared_ptr<const KernelLibrary> library_;
  std::vector<std::unique_ptr<KernelCall>> kernels_;
  mutable std::mutex gpuMutex_;
  mutable std::shared_ptr<GpuKernels> gpuKernels_; ///< of the last device
};

} // namespace headrace::exec
