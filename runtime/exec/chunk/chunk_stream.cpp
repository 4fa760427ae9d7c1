// The bounded queue.
#include "runtime/exec/chunk/chunk_stream.h"

#include "runtime/base/check.h"

namespace headrace::exec {

bool ChunkStream::tryPush(ChunkHandle &chunk) {
  {
    std::lock_guard lock(mutex_);
    HR_CHECK(writersLeft_ > 0);
    if (chunks_.size() >= capacity_) {
      return false;
    }
    chunks_.push_back(std::move(chunk));
  }
  chunk.reset();
  doorbell_->ring();
  return true;
}

ChunkHandle ChunkStream::tryPop() {
  ChunkHandle chunk;
  {
    std::lock_guard lock(mutex_);
    if (chunks_.empty()) {
      return nullptr;
    }
    chunk = std::move(chunks_.front());
    chunks_.pop_front();
  }
  doorbell_->ring();
  return chunk;
}

void ChunkStream::close() {
  {
    std::lock_guard lock(mutex_);
    writersLeft_ -= writersLeft_ > 0;
  }
  doorbell_->ring();
}

bool ChunkStream::hasRoom() const {
  std::lock_guard lock(mutex_);
  return chunks_.size() < capacity_;
}

size_t ChunkStream::size() const {
  std::lock_guard lock(mutex_);
  return chunks_.size();
}

bool ChunkStream::ended() const {
  std::lock_guard lock(mutex_);
  return writersLeft_ == 0 && chunks_.empty();
}

} // namespace headrace::exec
