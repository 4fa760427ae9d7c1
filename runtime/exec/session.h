// Session: what runs share.
#pragma once

#include "runtime/device/cpu/worker_pool.h"
#include "runtime/memory/block_pool.h"

#include <cstdint>
#include <memory>

namespace headrace {
class Accelerator;
}

namespace headrace::exec {

struct GpuMemory;

/// As messages name the settings: the flag, and the argument in Python.
inline constexpr const char *kMemorySetting = "--memory (memory= in Python)";
inline constexpr const char *kDeviceMemorySetting =
    "--device-memory (device_memory= in Python), or run it with --device cpu";

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
  /// A run has given back what it held: of the blocks that it freed, those stay which the next runs
  /// are expected to need, and more only where memory is plenty. The rest is for pages.
  void endRun();
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

} // namespace headrace::exec
