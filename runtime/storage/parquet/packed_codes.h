// Streams of codes with many short runs, rewritten as one bit-packed run: a kernel then unpacks
// whole vectors instead of stepping from run to run (l_linestatus: two values, a run every few
// rows).
#pragma once

#include "runtime/base/status.h"
#include "runtime/storage/files/padded_buffer.h"

#include <cstdint>

namespace headrace::storage {

/// Codes of more bits are not rewritten: eight equal ones in a row are rare among them.
constexpr uint32_t kPackedCodeBitsMax = 8;

/// Whether the runs of a hybrid stream are so short on average that rewriting pays. False if it
/// does not decode.
bool hasShortRuns(const uint8_t *stream, uint64_t bytes, uint32_t rows, uint32_t width);

/// A hybrid stream of one bit-packed run: codes[0..rows) at `width` bits (1..8, each code must
/// fit). Reads up to 7 bytes past the codes. Null: no memory.
PaddedBuffer packCodes(const uint8_t *codes, uint32_t rows, uint32_t width);

} // namespace headrace::storage
