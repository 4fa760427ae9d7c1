// Page decompression with the codecs of Arrow: everything but Snappy, which is our own.
#pragma once

#include "runtime/base/status.h"

#include <cstdint>

namespace headrace::storage {

inline constexpr int kCodecNone = 0;
inline constexpr int kCodecSnappy = 1;

/// "snappy", "gzip", … or "unknown".
const char *codecName(int codec);
/// Decompresses to exactly `outputBytes`. `codec` is Parquet's number. kUnsupported or kCorrupt.
Status decompressWithArrow(int codec, const uint8_t *input, uint64_t inputBytes, uint8_t *output,
                           uint64_t outputBytes);

} // namespace headrace::storage
