// NCCL's topology XML, as NCCL_TOPO_DUMP_FILE writes and NCCL_TOPO_FILE reads it.
#pragma once

#include "tools/headrace-topo/node_structure.h"

namespace headrace::topo {

/// Notes say what was left out. Errors: kUser, with the file as place and the line where there is
/// one.
Expected<NodeStructure> readNcclXml(const std::string &path);

} // namespace headrace::topo
