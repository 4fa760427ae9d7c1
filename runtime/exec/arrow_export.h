// Table results as a stream of the Arrow C data interface.
#pragma once

#include "runtime/base/status.h"
#include "runtime/exec/chunk/arrow_abi.h"
#include "runtime/exec/program.h"

#include <limits>
#include <memory>

namespace headrace::exec {

/// Chunks of a result, by their numbers; to its end, if it has fewer.
struct ChunkRange {
  size_t begin = 0;
  size_t end = std::numeric_limits<size_t>::max();
};

/// Fills `out`, which then holds the table until it is released. Columns whose physical type is
/// Arrow's are not copied; decimals become decimal128, and narrowed integers their logical width,
/// batch by batch. Errors: kUnsupported for a logical type without an Arrow type. `chunks`: those
/// of the table that are exported.
Status exportStream(std::shared_ptr<const ResultRows> table, ArrowArrayStream *out,
                    ChunkRange chunks = {});

} // namespace headrace::exec
