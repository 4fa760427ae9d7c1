// Building, sealing and copying of chunks.
#include "runtime/exec/chunk/chunk.h"

#include "model/plan/names.h"
#include "runtime/abi/type_bytes.h"
#include "runtime/base/check.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace headrace::exec {
namespace {

uint64_t padded(uint64_t bytes) { return (bytes + HR_PADDING + 63) & ~uint64_t(63); }
uint64_t bitmapBytes(uint64_t rows) { return (rows + 7) / 8; }

HrEncoding sealedEncoding(HrType type) {
  return type == HR_STRING ? HR_OFFSETS : type == HR_BOOL ? HR_BITMAP : HR_VALUES;
}

/// Bytes of a sealed column without validity and heap.
uint64_t sealedBytes(HrType type, uint64_t rows) {
  return type == HR_STRING ? (rows + 1) * 4
         : type == HR_BOOL ? bitmapBytes(rows)
                           : rows * abi::bytesOf(type);
}

/// Bytes of 0 and 1 to bits, in place or not; returns whether all are 1.
bool packBits(const uint8_t *bytes, uint64_t rows, uint8_t *bits) {
  bool all = true;
  uint64_t row = 0;
  for (; row + 8 <= rows; row += 8) {
    uint64_t eight;
    std::memcpy(&eight, bytes + row, 8);
    // Gathers the lowest bit of each byte into the top byte of the product.
    uint8_t packed =
        static_cast<uint8_t>(((eight & 0x0101010101010101ull) * 0x0102040810204080ull) >> 56);
    bits[row / 8] = packed;
    all &= packed == 0xff;
  }
  if (row < rows) {
    uint8_t packed = 0;
    for (uint64_t i = row; i < rows; ++i) {
      packed |= static_cast<uint8_t>((bytes[i] & 1) << (i - row));
      all &= bytes[i] & 1;
    }
    bits[row / 8] = packed;
  }
  return all;
}

/// Of a text column when its first text comes; of a stream in parts, of which a worker fills many
/// chunks at a time, and of chunks that are small for want of memory, less.
constexpr uint64_t kHeapBytesMin = 60 << 10;
constexpr uint64_t kPartHeapBytesMin = 3 << 10;
/// A heap begins by this part larger than what the last one held.
constexpr uint64_t kHeapMargin = 16;
/// The heap of a chunk that is full grows by this part of it: a few rows are still to come.
constexpr uint64_t kFullHeapPart = 4;
/// Larger blocks have multiples of it.
constexpr int64_t kHugeBytes = 2 << 20;
/// What is worth a chunk, also where memory is little.
constexpr int64_t kChunkBytesMin = 16 << 10;
constexpr int64_t kPartChunkBytesMin = 4 << 10;
constexpr int64_t kRowsMin = 64;
constexpr int64_t kPartRowsMin = 16;

/// Memory of a chunk; the account goes last.
struct ChunkMemory {
  std::shared_ptr<MemoryAccount> account;
  Block fixed;
  std::vector<Block> heaps;
};

} // namespace

ChunkSize chunkSizeWithin(const plan::Stream &stream, size_t chunks, int64_t bytes) {
  const bool isPart = stream.parts != 0;
  const int64_t room =
      std::max(bytes / static_cast<int64_t>(chunks), isPart ? kPartChunkBytesMin : kChunkBytesMin);
  auto rowBytes = static_cast<int64_t>(stream.textBytes);
  for (const plan::Column &column : stream.schema.columns) {
    rowBytes += abi::bytesOf(column.type) + column.nullable;
  }
  const int64_t least = isPart ? kPartRowsMin : kRowsMin;
  const auto rows =
      std::clamp<int64_t>(room / std::max<int64_t>(rowBytes, 1),
                          std::min<int64_t>(least, stream.chunkRows), stream.chunkRows);
  return {static_cast<uint32_t>(rows), room};
}

void putInOrder(std::vector<ChunkHandle> &chunks) {
  if (!chunks.empty() && !chunks.front()->order.empty()) {
    std::sort(chunks.begin(), chunks.end(),
              [](const ChunkHandle &a, const ChunkHandle &b) { return a->order < b->order; });
  }
}

uint64_t Chunk::bytes() const {
  uint64_t sum = 0;
  for (size_t c = 0; c < segments.size(); ++c) {
    sum += segments[c].bytes + heapBytes[c] + (segments[c].validity ? bitmapBytes(rows) : 0);
  }
  return sum;
}

