// Chunks as bytes of an exchange message, and back.
//
//   uint32 rows, uint32 columns, uint32 words of its order, then per column uint32 {data, validity,
//   heap, heapBytes}: offsets from the start of the body, 0 = absent; then the order. Buffers
//   follow in column order, 64-byte aligned, each with HR_PADDING bytes after it. Little-endian.
#pragma once

#include "runtime/exec/chunk/chunk.h"
#include "runtime/memory/buffer_pool.h"

#include <cstdint>

namespace headrace::exec {

/// How many rows from `firstRow` on fit a body of `capacityBytes`; 0 if not even one does.
uint32_t rowsThatFit(const Chunk &chunk, const plan::Schema &schema, uint32_t firstRow,
                     uint64_t capacityBytes);

/// Bytes of the body for these rows.
uint64_t encodedBytes(const Chunk &chunk, const plan::Schema &schema, uint32_t firstRow,
                      uint32_t rows);

/// Writes the rows into an unsealed buffer with capacity for encodedBytes(), and seals it.
void encodeRows(const Chunk &chunk, const plan::Schema &schema, uint32_t firstRow, uint32_t rows,
                const BufferRef &body);

/// The same into plain memory of encodedBytes().
void encodeRows(const Chunk &chunk, const plan::Schema &schema, uint32_t firstRow, uint32_t rows,
                uint8_t *body);

/// The longest that one row may be in this form.
constexpr uint64_t kRowBytesMax = UINT32_MAX;

/// The bytes of one row from the byte `first` on, as many as the unsealed buffer has room for, and
/// seals it: so a row that fits no body goes in several, which are its encodedBytes() one after the
/// other.
void encodePart(const Chunk &chunk, const plan::Schema &schema, uint32_t row, uint64_t first,
                const BufferRef &body);

/// A chunk that points into the body, which the caller pins. Errors as below.
Expected<std::shared_ptr<Chunk>> decodeRows(std::span<const uint8_t> body,
                                            const plan::Schema &schema);

/// A chunk that points into the body and pins it. kCorrupt if offsets or sizes do not fit the body.
Expected<std::shared_ptr<Chunk>> decodeRows(const BufferRef &body, const plan::Schema &schema);

} // namespace headrace::exec
