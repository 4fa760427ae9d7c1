// Pages and the codecs of Arrow: everything but Snappy's decompression, which is our own.
#pragma once

#include "runtime/base/status.h"

#include <arrow/util/type_fwd.h>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace headrace::storage {

inline constexpr int kCodecNone = 0;
inline constexpr int kCodecSnappy = 1;
inline constexpr int kCodecZstd = 6;
inline constexpr int kCodecLz4 = 7; ///< raw blocks, without the frame

/// "snappy", "gzip", … or "unknown".
const char *codecName(int codec);
/// Decompresses to exactly `outputBytes`. `codec` is Parquet's number. kUnsupported or kCorrupt.
Status decompressWithArrow(int codec, const uint8_t *input, uint64_t inputBytes, uint8_t *output,
                           uint64_t outputBytes);
/// The same, but Snappy by our own, as scans do.
Status decompressBlock(int codec, const uint8_t *input, uint64_t inputBytes, uint8_t *output,
                       uint64_t outputBytes);
/// A block as writers of Parquet compress a page. level: of the codec; 0: its usual one.
/// kUnsupported if Arrow lacks the codec.
Expected<std::vector<uint8_t>> compressWithArrow(int codec, std::span<const uint8_t> input,
                                                 int level = 0);
/// Parquet's number of a codec by its `codecName`. kUnsupported: another name.
Expected<int> codecNamed(std::string_view name);
/// What Arrow calls a codec of this number. kUnsupported.
Expected<arrow::Compression::type> arrowCodec(int codec);

} // namespace headrace::storage
