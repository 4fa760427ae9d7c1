// A stream of the plan on one rank: a bounded queue of chunks between two tasks.
#pragma once

#include "runtime/base/doorbell.h"
#include "runtime/exec/chunk.h"

#include <deque>
#include <mutex>

namespace headrace::exec {

/// Purpose: hands chunks from producer to consumer. Ownership: chunks belong to who popped them.
/// Thread-safety: full. Ordering: first in, first out. Rings the doorbell on every change.
class ChunkStream {
public:
  /// It ends when each of its `writers` has closed it.
  ChunkStream(uint32_t capacity, Doorbell *doorbell, uint32_t writers = 1)
      : capacity_(capacity), doorbell_(doorbell), writersLeft_(writers) {}

  /// Takes the chunk if there is room; otherwise false, and the chunk is still the caller's.
  bool tryPush(ChunkHandle &chunk);
  /// Null if there is none at the moment.
  ChunkHandle tryPop();
  /// No more pushes from this writer.
  void close();

  bool hasRoom() const;
  size_t size() const;
  /// Closed, and everything was popped.
  bool ended() const;

private:
  const uint32_t capacity_;
  Doorbell *doorbell_;
  mutable std::mutex mutex_;
  std::deque<ChunkHandle> chunks_;
  uint32_t writersLeft_;
};

} // namespace headrace::exec
