// Loopback: ranks in one process. Bodies move as sealed buffers, without a copy.
#pragma once

#include <memory>
#include <vector>

#include "runtime/transport/transport.h"

namespace headrace {

/// One transport a rank. They may be used by different threads and destroyed in any order; the
/// peers of a destroyed one see its link down. Buffers received from it stay valid.
std::vector<std::unique_ptr<Transport>> makeLoopback(int size);

} // namespace headrace
