// Random platforms and task graphs for tests of the simulator.
#pragma once

#include "model/simulate/graph.h"

#include <cstdint>

namespace headrace::simulate {

/// Up to 12 shared or fatpipe links and up to 60 transfers over one to four of them, waiting for up
/// to three earlier ones; some only wait. Every transfer has the same latency. The same graph for
/// the same seed.
Graph randomGraph(uint64_t seed);

} // namespace headrace::simulate
