// Loading a morsel: chunks from the cache, the missing ones read together, then the promises
// checked.
#include "runtime/storage/parquet/scan_source.h"

#include "runtime/storage/parquet/chunk_loader.h"
#include "runtime/storage/parquet/pruning.h"
#include "runtime/storage/share.h"

#include <algorithm>

namespace headrace::storage {
namespace {

struct Target {
  std::shared_ptr<const ParquetFile> file;
  const std::vector<uint32_t> *columns; ///< index in the file of each of the slot's columns
  uint32_t rowGroup;
  uint64_t firstRow; ///< within this rank's share
};

class ScanSource final : public MorselSource {
public:
  plan::Slot slot;
  std::vector<std::unique_ptr<std::vector<uint32_t>>> columnMaps; ///< by file
  std::vector<Target> targets;
  std::shared_ptr<PageCache> cache;
  std::shared_ptr<std::atomic<uint64_t>> fileBytesRead;
  uint64_t totalRows = 0;

  size_t morselCount() const override { return targets.size(); }
  uint64_t rows(size_t index) const override {
    const Target &target = targets[index];
    return target.file->footer().rowGroups[target.rowGroup].rows;
  }
  uint64_t rows() const override { return totalRows; }
  Expected<MorselHandle> load(size_t index) const override;

private:
  using Chunks = std::vector<std::shared_ptr<const EncodedChunk>>;
  Status loadMissing(const Target &target, Chunks &chunks) const;
  Status checkPromise(const Target &target, size_t column, const EncodedChunk &chunk) const;
};

using Loaders = std::vector<std::unique_ptr<ChunkLoader>>;

/// Some block does not decompress: looks for the page it belongs to.
Status findBrokenPage(const Loaders &loaders) {
  for (const std::unique_ptr<ChunkLoader> &loader : loaders) {
    if (loader) {
      HR_RETURN_IF_ERROR(loader->findBrokenPage());
    }
  }
  return makeError(ErrorKind::kInternal, "pages decompress one at a time, but not together");
}

Status ScanSource::loadMissing(const Target &target, Chunks &chunks) const {
  const Decoders &decoders = Decoders::get();
  Loaders loaders(chunks.size());
  std::vector<primitives::SnappyBlock> blocks;
  for (size_t i = 0; i < chunks.size(); ++i) {
    if (chunks[i]) {
      continue;
    }
    loaders[i] = std::make_unique<ChunkLoader>(decoders, target.file, target.rowGroup,
                                               (*target.columns)[i], slot.columns[i].type);
    HR_RETURN_IF_ERROR(loaders[i]->readPages());
    loaders[i]->snappyBlocks(blocks);
    fileBytesRead->fetch_add(loaders[i]->fileBytes(), std::memory_order_relaxed);
  }
  // The largest first, so that several are left to interleave until the end.
  std::sort(blocks.begin(), blocks.end(),
            [](const auto &a, const auto &b) { return a.outputBytes > b.outputBytes; });
  if (!primitives::snappyDecompress(decoders.isa, blocks)) {
    return findBrokenPage(loaders);
  }
  for (size_t i = 0; i < chunks.size(); ++i) {
    if (loaders[i]) {
      HR_ASSIGN_OR_RETURN(chunks[i], loaders[i]->finish());
      chunks[i] = cache->insert(
          {target.file->number(), target.rowGroup, (*target.columns)[i], slot.columns[i].type},
          std::move(chunks[i]));
    }
  }
  return Status();
}

Status ScanSource::checkPromise(const Target &target, size_t column,
                                const EncodedChunk &chunk) const {
  const plan::SlotColumn &promise = slot.columns[column];
  if (chunk.hasNulls && !promise.nullable) {
    return makeError(
        ErrorKind::kData, placeOf(*target.file, target.rowGroup, (*target.columns)[column]),
        ": the plan's statistics promise that there is no NULL, but there is; recompile the plan");
  }
  if (promise.ranged && chunk.min <= chunk.max &&
      (chunk.min < promise.min || chunk.max > promise.max)) {
    __int128 value = chunk.min < promise.min ? chunk.min : chunk.max;
    return makeError(ErrorKind::kData,
                     placeOf(*target.file, target.rowGroup, (*target.columns)[column]),
                     ": the plan's statistics promise values in [", promise.min, ", ", promise.max,
                     "], recompile the plan; found: ", integerText(value));
  }
  return Status();
}

Expected<MorselHandle> ScanSource::load(size_t index) const {
  const Target &target = targets[index];
  Chunks chunks(slot.columns.size());
  bool missing = false;
  for (size_t i = 0; i < chunks.size(); ++i) {
    chunks[i] = cache->find(
        {target.file->number(), target.rowGroup, (*target.columns)[i], slot.columns[i].type});
    missing |= !chunks[i];
  }
  if (missing) {
    Status status = loadMissing(target, chunks);
    HR_RETURN_IF_ERROR(target.file->mapping()->intact()); // else zeros are taken for a broken page
    HR_RETURN_IF_ERROR(status);
  }
  auto loaded = std::make_shared<LoadedMorsel>();
  loaded->columns.reserve(chunks.size());
  loaded->pins.reserve(chunks.size());
  for (size_t i = 0; i < chunks.size(); ++i) {
    HR_RETURN_IF_ERROR(checkPromise(target, i, *chunks[i]));
    loaded->columns.push_back(chunks[i]->column());
    loaded->bytes += chunks[i]->bytes;
    loaded->pins.push_back(std::move(chunks[i]));
  }
  loaded->morsel.rows = static_cast<uint32_t>(rows(index));
  loaded->morsel.columnCount = static_cast<uint32_t>(loaded->columns.size());
  loaded->morsel.columns = loaded->columns.data();
  loaded->morsel.firstRow = target.firstRow;
  loaded->intact = [mapping = target.file->mapping()] { return mapping->intact(); };
  return MorselHandle(std::move(loaded));
}

/// The index of each wanted column in this file, after checking that it is what the plan was
/// compiled for.
Expected<std::unique_ptr<std::vector<uint32_t>>> bindColumns(const plan::Slot &slot,
                                                             const ParquetFile &file) {
  auto columns = std::make_unique<std::vector<uint32_t>>();
  for (const plan::SlotColumn &wanted : slot.columns) {
    int index = file.columnIndex(wanted.file);
    if (index < 0) {
      return makeError(ErrorKind::kUser, file.path(), " has no column: ", wanted.file);
    }
    const ParquetColumn &column = file.footer().columns[static_cast<size_t>(index)];
    if (!column.unsupported.empty()) {
      return makeError(ErrorKind::kUnsupported, file.path(), ", column ", wanted.file, ": ",
                       column.unsupported);
    }
    if (column.type != wanted.logical) {
      return makeError(ErrorKind::kMismatch, file.path(), ", column ", wanted.file, " is ",
                       column.type.text(),
                       ", the plan was compiled for (recompile): ", wanted.logical.text());
    }
    if (!canBe(column.type, wanted.type)) {
      return makeError(ErrorKind::kMismatch, file.path(), ", column ", wanted.file, " of type ",
                       column.type.text(), " cannot be read as: ", typeName(wanted.type));
    }
    columns->push_back(static_cast<uint32_t>(index));
  }
  return columns;
}

bool survives(const plan::Slot &slot, const ParquetFile &file, const ParquetRowGroup &group) {
  return std::all_of(slot.bounds.begin(), slot.bounds.end(), [&](const plan::Bound &bound) {
    int index = file.columnIndex(bound.column);
    return index < 0 || canSatisfy(bound, file.footer().columns[static_cast<size_t>(index)],
                                   group.chunks[static_cast<size_t>(index)], group.rows);
  });
}

} // namespace

Expected<std::unique_ptr<MorselSource>>
makeScanSource(const plan::Slot &slot, std::vector<std::shared_ptr<const ParquetFile>> files,
               std::shared_ptr<PageCache> cache,
               std::shared_ptr<std::atomic<uint64_t>> fileBytesRead, Share share) {
  auto source = std::make_unique<ScanSource>();
  source->slot = slot;
  source->cache = std::move(cache);
  source->fileBytesRead = std::move(fileBytesRead);
  std::vector<Target> all;
  std::vector<uint64_t> rows;
  for (const std::shared_ptr<const ParquetFile> &file : files) {
    HR_ASSIGN_OR_RETURN(std::unique_ptr<std::vector<uint32_t>> columns, bindColumns(slot, *file));
    const auto &groups = file->footer().rowGroups;
    for (size_t g = 0; g < groups.size(); ++g) {
      if (groups[g].rows != 0 && survives(slot, *file, groups[g])) {
        all.push_back({file, columns.get(), static_cast<uint32_t>(g), 0});
        rows.push_back(groups[g].rows);
      }
    }
    source->columnMaps.push_back(std::move(columns));
  }
  auto [first, last] = shareOf(rows, share);
  for (size_t i = first; i < last; ++i) {
    all[i].firstRow = source->totalRows;
    source->totalRows += rows[i];
    source->targets.push_back(std::move(all[i]));
  }
  return std::unique_ptr<MorselSource>(std::move(source));
}

} // namespace headrace::storage
