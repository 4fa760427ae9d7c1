// Rows are encoded as they are for other ranks.
#include "runtime/exec/chunk/chunk_spill.h"

#include "runtime/exec/chunk/chunk_codec.h"

#include <new>

namespace headrace::exec {
namespace {

/// A chunk that was read back, in one block.
struct ReadChunk {
  std::shared_ptr<MemoryAccount> account;
  Block block;
};

} // namespace

Expected<std::shared_ptr<SpillStaging>> ChunkSpill::room() const {
  return account_->memory().staging(account_);
}

KeptChunk ChunkSpill::inMemory(ChunkHandle chunk) {
  uint64_t heap = 0;
  for (uint64_t bytes : chunk->heapBytes) {
    heap += bytes;
  }
  // Its buffers are blocks.
  const int64_t bytes = BlockPool::blockBytes(static_cast<int64_t>(chunk->bytes() - heap)) +
                        (heap > 0 ? BlockPool::blockBytes(static_cast<int64_t>(heap)) : 0);
  ChunkOrder order = chunk->order;
  return {std::move(chunk), {}, bytes, std::move(order)};
}

Expected<std::vector<KeptChunk>> ChunkSpill::write(const Chunk &chunk) {
  std::vector<KeptChunk> written;
  std::lock_guard lock(staging_->mutex);
  auto *body = reinterpret_cast<uint8_t *>(staging_->block.data());
  const auto capacity = static_cast<uint64_t>(staging_->block.size());
  auto undo = [&] {
    for (const KeptChunk &piece : written) {
      release(piece.extent);
    }
    written.clear();
  };
  for (uint32_t row = 0; row < chunk.rows;) {
    const uint32_t rows = rowsThatFit(chunk, schema_, row, capacity);
    if (rows == 0) {
      undo();
      return written;
    }
    encodeRows(chunk, schema_, row, rows, body);
    Expected<SpillFile::Extent> extent =
        file().write({body, encodedBytes(chunk, schema_, row, rows)});
    if (!extent.ok()) {
      undo();
      return extent.status();
    }
    written.push_back({nullptr, *extent, 0, chunk.order});
    row += rows;
  }
  return written;
}

Expected<ChunkHandle> ChunkSpill::read(const SpillFile::Extent &extent) const {
  auto memory = std::make_shared<ReadChunk>();
  HR_ASSIGN_OR_RETURN(memory->block, account_->allocate(static_cast<int64_t>(extent.bytes)));
  memory->account = account_;
  auto *body = reinterpret_cast<uint8_t *>(memory->block.data());
  HR_RETURN_IF_ERROR(file().read(extent, body));
  HR_ASSIGN_OR_RETURN(std::shared_ptr<Chunk> chunk, decodeRows({body, extent.bytes}, schema_));
  chunk->pins.push_back(std::move(memory));
  return ChunkHandle(std::move(chunk));
}

Expected<ChunkHandle> ChunkSpill::readForCaller(const SpillFile::Extent &extent) const {
  constexpr std::align_val_t kAligned{HR_PADDING};
  std::shared_ptr<uint8_t> memory(
      static_cast<uint8_t *>(operator new(extent.bytes + HR_PADDING, kAligned)),
      [](uint8_t *bytes) { operator delete(bytes, kAligned); });
  HR_RETURN_IF_ERROR(file().read(extent, memory.get()));
  HR_ASSIGN_OR_RETURN(std::shared_ptr<Chunk> chunk,
                      decodeRows({memory.get(), extent.bytes}, schema_));
  chunk->pins.push_back(std::move(memory));
  return ChunkHandle(std::move(chunk));
}

} // namespace headrace::exec