ChunkView::ChunkView(const Chunk &chunk, uint64_t firstRow) {
  columns_.reserve(chunk.segments.size());
  for (const HrSegment &segment : chunk.segments) {
    columns_.push_back(HrColumn{&segment, 1, 0, nullptr, 0, 0});
  }
  morsel_.rows = chunk.rows;
  morsel_.columnCount = static_cast<uint32_t>(columns_.size());
  morsel_.columns = columns_.data();
  morsel_.firstRow = firstRow;
}

Expected<ChunkHandle> copyChunk(const Chunk &chunk, const plan::Schema &schema,
                                std::shared_ptr<MemoryAccount> account) {
  uint64_t total = 0;
  for (size_t c = 0; c < chunk.segments.size(); ++c) {
    const HrSegment &from = chunk.segments[c];
    total += padded(sealedBytes(schema.columns[c].type, chunk.rows)) + padded(chunk.heapBytes[c]) +
             (from.validity ? padded(bitmapBytes(chunk.rows)) : 0);
  }
  auto memory = std::make_shared<ChunkMemory>();
  HR_ASSIGN_OR_RETURN(memory->fixed, account->allocate(static_cast<int64_t>(total)));
  memory->account = std::move(account);
  auto *at = reinterpret_cast<uint8_t *>(memory->fixed.data());
  auto place = [&](const void *from, uint64_t bytes) {
    uint8_t *to = at;
    std::memcpy(to, from, bytes);
    at += padded(bytes);
    return to;
  };
  auto copy = std::make_shared<Chunk>();
  copy->rows = chunk.rows;
  copy->order = chunk.order;
  copy->target = chunk.target;
  copy->heapBytes = chunk.heapBytes;
  for (size_t c = 0; c < chunk.segments.size(); ++c) {
    HrSegment segment = chunk.segments[c];
    segment.bytes = sealedBytes(schema.columns[c].type, chunk.rows);
    segment.data = place(segment.data, segment.bytes);
    if (segment.heap) {
      segment.heap = place(segment.heap, chunk.heapBytes[c]);
    }
    if (segment.validity) {
      segment.validity = place(segment.validity, bitmapBytes(chunk.rows));
    }
    copy->segments.push_back(segment);
  }
  copy->pins.push_back(std::move(memory));
  return ChunkHandle(std::move(copy));
}

namespace {

void takeBits(const uint8_t *from, std::span<const uint32_t> rows, uint8_t *to) {
  std::memset(to, 0, bitmapBytes(rows.size()));
  for (size_t i = 0; i < rows.size(); ++i) {
    to[i / 8] |= static_cast<uint8_t>((from[rows[i] / 8] >> (rows[i] % 8) & 1) << (i % 8));
  }
}

template <typename Value>
void takeValues(const void *from, std::span<const uint32_t> rows, void *to) {
  for (size_t i = 0; i < rows.size(); ++i) {
    static_cast<Value *>(to)[i] = static_cast<const Value *>(from)[rows[i]];
  }
}

void takeStrings(const HrSegment &from, std::span<const uint32_t> rows, uint32_t *offsets,
                 uint8_t *heap) {
  const auto *source = static_cast<const uint32_t *>(from.data);
  offsets[0] = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    uint32_t begin = source[rows[i]], length = source[rows[i] + 1] - begin;
    std::memcpy(heap + offsets[i], from.heap + begin, length);
    offsets[i + 1] = offsets[i] + length;
  }
}

uint64_t textBytes(const HrSegment &segment, std::span<const uint32_t> rows) {
  const auto *offsets = static_cast<const uint32_t *>(segment.data);
  uint64_t bytes = 0;
  for (uint32_t row : rows) {
    bytes += offsets[row + 1] - offsets[row];
  }
  return bytes;
}

} // namespace

