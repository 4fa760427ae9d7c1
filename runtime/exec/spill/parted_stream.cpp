// A list of pieces a part; the file is written under the lock, and read outside of it.
#include "runtime/exec/spill/parted_stream.h"

#include "runtime/base/check.h"
#include "runtime/exec/chunk_codec.h"

namespace headrace::exec {
namespace {

/// A row that does not fit stays in memory.
constexpr int64_t kStagingBytes = 1 << 20;

/// What a chunk of its own takes: its buffers are blocks.
int64_t memoryOf(const Chunk &chunk) {
  uint64_t heap = 0;
  for (uint64_t bytes : chunk.heapBytes) {
    heap += bytes;
  }
  return BlockPool::blockBytes(static_cast<int64_t>(chunk.bytes() - heap)) +
         (heap > 0 ? BlockPool::blockBytes(static_cast<int64_t>(heap)) : 0);
}

/// A chunk that was read back, in one block.
struct ReadChunk {
  std::shared_ptr<MemoryAccount> account;
  Block block;
};

} // namespace

Expected<std::shared_ptr<PartedStream>> PartedStream::open(const plan::Stream &stream,
                                                           std::shared_ptr<MemoryAccount> account,
                                                           std::shared_ptr<SpillFile> file) {
  std::shared_ptr<PartedStream> made(new PartedStream(stream, std::move(account), std::move(file)));
  HR_ASSIGN_OR_RETURN(made->staging_, made->account_->allocate(kStagingBytes));
  made->account_->memory().add(made.get());
  return made;
}

PartedStream::~PartedStream() {
  account_->memory().remove(this);
  for (const Part &part : parts_) {
    for (size_t i = part.resident; i < part.pieces.size(); ++i) {
      file_->release(part.pieces[i].extent);
    }
  }
  parts_.clear();
  staging_.reset();
}

bool PartedStream::tryPush(ChunkHandle &chunk) {
  std::lock_guard lock(mutex_);
  HR_CHECK(chunk->target >= 0 && static_cast<size_t>(chunk->target) < parts_.size());
  Part &part = parts_[chunk->target];
  part.amount.rows += chunk->rows;
  for (uint64_t bytes : chunk->heapBytes) {
    part.amount.textBytes += bytes;
  }
  const int64_t bytes = memoryOf(*chunk);
  residentBytes_ += bytes;
  part.pieces.push_front({std::move(chunk), {}, bytes});
  ++part.resident;
  chunk.reset();
  return true;
}

PartedStream::Amount PartedStream::amount(uint32_t part) const {
  std::lock_guard lock(mutex_);
  return parts_[part].amount;
}

void PartedStream::openRound(PartRange range) {
  std::lock_guard lock(mutex_);
  round_ = range;
}

Expected<ChunkHandle> PartedStream::next() {
  Piece piece;
  {
    std::lock_guard lock(mutex_);
    while (round_.first < round_.last && parts_[round_.first].pieces.empty()) {
      ++round_.first;
    }
    if (round_.first == round_.last) {
      return ChunkHandle();
    }
    Part &part = parts_[round_.first];
    piece = std::move(part.pieces.front());
    part.pieces.pop_front();
    if (part.resident > 0) {
      --part.resident;
      residentBytes_ -= piece.bytes;
    }
  }
  if (piece.chunk) {
    return std::move(piece.chunk);
  }
  Expected<ChunkHandle> chunk = readBack(piece.extent);
  file_->release(piece.extent);
  return chunk;
}

Expected<ChunkHandle> PartedStream::readBack(const SpillFile::Extent &extent) {
  auto memory = std::make_shared<ReadChunk>();
  HR_ASSIGN_OR_RETURN(memory->block, account_->allocate(static_cast<int64_t>(extent.bytes)));
  memory->account = account_;
  auto *body = reinterpret_cast<uint8_t *>(memory->block.data());
  HR_RETURN_IF_ERROR(file_->read(extent, body));
  HR_ASSIGN_OR_RETURN(std::shared_ptr<Chunk> chunk, decodeRows({body, extent.bytes}, schema_));
  chunk->pins.push_back(std::move(memory));
  return ChunkHandle(std::move(chunk));
}

size_t PartedStream::left() const {
  std::lock_guard lock(mutex_);
  size_t pieces = 0;
  for (uint32_t p = round_.first; p < round_.last; ++p) {
    pieces += parts_[p].pieces.size();
  }
  return pieces;
}

/// The last resident piece of the part goes to the file, perhaps as several; the bytes that came
/// back, 0 if a row of it is too large. With the lock held.
Expected<int64_t> PartedStream::spillLast(Part &part) {
  const Piece piece = std::move(part.pieces[part.resident - 1]);
  const auto at = part.pieces.begin() + static_cast<ptrdiff_t>(part.resident - 1);
  std::vector<Piece> written;
  auto *body = reinterpret_cast<uint8_t *>(staging_.data());
  const auto capacity = static_cast<uint64_t>(staging_.size());
  Status failure;
  bool fits = true;
  for (uint32_t row = 0; row < piece.chunk->rows;) {
    const uint32_t rows = rowsThatFit(*piece.chunk, schema_, row, capacity);
    if (fits = rows > 0; !fits) {
      break;
    }
    encodeRows(*piece.chunk, schema_, row, rows, body);
    Expected<SpillFile::Extent> extent =
        file_->write({body, encodedBytes(*piece.chunk, schema_, row, rows)});
    if (!extent.ok()) {
      failure = extent.status();
      break;
    }
    written.push_back({nullptr, *extent, 0});
    row += rows;
  }
  if (!fits || !failure.ok()) {
    for (const Piece &extent : written) {
      file_->release(extent.extent);
    }
    *at = piece;
    return failure.ok() ? Expected<int64_t>(0) : Expected<int64_t>(failure);
  }
  for (const Piece &extent : written) {
    written_ += static_cast<int64_t>(extent.extent.bytes);
  }
  --part.resident;
  residentBytes_ -= piece.bytes;
  auto place = part.pieces.erase(at);
  part.pieces.insert(place, written.begin(), written.end());
  return piece.bytes;
}

Expected<int64_t> PartedStream::spill(int64_t bytes) {
  int64_t given = 0;
  std::lock_guard lock(mutex_);
  for (size_t p = parts_.size(); p-- > 0 && given < bytes;) {
    while (parts_[p].resident > 0 && given < bytes) {
      HR_ASSIGN_OR_RETURN(int64_t more, spillLast(parts_[p]));
      if (more == 0) {
        break;
      }
      given += more;
    }
  }
  return given;
}

int64_t PartedStream::spillableBytes() const {
  std::lock_guard lock(mutex_);
  return residentBytes_;
}

int64_t PartedStream::writtenBytes() const {
  std::lock_guard lock(mutex_);
  return written_;
}

namespace {

class PartQueue final : public MorselQueue {
public:
  explicit PartQueue(std::shared_ptr<PartedStream> stream) : stream_(std::move(stream)) {}

  Expected<std::optional<TakenMorsel>> take() override {
    HR_ASSIGN_OR_RETURN(ChunkHandle chunk, stream_->next());
    if (!chunk) {
      return std::optional<TakenMorsel>();
    }
    const uint64_t firstRow = rows_.fetch_add(chunk->rows, std::memory_order_relaxed);
    return std::optional<TakenMorsel>(morselOf(std::move(chunk), firstRow));
  }
  size_t available() const override { return stream_->left(); }
  bool ended() const override { return stream_->left() == 0; }

private:
  const std::shared_ptr<PartedStream> stream_;
  std::atomic<uint64_t> rows_{0};
};

} // namespace

std::unique_ptr<MorselQueue> makePartQueue(std::shared_ptr<PartedStream> stream) {
  return std::make_unique<PartQueue>(std::move(stream));
}

} // namespace headrace::exec
