// Checks of a topology that need several of its parts together. Private to model/topology.
#pragma once

#include "runtime/model/topology/topology.h"

namespace headrace::topology {

/// Names resolve, indexes stay in range, and every two ranks have a route between them.
Status validate(const Topology &topology);

} // namespace headrace::topology
