// Parquet's RLE/bit-packed hybrid streams for many threads at once: the host splits a stream into
// its runs, the kernel decode_codes makes codes of them.
#pragma once

#include <span>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/primitives/gpu/code_run.h"

namespace headrace::decode {

/// The runs of some rows (> 0) of a stream. It looks at their heads alone. kCorrupt where the
/// stream ends before, or a width is above 32.
Expected<std::vector<CodeRun>> splitCodeRuns(std::span<const uint8_t> stream, uint32_t bitWidth,
                                             uint32_t rows);

/// Runs without what comes before them.
struct CodeRuns {
  std::vector<CodeRun> runs;
  uint64_t firstByte = 0, endByte = 0; ///< of the stream: what they need; places are from firstByte
};
/// The same from row `first` on, which becomes row 0.
Expected<CodeRuns> splitCodeRuns(std::span<const uint8_t> stream, uint32_t bitWidth, uint32_t first,
                                 uint32_t rows);

} // namespace headrace::decode
