// What a session keeps of the memory of its accelerator, and of pinned memory.
#pragma once

#include "runtime/exec/gpu/device_columns.h"
#include "runtime/exec/gpu/launch_blocks.h"

namespace headrace::exec {

/// Purpose: memory that runs hand on. Thread-safety: full. Lifetime: within the accelerator's.
struct GpuMemory {
  /// The options count in the tiers, and name the settings of memory errors.
  GpuMemory(const std::shared_ptr<Accelerator> &accelerator, const Budget::Options &host,
            const Budget::Options &device)
      : launches(accelerator, host, device), columns(accelerator, device) {}

  LaunchBlocks launches;
  DeviceColumns columns;
};

} // namespace headrace::exec
