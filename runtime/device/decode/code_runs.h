// Parquet's RLE/bit-packed hybrid streams for many threads at once: the host splits a stream into
// its runs, the kernel decode_codes makes codes of them.
#pragma once

#include <span>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/primitives/gpu/code_run.h"

namespace headrace::decode {

/// Runs without what comes before them.
struct CodeRuns {
  std::vector<CodeRun> runs;
  uint64_t firstByte = 0, endByte = 0; ///< of the stream: what they need; both 0: none of it
  /// From where their places count.
  std::span<const uint8_t> needed(std::span<const uint8_t> stream) const {
    return stream.subspan(firstByte, endByte - firstByte);
  }
};

/// The runs of `rows` (> 0) rows of a stream from row `first` on, which becomes row 0. It looks at
/// their heads alone. kCorrupt where the stream ends before, or a width is above 32.
Expected<CodeRuns> splitCodeRuns(std::span<const uint8_t> stream, uint32_t bitWidth, uint32_t first,
                                 uint32_t rows);

} // namespace headrace::decode
