// What a GPU of a model computes and remembers, before anything is measured.
#pragma once

#include "tools/headrace-topo/node_structure.h"

namespace headrace::topo {

/// A device type shipped for a GPU whose name has the same word ("H100"), or a modest one named
/// "gpu"; with the memory that the GPU states.
topology::DeviceType gpuType(const Gpu &gpu);

} // namespace headrace::topo
