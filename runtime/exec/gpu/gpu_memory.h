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
      : pinned(accelerator, host), blocks(accelerator, device), columns(accelerator, device) {}

  // Blocks of the device give way before columns, which have to be copied again.
  LaunchBlocks pinned, blocks;
  DeviceColumns columns;
};

} // namespace headrace::exec
