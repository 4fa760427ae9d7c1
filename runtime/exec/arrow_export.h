// Table results as a stream of the Arrow C data interface.
#pragma once

#include "runtime/base/status.h"
#include "runtime/exec/arrow_abi.h"
#include "runtime/exec/program.h"

#include <memory>

namespace headrace::exec {

/// Fills `out`, which then holds the table until it is released. Columns whose physical type is
/// Arrow's are not copied; decimals become decimal128, and narrowed integers their logical width,
/// batch by batch. Errors: kUnsupported for a logical type without an Arrow type.
Status exportStream(std::shared_ptr<const ResultRows> table, ArrowArrayStream *out);

} // namespace headrace::exec
