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
#include "runtime/exec/kernel/kernels.h"
#include "runtime/exec/run_options.h"
#include "runtime/exec/session.h"
#include "runtime/transport/transport.h"

#include <memory>
#include <mutex>
#include <vector>

namespace headrace::exec {

struct GpuKernels;

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