Expected<std::shared_ptr<Chunk>> takeRows(const Chunk &chunk, const plan::Schema &schema,
                                          std::span<const int32_t> columns,
                                          std::span<const uint32_t> rows,
                                          std::shared_ptr<MemoryAccount> account) {
  auto taken = std::make_shared<Chunk>();
  taken->rows = static_cast<uint32_t>(rows.size());
  uint64_t total = 0;
  for (int32_t column : columns) {
    const HrSegment &from = chunk.segments[column];
    HrType type = schema.columns[column].type;
    taken->heapBytes.push_back(type == HR_STRING ? textBytes(from, rows) : 0);
    total += padded(sealedBytes(type, rows.size())) + padded(taken->heapBytes.back()) +
             (from.validity ? padded(bitmapBytes(rows.size())) : 0);
  }
  auto memory = std::make_shared<ChunkMemory>();
  HR_ASSIGN_OR_RETURN(memory->fixed, account->allocate(static_cast<int64_t>(total)));
  memory->account = std::move(account);
  auto *at = reinterpret_cast<uint8_t *>(memory->fixed.data());
  auto place = [&](uint64_t bytes) { return std::exchange(at, at + padded(bytes)); };
  for (size_t c = 0; c < columns.size(); ++c) {
    const HrSegment &from = chunk.segments[columns[c]];
    HrType type = schema.columns[columns[c]].type;
    HrSegment segment{};
    segment.rows = taken->rows;
    segment.encoding = sealedEncoding(type);
    segment.bytes = sealedBytes(type, rows.size());
    uint8_t *to = place(segment.bytes);
    segment.data = to;
    if (type == HR_STRING) {
      uint8_t *heap = place(taken->heapBytes[c]);
      takeStrings(from, rows, reinterpret_cast<uint32_t *>(to), heap);
      segment.heap = heap;
    } else if (type == HR_BOOL) {
      takeBits(static_cast<const uint8_t *>(from.data), rows, to);
    } else {
      switch (abi::bytesOf(type)) {
      case 1:
        takeValues<uint8_t>(from.data, rows, to);
        break;
      case 2:
        takeValues<uint16_t>(from.data, rows, to);
        break;
      case 4:
        takeValues<uint32_t>(from.data, rows, to);
        break;
      case 8:
        takeValues<uint64_t>(from.data, rows, to);
        break;
      default:
        takeValues<unsigned __int128>(from.data, rows, to);
      }
    }
    if (from.validity) {
      uint8_t *validity = place(bitmapBytes(rows.size()));
      takeBits(from.validity, rows, validity);
      segment.validity = validity;
    }
    taken->segments.push_back(segment);
  }
  taken->pins.push_back(std::move(memory));
  return taken;
}

Expected<std::shared_ptr<Chunk>> takePiece(const Chunk &chunk, const plan::Schema &schema,
                                           std::span<const uint32_t> rows, int32_t target,
                                           std::shared_ptr<MemoryAccount> account) {
  std::vector<int32_t> columns(schema.columns.size());
  std::iota(columns.begin(), columns.end(), 0);
  HR_ASSIGN_OR_RETURN(auto piece, takeRows(chunk, schema, columns, rows, std::move(account)));
  piece->order = chunk.order;
  piece->target = target;
  return piece;
}

struct OutputChunk::Buffers : ChunkMemory {};

OutputChunk::OutputChunk(const plan::Stream &stream, std::shared_ptr<MemoryAccount> account,
                         ChunkSize size)
    : stream_(stream), account_(std::move(account)), capacity_(size.rows), bytesMax_(size.bytes),
      columns_(stream.schema.columns.size()), lastHeaps_(columns_.size()) {}

Status OutputChunk::prepare() {
  HR_CHECK(!buffers_);
  const uint64_t capacity = capacity_;
  uint64_t total = 0;
  for (const plan::Column &column : stream_.schema.columns) {
    uint64_t width = column.type == HR_STRING ? 4 : abi::bytesOf(column.type);
    total += padded((capacity + 1) * width) + (column.nullable ? padded(capacity) : 0);
  }
  auto buffers = std::make_shared<Buffers>();
  HR_ASSIGN_OR_RETURN(buffers->fixed,
                      account_->allocate(static_cast<int64_t>(std::max<uint64_t>(total, 1))));
  buffers->account = account_;
  buffers->heaps.resize(columns_.size());
  auto *at = reinterpret_cast<uint8_t *>(buffers->fixed.data());
  for (size_t c = 0; c < columns_.size(); ++c) {
    const plan::Column &column = stream_.schema.columns[c];
    uint64_t width = column.type == HR_STRING ? 4 : abi::bytesOf(column.type);
    HrOutputColumn &out = columns_[c];
    out = HrOutputColumn{};
    out.data = at;
    at += padded((capacity + 1) * width);
    if (column.nullable) {
      out.validity = at;
      at += padded(capacity);
    }
    if (column.type == HR_STRING) {
      *static_cast<uint32_t *>(out.data) = 0;
    }
  }
  buffers_ = std::move(buffers);
  isFull_ = false;
  abi_ = HrOutput{0, capacity_, columns_.data()};
  return {};
}

uint64_t OutputChunk::heapBytesMin() const {
  const bool isWhole = stream_.parts == 0 && capacity_ == stream_.chunkRows;
  return isWhole ? kHeapBytesMin : kPartHeapBytesMin;
}

