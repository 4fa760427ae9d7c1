// The morsels of a slot that is bound to Parquet files: one per row group.
#pragma once

#include "runtime/storage/page_cache.h"
#include "runtime/storage/parquet/parquet_file.h"
#include "runtime/storage/source.h"

#include <atomic>
#include <memory>
#include <vector>

namespace headrace::storage {

/// Checks the slot against the files' schemas, prunes, and takes this rank's share. `fileBytesRead`
/// counts what is read from files (not found in the cache).
Expected<std::unique_ptr<MorselSource>>
makeScanSource(const plan::Slot &slot, std::vector<std::shared_ptr<const ParquetFile>> files,
               std::shared_ptr<PageCache> cache,
               std::shared_ptr<std::atomic<uint64_t>> fileBytesRead, Share share);

} // namespace headrace::storage
