// Memory is charged for the worst case before anything is read, and given back down to what is
// kept.
#include "runtime/storage/parquet/chunk_reader.h"

#include "runtime/storage/parquet/chunk_loader.h"

#include <algorithm>

namespace headrace::storage {
namespace {

using Loaders = std::vector<std::unique_ptr<ChunkLoader>>;

/// Some block does not decompress: looks for the page it belongs to.
Status findBrokenPage(const Loaders &loaders) {
  for (const std::unique_ptr<ChunkLoader> &loader : loaders) {
    HR_RETURN_IF_ERROR(loader->findBrokenPage());
  }
  // no test: decompression gives one answer, however many blocks it is given
  return makeError(ErrorKind::kInternal, "pages decompress one at a time, but not together");
}

Status decompress(const Loaders &loaders) {
  std::vector<primitives::SnappyBlock> blocks;
  for (const std::unique_ptr<ChunkLoader> &loader : loaders) {
    loader->snappyBlocks(blocks);
  }
  // The largest first, so that several are left to interleave until the end.
  std::sort(blocks.begin(), blocks.end(),
            [](const auto &a, const auto &b) { return a.outputBytes > b.outputBytes; });
  return primitives::snappyDecompress(Decoders::get().isa, blocks) ? Status()
                                                                   : findBrokenPage(loaders);
}

/// Reads chunks of one row group.
class Reading {
public:
  Reading(const std::shared_ptr<const ParquetFile> &file, uint32_t rowGroup,
          std::span<const ChunkRequest> requests, const PageSupply &supply, Reservation &memory,
          std::shared_ptr<const InputFile> input)
      : file_(file), rowGroup_(rowGroup), requests_(requests), supply_(supply), memory_(memory),
        input_(std::move(input)), held_(requests.size()) {}

  Expected<std::vector<HeldChunkHandle>> read() {
    std::vector<size_t> missing;
    for (size_t i = 0; i < requests_.size(); ++i) {
      std::shared_ptr<const EncodedChunk> found = supply_.cache->find(keyOf(i));
      if (!found) {
        missing.push_back(i);
        continue;
      }
      HR_ASSIGN_OR_RETURN(Charge charge, Charge::take(memory_, bytesOf(*found)));
      hold(i, std::move(charge), std::move(found));
    }
    Status status = load(missing);
    if (status.kind() == ErrorKind::kMemory && missing.size() > 1) {
      // One at a time takes longer, but only one is there in all its forms.
      status = Status();
      for (size_t i = 0; i < missing.size() && status.ok(); ++i) {
        status = load(std::span(missing).subspan(i, 1));
      }
    }
    HR_RETURN_IF_ERROR(status);
    return std::move(held_);
  }

private:
  ChunkKey keyOf(size_t request) const {
    const ChunkRequest &asked = requests_[request];
    return {file_->number(), rowGroup_, asked.column, asked.type, asked.part, asked.partRows};
  }
  static int64_t bytesOf(const EncodedChunk &chunk) { return static_cast<int64_t>(chunk.bytes); }
  void hold(size_t request, Charge charge, std::shared_ptr<const EncodedChunk> chunk) {
    held_[request] =
        std::make_shared<const HeldChunk>(HeldChunk{std::move(charge), std::move(chunk)});
  }

  /// Some requests together, charged for the most that they can take at any time.
  Status load(std::span<const size_t> requests) {
    Loaders loaders;
    uint64_t bytesMax = 0;
    for (size_t request : requests) {
      const ChunkRequest &asked = requests_[request];
      loaders.push_back(std::make_unique<ChunkLoader>(Decoders::get(), file_, rowGroup_,
                                                      asked.column, asked.type, asked.run,
                                                      asked.dictionary, supply_.memory));
      bytesMax += loaders.back()->bytesMax();
    }
    if (loaders.empty()) {
      return Status();
    }
    HR_ASSIGN_OR_RETURN(Charge working, Charge::take(memory_, static_cast<int64_t>(bytesMax)));
    if (!input_) {
      HR_ASSIGN_OR_RETURN(input_, file_->input());
    }
    for (const std::unique_ptr<ChunkLoader> &loader : loaders) {
      HR_RETURN_IF_ERROR(loader->readPages(*input_));
      supply_.fileBytesRead->fetch_add(loader->fileBytes(), std::memory_order_relaxed);
    }
    HR_RETURN_IF_ERROR(decompress(loaders));
    for (const std::unique_ptr<ChunkLoader> &loader : loaders) {
      loader->dropRaw();
    }
    for (size_t i = 0; i < loaders.size(); ++i) {
      HR_ASSIGN_OR_RETURN(std::shared_ptr<const EncodedChunk> chunk, loaders[i]->finish());
      loaders[i].reset();
      chunk = supply_.cache->insert(keyOf(requests[i]), std::move(chunk),
                                    input_->isRemote() ? PageCache::Keep::kFirst
                                                       : PageCache::Keep::kSecond);
      if (int64_t more = bytesOf(*chunk) - working.bytes(); more > 0) {
        HR_ASSIGN_OR_RETURN(Charge missing, Charge::take(memory_, more));
        working.add(std::move(missing));
      }
      hold(requests[i], working.split(bytesOf(*chunk)), std::move(chunk));
    }
    return Status();
  }

  const std::shared_ptr<const ParquetFile> &file_;
  const uint32_t rowGroup_;
  const std::span<const ChunkRequest> requests_;
  const PageSupply &supply_;
  Reservation &memory_;
  std::shared_ptr<const InputFile> input_;
  std::vector<HeldChunkHandle> held_; ///< by request
};

} // namespace

void addRangesOf(const ParquetFile &file, uint32_t rowGroup, uint32_t column,
                 std::vector<ByteRange> &ranges) {
  const std::vector<ParquetChunk> &chunks = file.footer().rowGroups[rowGroup].chunks;
  ranges.push_back({chunks[column].begin, chunks[column].bytes});
  for (int leaf : file.footer().columns[column].leaves) {
    ranges.push_back(
        {chunks[static_cast<size_t>(leaf)].begin, chunks[static_cast<size_t>(leaf)].bytes});
  }
}

Expected<std::vector<HeldChunkHandle>> readChunks(const std::shared_ptr<const ParquetFile> &file,
                                                  uint32_t rowGroup,
                                                  std::span<const ChunkRequest> requests,
                                                  const PageSupply &supply, Reservation &memory,
                                                  std::shared_ptr<const InputFile> input) {
  return Reading(file, rowGroup, requests, supply, memory, std::move(input)).read();
}

} // namespace headrace::storage
