// A list of pieces a part; the file is written under the lock, and read outside of it.
#include "runtime/exec/source/parted_stream.h"

#include "runtime/base/check.h"

namespace headrace::exec {

Expected<std::shared_ptr<PartedStream>> PartedStream::open(const plan::Stream &stream,
                                                           std::shared_ptr<MemoryAccount> account) {
  std::shared_ptr<PartedStream> made(new PartedStream(stream, std::move(account)));
  HR_ASSIGN_OR_RETURN(auto room, made->spill_.room());
  made->spill_.prepare(std::move(room));
  made->account_->memory().add(made.get());
  return made;
}

PartedStream::~PartedStream() {
  account_->memory().remove(this);
  for (const Part &part : parts_) {
    for (size_t i = part.resident; i < part.pieces.size(); ++i) {
      spill_.release(part.pieces[i].extent);
    }
  }
}

bool PartedStream::tryPush(ChunkHandle &chunk) {
  std::lock_guard lock(mutex_);
  HR_CHECK(chunk->target >= 0 && static_cast<size_t>(chunk->target) < parts_.size());
  Part &part = parts_[chunk->target];
  part.amount.rows += chunk->rows;
  for (uint64_t bytes : chunk->heapBytes) {
    part.amount.textBytes += bytes;
  }
  part.pieces.push_front(ChunkSpill::inMemory(std::move(chunk)));
  residentBytes_ += part.pieces.front().bytes;
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
  KeptChunk piece;
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
  Expected<ChunkHandle> chunk = spill_.read(piece.extent);
  spill_.release(piece.extent);
  return chunk;
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
  const auto at = part.pieces.begin() + static_cast<ptrdiff_t>(part.resident) - 1;
  HR_ASSIGN_OR_RETURN(std::vector<KeptChunk> written, spill_.write(*at->chunk));
  if (written.empty()) {
    return int64_t(0);
  }
  const int64_t bytes = at->bytes;
  --part.resident;
  residentBytes_ -= bytes;
  part.pieces.insert(part.pieces.erase(at), written.begin(), written.end());
  return bytes;
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
