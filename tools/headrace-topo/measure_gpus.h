// Copies within a GPU, to the host and to another GPU, through the CUDA driver if there is one.
#pragma once

#include "runtime/base/status.h"
#include "tools/headrace-topo/node_structure.h"

namespace headrace::topo {

/// Loads libcuda.so.1 at run time; nothing is linked. Errors (kUnsupported): no driver, no GPU, or
/// a call that failed. About a second, and 512 MiB of each of the first two GPUs.
Expected<GpuRates> measureGpus();

} // namespace headrace::topo
