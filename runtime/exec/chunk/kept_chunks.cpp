// The first chunks leave memory first: they are read last, or not before all are there.
#include "runtime/exec/chunk/kept_chunks.h"

#include <algorithm>
#include <utility>

namespace headrace::exec {

namespace {
/// Fewer are not worth the memory that writing takes.
constexpr int64_t kSmallBytes = 4 << 20;
} // namespace

KeptChunks::KeptChunks(const plan::Schema &schema, std::shared_ptr<MemoryAccount> account)
    : schema_(schema), account_(std::move(account)), spill_(schema_, account_) {
  account_->memory().add(this);
}

KeptChunks::KeptChunks(const plan::Schema &schema, std::vector<ChunkHandle> chunks)
    : schema_(schema), spill_(schema_, nullptr), ended_(true) {
  for (ChunkHandle &chunk : chunks) {
    chunks_.push_back(ChunkSpill::inMemory(std::move(chunk)));
  }
}

KeptChunks::~KeptChunks() {
  if (!ended_) {
    account_->memory().remove(this);
  }
  for (const KeptChunk &kept : chunks_) {
    if (!kept.chunk) {
      spill_.release(kept.extent);
    }
  }
}

Status KeptChunks::add(ChunkHandle chunk) {
  if (chunk->pooled) {
    // An exchange needs its buffers back.
    HR_ASSIGN_OR_RETURN(chunk, copyChunk(*chunk, schema_, account_));
  }
  KeptChunk kept = ChunkSpill::inMemory(std::move(chunk));
  bool isLarge = false;
  {
    std::lock_guard lock(mutex_);
    residentBytes_ += kept.bytes;
    chunks_.push_back(std::move(kept));
    isLarge = residentBytes_ > kSmallBytes && !spill_.isPrepared();
  }
  if (isLarge) {
    HR_ASSIGN_OR_RETURN(auto room, spill_.room());
    std::lock_guard lock(mutex_);
    spill_.prepare(std::move(room));
  }
  return {};
}

void KeptChunks::end() {
  account_->memory().remove(this);
  std::lock_guard lock(mutex_);
  ended_ = true;
  spill_.prepare(nullptr); // nothing is written any more
  // Others have no order, and stay as they arrived.
  std::stable_sort(chunks_.begin(), chunks_.end(),
                   [](const KeptChunk &a, const KeptChunk &b) { return a.order < b.order; });
}

size_t KeptChunks::count() const {
  std::lock_guard lock(mutex_);
  return chunks_.size();
}

KeptChunk KeptChunks::at(size_t index) const {
  std::lock_guard lock(mutex_);
  return chunks_[index];
}

Expected<ChunkHandle> KeptChunks::read(size_t index) const {
  const KeptChunk kept = at(index);
  return kept.chunk ? Expected<ChunkHandle>(kept.chunk) : spill_.read(kept.extent);
}

Expected<ChunkHandle> KeptChunks::readForCaller(size_t index) const {
  const KeptChunk kept = at(index);
  return kept.chunk ? Expected<ChunkHandle>(kept.chunk) : spill_.readForCaller(kept.extent);
}

Expected<ChunkHandle> KeptChunks::takeLast() {
  KeptChunk last;
  {
    std::lock_guard lock(mutex_);
    if (chunks_.empty()) {
      return ChunkHandle();
    }
    last = std::move(chunks_.back());
    chunks_.pop_back();
    residentBytes_ -= last.bytes;
    passed_ = std::min(passed_, chunks_.size());
  }
  if (last.chunk) {
    return std::move(last.chunk);
  }
  Expected<ChunkHandle> chunk = spill_.read(last.extent);
  spill_.release(last.extent);
  return chunk;
}

Expected<int64_t> KeptChunks::spill(int64_t bytes) {
  int64_t given = 0;
  std::lock_guard lock(mutex_);
  while (spill_.isPrepared() && passed_ < chunks_.size() && given < bytes) {
    const auto at = chunks_.begin() + static_cast<ptrdiff_t>(passed_);
    HR_ASSIGN_OR_RETURN(std::vector<KeptChunk> written, spill_.write(*at->chunk));
    if (written.empty()) {
      ++passed_;
      continue;
    }
    given += at->bytes;
    residentBytes_ -= at->bytes;
    passed_ += written.size();
    chunks_.insert(chunks_.erase(at), written.begin(), written.end());
  }
  return given;
}

int64_t KeptChunks::spillableBytes() const {
  std::lock_guard lock(mutex_);
  return spill_.isPrepared() ? residentBytes_ : 0;
}

} // namespace headrace::exec
