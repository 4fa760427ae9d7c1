// One kernel of a plan made ready to run, and the frame in which a lane runs it.
#pragma once

#include "model/plan/plan.h"
#include "runtime/abi/imports.h"
#include "runtime/exec/kernel/kernels.h"
#include "runtime/exec/skew/key_shares.h"
#include "runtime/exec/work/worker_context.h"

#include <memory>
#include <string>
#include <vector>

namespace headrace::exec {

/// Purpose: entry point and literal block of Plan.kernels[i]. Immutable, shared by all ranks.
/// Lifetime: within the plan's and the library's.
class KernelCall {
public:
  /// Of a kernel for GPUs without an entry. Errors: kMismatch if the library has no such symbol.
  static Expected<std::unique_ptr<KernelCall>> resolve(const plan::Plan &plan, int32_t kernel,
                                                       const KernelLibrary &library);

  HrKernel entry() const { return reinterpret_cast<HrKernel>(symbol_); }
  void *symbol() const { return symbol_; }
  const void *literals() const { return literals_.data(); }
  uint32_t scratchBytes() const { return kernel_->scratchBytes; }
  const plan::Kernel &described() const { return *kernel_; }
  /// The error that a kernel left, with its place in the user's program. `cause`: why an import
  /// failed, if one did.
  Status error(const HrError &error, const Status &cause = {}) const;

private:
  struct alignas(16) Sixteen {
    uint8_t bytes[16];
  };
  const plan::Plan *plan_ = nullptr;
  const plan::Kernel *kernel_ = nullptr;
  void *symbol_ = nullptr;
  std::vector<Sixteen> literals_;
  std::vector<std::string> texts_; ///< what string literals point to, padded
};

/// Purpose: HrWorker, scratch and arena of one lane for one kernel. Not thread-safe. May not be
/// moved.
class KernelFrame {
public:
  /// `maps`: of all lanes of a task that scans, which outlive the frame.
  static Expected<std::unique_ptr<KernelFrame>> create(const KernelCall &call,
                                                       std::shared_ptr<MemoryAccount> account,
                                                       uint32_t rank, uint32_t size,
                                                       DictionaryMaps *maps = nullptr);
  ~KernelFrame() { scratch_.reset(); }
  KernelFrame(const KernelFrame &) = delete;
  KernelFrame &operator=(const KernelFrame &) = delete;

  /// Before the first call for a morsel.
  void beginMorsel();
  /// One call of the kernel; on HR_ERROR see error().
  HrResult run(const HrMorsel &morsel, void *const *states);
  /// The same with a literal block of the caller.
  HrResult run(const HrArgs &args);
  /// Rows of the morsel so far that a selecting stage (from 0, below HR_COUNTED_STAGES) let
  /// through.
  uint64_t rowsThrough(size_t stage) const;
  /// The morsel is done: its arena is free again.
  void endMorsel() { context_.arena.reset(); }
  Status error() const { return call_.error(worker_.error, context_.status); }
  HrWorker &worker() { return worker_; }
  /// Calls return HR_STOPPED soon after this byte is not 0.
  void stopBy(const uint8_t *flag) { worker_.stop = flag; }
  void drawFrom(int64_t seed) { worker_.seed = seed; }
  /// The keys of ranks; else they have equally many. Outlives the frame.
  void divideBy(const KeyShares &shares);
  WorkerContext &context() { return context_; }

private:
  KernelFrame(const KernelCall &call, std::shared_ptr<MemoryAccount> account, DictionaryMaps *maps)
      : call_(call), account_(account), context_(account, maps) {}
  const KernelCall &call_;
  std::shared_ptr<MemoryAccount> account_;
  WorkerContext context_;
  Block scratch_;
  HrWorker worker_{};
};

} // namespace headrace::exec
