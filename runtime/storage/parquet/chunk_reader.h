// Column chunks of a row group, or parts of them: from the cache, the missing ones read and
// decompressed together.
#pragma once

#include "runtime/storage/columns/held_chunk.h"
#include "runtime/storage/columns/page_cache.h"
#include "runtime/storage/columns/source.h"
#include "runtime/storage/files/ranges.h"
#include "runtime/storage/parquet/page_index.h"
#include "runtime/storage/parquet/parquet_file.h"

#include <atomic>
#include <memory>
#include <span>
#include <vector>

namespace headrace::storage {

struct ChunkRequest {
  uint32_t column = 0; ///< in the file
  HrType type = HR_I64;
  uint32_t part = kWholeChunk; ///< as ChunkKey has them
  uint32_t partRows = 0;
  PageRun run;
  /// Of a part: what its codes stand for, or null if the column chunk has none.
  std::shared_ptr<const EncodedDictionary> dictionary = {};
};

/// What readers of all row groups share. Thread-safe.
struct PageSupply {
  std::shared_ptr<PageCache> cache;
  std::shared_ptr<PageBuffers> memory;
  std::shared_ptr<std::atomic<uint64_t>> fileBytesRead; ///< not found in the cache
  std::shared_ptr<std::atomic<uint64_t>> aheadBytesMax; ///< of a scan of remote files
};

/// Where in the file a column chunk lies, or if it is nested all that it is stored in.
void addRangesOf(const ParquetFile &file, uint32_t rowGroup, uint32_t column,
                 std::vector<ByteRange> &ranges);

/// The chunks in the order of the requests, of `input`, or the file's own if that is null. Errors
/// as MorselSource::load has them.
Expected<std::vector<HeldChunkHandle>> readChunks(const std::shared_ptr<const ParquetFile> &file,
                                                  uint32_t rowGroup,
                                                  std::span<const ChunkRequest> requests,
                                                  const PageSupply &supply, Reservation &memory,
                                                  std::shared_ptr<const InputFile> input);

} // namespace headrace::storage
