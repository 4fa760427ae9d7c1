// What the tasks of one rank that run on a GPU share.
#pragma once

#include "runtime/device/accelerator.h"
#include "runtime/exec/gpu/gpu_memory.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace headrace::exec {

/// Rows of a state, and bytes of the strings that it keeps.
struct StateRoom {
  uint64_t rows = 0, heapBytes = 0;
  StateRoom times(uint64_t factor) const { return {rows * factor, heapBytes * factor}; }
};

/// Purpose: the kernels of a program, loaded, and what its runs have learnt. Shared by them.
struct GpuKernels {
  std::shared_ptr<Accelerator> accelerator;
  std::unique_ptr<KernelModule> module; ///< before the accelerator goes
  ~GpuKernels() { module.reset(); }

  /// The most that a state took in the end, on any rank, that had been too small; nothing: none
  /// was.
  std::optional<StateRoom> learntRoom(int32_t state) const {
    std::lock_guard lock(mutex_);
    auto found = rooms_.find(state);
    return found == rooms_.end() ? std::nullopt : std::optional(found->second);
  }
  void learnRoom(int32_t state, StateRoom room) {
    std::lock_guard lock(mutex_);
    StateRoom &known = rooms_[state];
    known = {std::max(known.rows, room.rows), std::max(known.heapBytes, room.heapBytes)};
  }

private:
  mutable std::mutex mutex_;
  std::map<int32_t, StateRoom> rooms_;
};

/// Purpose: the GPU of one rank, and what its memory is charged to. Shared by tasks and states, so
/// that the budget outlives them. Thread-safety: full.
struct GpuContext {
  GpuContext(std::shared_ptr<GpuKernels> loaded, Budget::Options options, GpuMemory &kept)
      : kernels(std::move(loaded)), budget(std::move(options)), memory(kept) {}

  Device &device() { return kernels->accelerator->device(); }
  Expected<Kernel> find(const std::string &symbol) { return kernels->module->find(symbol); }

  std::shared_ptr<GpuKernels> kernels;
  Budget budget;
  GpuMemory &memory;                  ///< of the session
  std::atomic<bool> wasShort = false; ///< of memory: why a task failed
};

} // namespace headrace::exec
