// A stream of the plan on one rank: a bounded queue of chunks between two tasks.
#pragma once

#include "runtime/base/doorbell.h"
#include "runtime/exec/chunk/chunk.h"

#include <deque>
#include <mutex>

namespace headrace::exec {

/// Where a task puts its chunks. Thread-safety: full.
class ChunkSink {
public:
  virtual ~ChunkSink() = default;
  /// Takes the chunk if there is room; otherwise false, and the chunk is still the caller's.
  virtual bool tryPush(ChunkHandle &chunk) = 0;
  virtual bool hasRoom() const = 0;
  /// No more pushes from this writer.
  virtual void close() = 0;
};

/// Purpose: hands chunks from producer to consumer. Ownership: chunks belong to who popped them.
/// Thread-safety: full. Ordering: first in, first out. Rings the doorbell on every change.
class ChunkStream final : public ChunkSink {
public:
  /// It ends when each of its `writers` has closed it.
  ChunkStream(uint32_t capacity, Doorbell *doorbell, uint32_t writers = 1)
      : capacity_(capacity), doorbell_(doorbell), writersLeft_(writers) {}

  bool tryPush(ChunkHandle &chunk) override;
  /// Null if there is none at the moment.
  ChunkHandle tryPop();
  void close() override;

  bool hasRoom() const override;
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
