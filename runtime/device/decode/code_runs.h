// Parquet's RLE/bit-packed hybrid streams for many threads at once: the host splits a stream into
// its runs, the kernel decode_codes makes codes of them.
#pragma once

#include <span>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/device/decode/code_run.h"

namespace headrace::decode {

/// The runs of the first `rows` rows (> 0) of a stream. It looks at their heads alone. kCorrupt
/// where the stream ends before, or a width is above 32.
Expected<std::vector<CodeRun>> splitCodeRuns(std::span<const uint8_t> stream, uint32_t bitWidth,
                                             uint32_t rows);

} // namespace headrace::decode
