// The first chunks leave memory first: nobody reads any before all are there.
#include "runtime/exec/chunk/result_rows.h"

#include <algorithm>

namespace headrace::exec {

namespace {
/// Smaller results are not worth the memory that writing takes.
constexpr int64_t kSmallBytes = 4 << 20;
} // namespace

Expected<std::shared_ptr<ResultRows>> ResultRows::open(plan::Schema schema,
                                                       std::shared_ptr<MemoryAccount> account) {
  std::shared_ptr<ResultRows> made(new ResultRows(std::move(schema), std::move(account)));
  made->account_->memory().add(made.get());
  return made;
}

std::shared_ptr<const ResultRows> ResultRows::of(plan::Schema schema,
                                                 std::vector<ChunkHandle> chunks) {
  std::shared_ptr<ResultRows> made(new ResultRows(std::move(schema), nullptr));
  for (ChunkHandle &chunk : chunks) {
    made->rows_ += chunk->rows;
    made->chunks_.push_back(ChunkSpill::inMemory(std::move(chunk)));
  }
  return made;
}

ResultRows::~ResultRows() {
  if (account_) {
    account_->memory().remove(this);
  }
  for (const KeptChunk &kept : chunks_) {
    if (!kept.chunk) {
      spill_.release(kept.extent);
    }
  }
}

Status ResultRows::add(ChunkHandle chunk) {
  if (chunk->pooled) {
    // An exchange needs its buffers back.
    HR_ASSIGN_OR_RETURN(chunk, copyChunk(*chunk, schema_, account_));
  }
  KeptChunk kept = ChunkSpill::inMemory(std::move(chunk));
  bool isLarge = false;
  {
    std::lock_guard lock(mutex_);
    rows_ += kept.chunk->rows;
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

void ResultRows::end() {
  account_->memory().remove(this);
  std::lock_guard lock(mutex_);
  spill_.prepare(nullptr); // nothing is written any more
  // Others have no order, and stay as they arrived.
  std::stable_sort(chunks_.begin(), chunks_.end(),
                   [](const KeptChunk &a, const KeptChunk &b) { return a.order < b.order; });
}

Expected<ChunkHandle> ResultRows::chunk(size_t index) const {
  const KeptChunk &kept = chunks_[index];
  return kept.chunk ? Expected<ChunkHandle>(kept.chunk) : spill_.readForCaller(kept.extent);
}

Expected<int64_t> ResultRows::spill(int64_t bytes) {
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

int64_t ResultRows::spillableBytes() const {
  std::lock_guard lock(mutex_);
  return spill_.isPrepared() ? residentBytes_ : 0;
}

} // namespace headrace::exec
