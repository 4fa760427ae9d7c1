// What the tasks of one rank that run on a GPU share.
#pragma once

#include "runtime/device/accelerator.h"
#include "runtime/exec/gpu/launch_blocks.h"

#include <atomic>
#include <memory>
#include <string>

namespace headrace::exec {

/// Purpose: the kernels of a program, loaded. Shared by its runs.
struct GpuKernels {
  std::shared_ptr<Accelerator> accelerator;
  std::unique_ptr<KernelModule> module; ///< before the accelerator goes
  ~GpuKernels() { module.reset(); }
};

/// Purpose: the GPU of one rank, and what its memory is charged to. Shared by tasks and states, so
/// that the budget outlives them. Thread-safety: full.
struct GpuContext {
  GpuContext(std::shared_ptr<GpuKernels> loaded, Budget::Options options, LaunchBlocks &blocks)
      : kernels(std::move(loaded)), budget(std::move(options)), launches(blocks) {}

  Device &device() { return kernels->accelerator->device(); }
  Expected<Kernel> find(const std::string &symbol) { return kernels->module->find(symbol); }

  std::shared_ptr<GpuKernels> kernels;
  Budget budget;
  LaunchBlocks &launches;             ///< of the session
  std::atomic<bool> wasShort = false; ///< of memory: why a task failed
};

} // namespace headrace::exec
