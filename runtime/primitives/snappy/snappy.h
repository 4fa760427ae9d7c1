// Snappy decompression (raw format, no framing) for pages: safe on any input, and faster with
// several blocks at a time, because the streams of kSnappyStreams blocks are interleaved in one
// loop.
#pragma once

#include "runtime/primitives/dispatch/isa.h"
#include "runtime/primitives/snappy/snappy_block.h"

#include <cstdint>
#include <span>

namespace headrace::primitives {

/// Fastest if the largest blocks come first. True if every block decompresses to exactly its
/// outputBytes; else the contents of all outputs are undefined.
bool snappyDecompress(Isa isa, std::span<const SnappyBlock> blocks);

/// If the block is one single literal, its bytes within `input` (to be used in place); else null.
const uint8_t *snappySingleLiteral(const uint8_t *input, uint64_t inputBytes, uint64_t outputBytes);

} // namespace headrace::primitives
