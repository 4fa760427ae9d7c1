// The parts of a machine as hwloc sees them: of this machine, or of one whose XML was exported.
#pragma once

#include "tools/headrace-topo/node_structure.h"

namespace headrace::topo {

/// This machine. GPUs are left to nvidia-smi (gpus.h).
Expected<NodeStructure> thisStructure();

/// The machine of an hwloc XML file (`lstopo FILE.xml`), with its NVIDIA GPUs.
Expected<NodeStructure> readHwlocXml(const std::string &path);

} // namespace headrace::topo