/// What the column's texts may take beside all else in the chunk: a block, with what follows them.
uint64_t OutputChunk::heapRoom(uint32_t column) const {
  int64_t room = bytesMax_ - buffers_->fixed.size();
  for (size_t other = 0; other < buffers_->heaps.size(); ++other) {
    room -= other == column ? 0 : buffers_->heaps[other].size();
  }
  // Blocks are larger than what is asked for.
  room = room < kHugeBytes / 2 ? room / 5 * 4
         : room < kHugeBytes   ? kHugeBytes / 2
                               : room / kHugeBytes * kHugeBytes;
  return std::max<uint64_t>(std::max<int64_t>(room - HR_PADDING, 0), heapBytesMin());
}

Status OutputChunk::growHeap(uint32_t column, uint64_t bytes) {
  HR_CHECK(column < columns_.size());
  HrOutputColumn &out = columns_[column];
  uint64_t needed = out.heapUsed + bytes;
  if (needed <= out.heapCapacity) {
    return {};
  }
  // Arrow's offsets are signed: a chunk's heap ends at 2 GiB.
  if (needed > INT32_MAX) {
    // no test: it takes texts of 2 GiB
    return makeError(ErrorKind::kMemory, "strings of one chunk exceed 2 GiB in column '",
                     stream_.schema.columns[column].name, "' of stream '", stream_.name, "'");
  }
  // As large at once as the last chunk's, and a little more: what is outgrown is copied.
  const Heap &before = lastHeaps_[column];
  const uint64_t likely =
      out.heapCapacity == 0
          ? std::min<uint64_t>(before.used + before.used / kHeapMargin, before.capacity)
          : 0;
  const uint64_t room = heapRoom(column);
  isFull_ |= needed > room;
  const uint64_t wanted =
      isFull_
          ? std::max(needed, out.heapCapacity + out.heapCapacity / kFullHeapPart)
          : std::max(
                needed,
                std::min(std::max({uint64_t(out.heapCapacity) * 2, likely, heapBytesMin()}), room));
  HR_ASSIGN_OR_RETURN(Block block, account_->allocate(static_cast<int64_t>(wanted + HR_PADDING)));
  auto *heap = reinterpret_cast<uint8_t *>(block.data());
  if (out.heapUsed != 0) {
    std::memcpy(heap, out.heap, out.heapUsed);
  }
  buffers_->heaps[column] = std::move(block);
  out.heap = heap;
  out.heapCapacity = static_cast<uint32_t>(
      std::min<uint64_t>(buffers_->heaps[column].size() - HR_PADDING, INT32_MAX));
  return {};
}

Expected<ChunkHandle> OutputChunk::seal(ChunkOrder order, int32_t target) {
  HR_CHECK(buffers_ != nullptr);
  if (abi_.rows == 0) {
    return ChunkHandle();
  }
  HR_ASSIGN_OR_RETURN(ChunkHandle chunk, sealInPlace(std::move(order), target));
  for (size_t c = 0; c < columns_.size(); ++c) {
    lastHeaps_[c] = {columns_[c].heapUsed, columns_[c].heapCapacity};
  }
  buffers_.reset();
  abi_ = HrOutput{};
  // A chunk that is mostly empty would hold on to the memory of a full one.
  if (uint64_t(chunk->rows) * 4 < capacity_) {
    return copyChunk(*chunk, stream_.schema, account_);
  }
  return chunk;
}

Expected<ChunkHandle> OutputChunk::sealInPlace(ChunkOrder order, int32_t target) {
  auto chunk = std::make_shared<Chunk>();
  chunk->rows = abi_.rows;
  chunk->order = std::move(order);
  chunk->target = target;
  for (size_t c = 0; c < columns_.size(); ++c) {
    HrOutputColumn &out = columns_[c];
    HrType type = stream_.schema.columns[c].type;
    HrSegment segment{};
    segment.rows = abi_.rows;
    segment.encoding = sealedEncoding(type);
    segment.bytes = sealedBytes(type, abi_.rows);
    segment.data = out.data;
    segment.heap = out.heap;
    if (type == HR_BOOL) {
      // The bits overtake no byte that is still to be read.
      packBits(static_cast<uint8_t *>(out.data), abi_.rows, static_cast<uint8_t *>(out.data));
    }
    if (out.validity && !packBits(out.validity, abi_.rows, out.validity)) {
      segment.validity = out.validity;
    }
    if (type == HR_STRING && !segment.heap) {
      segment.heap =
          static_cast<uint8_t *>(out.data); // all strings are empty; readable, never read
    }
    chunk->segments.push_back(segment);
    chunk->heapBytes.push_back(type == HR_STRING ? out.heapUsed : 0);
  }
  chunk->pins.push_back(buffers_);
  return ChunkHandle(std::move(chunk));
}

} // namespace headrace::exec
