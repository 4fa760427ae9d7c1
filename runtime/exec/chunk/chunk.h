// Chunks: sealed columns that move between tasks. And the chunk a kernel is writing.
//
// A sealed column: values, or a bitmap for bools, or uint32_t offsets and a heap for strings;
// validity is a bitmap or absent. Every buffer has HR_PADDING readable bytes after it.
#pragma once

#include "model/plan/plan.h"
#include "runtime/abi/kernel.h"
#include "runtime/base/status.h"
#include "runtime/exec/memory/memory_account.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace headrace::exec {

/// Where a chunk stands in an ordered stream: compared lexicographically. Empty: no order.
using ChunkOrder = std::vector<uint32_t>;

/// What the order of a stream's chunks is.
enum class StreamOrder : uint8_t {
  kNone,
  kOneRank,  ///< that of a sorted state on one rank
  kAllRanks, ///< that of a sorted state, of a table, or of one part after the other, over all ranks
};

/// Immutable once shared. `pins` hold what the segments point into.
struct Chunk {
  uint32_t rows = 0;
  std::vector<HrSegment> segments; ///< one a column
  std::vector<uint64_t> heapBytes; ///< of string columns
  ChunkOrder order;
  int32_t target =
      0; ///< place in its group of the rank that the rows are for (partitioned streams)
  /// Whether the bytes are in buffers of an exchange's bounded pool: must be copied to be kept for
  /// long.
  bool pooled = false;
  std::vector<std::shared_ptr<const void>> pins;

  /// Bytes of the columns as they are encoded.
  uint64_t bytes() const;
};
using ChunkHandle = std::shared_ptr<const Chunk>;

/// When a chunk is full.
struct ChunkSize {
  uint32_t rows = 0;
  int64_t bytes = INT64_MAX; ///< of memory, its texts included: no row begins beyond them
};

/// Of the chunks of a stream of which there are so many at a time in `bytes` of memory together,
/// but not too little to be worth a chunk.
ChunkSize chunkSizeWithin(const plan::Stream &stream, size_t chunks, int64_t bytes);

/// In an ordered stream every chunk has its own place; other chunks stay as they arrived.
void putInOrder(std::vector<ChunkHandle> &chunks);

/// The rows of a chunk as kernels read them. Lives as long as the chunk.
class ChunkView {
public:
  explicit ChunkView(const Chunk &chunk, uint64_t firstRow);
  const HrMorsel &morsel() const { return morsel_; }

private:
  std::vector<HrColumn> columns_;
  HrMorsel morsel_{};
};

/// A copy of the chunk in memory of `account`, as small as its rows allow.
Expected<ChunkHandle> copyChunk(const Chunk &chunk, const plan::Schema &schema,
                                std::shared_ptr<MemoryAccount> account);

/// Some rows of some of a chunk's columns, in this order, in memory of `account`.
Expected<std::shared_ptr<Chunk>> takeRows(const Chunk &chunk, const plan::Schema &schema,
                                          std::span<const int32_t> columns,
                                          std::span<const uint32_t> rows,
                                          std::shared_ptr<MemoryAccount> account);

/// Some of a chunk's rows, in its place of the order, for a target.
Expected<std::shared_ptr<Chunk>> takePiece(const Chunk &chunk, const plan::Schema &schema,
                                           std::span<const uint32_t> rows, int32_t target,
                                           std::shared_ptr<MemoryAccount> account);

/// Purpose: the HrOutput that a kernel fills, and its sealing. Not thread-safe.
/// Ownership: owns the buffers until seal() hands them to a chunk.
class OutputChunk {
public:
  /// Of at most as many rows as the stream's chunks have.
  OutputChunk(const plan::Stream &stream, std::shared_ptr<MemoryAccount> account, ChunkSize size);
  OutputChunk(const plan::Stream &stream, std::shared_ptr<MemoryAccount> account)
      : OutputChunk(stream, std::move(account), ChunkSize{stream.chunkRows}) {}

  /// Fresh buffers of that capacity; the last ones must have been sealed.
  Status prepare();
  /// The rows so far as a chunk (null if there are none); afterwards prepare() before the next row.
  Expected<ChunkHandle> seal(ChunkOrder order, int32_t target);
  bool prepared() const { return buffers_ != nullptr; }

  HrOutput &abi() { return abi_; }
  /// Room for `bytes` more in the heap of a string column (hr_output_grow).
  Status growHeap(uint32_t column, uint64_t bytes);
  /// Its texts have taken what it may take: who fills it ends with the rows at hand.
  bool isFull() const { return isFull_; }

private:
  struct Buffers;
  uint64_t heapBytesMin() const;
  uint64_t heapRoom(uint32_t column) const;
  Expected<ChunkHandle> sealInPlace(ChunkOrder order, int32_t target);
  const plan::Stream &stream_;
  std::shared_ptr<MemoryAccount> account_;
  const uint32_t capacity_; ///< rows
  const int64_t bytesMax_;
  bool isFull_ = false;
  std::shared_ptr<Buffers> buffers_;
  std::vector<HrOutputColumn> columns_;
  struct Heap {
    uint32_t used = 0;
    uint32_t capacity = 0;
  };
  std::vector<Heap> lastHeaps_; ///< of the chunk before, by column
  HrOutput abi_{};
};

} // namespace headrace::exec
