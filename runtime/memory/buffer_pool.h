// BufferPool: a bounded number of buffers of one size, in one block that a device or a network card
// can register. They are what moves between tasks, ranks and files.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/base/doorbell.h"
#include "runtime/base/status.h"
#include "runtime/memory/block_pool.h"

namespace headrace {

class BufferPool;

/// Purpose: a counted handle on one pool buffer.
/// Ownership: shared; the buffer returns to its pool with the last handle. Thread-safety: handles
/// on one buffer may be copied and dropped by different threads; the bytes are written by one
/// thread until seal(), and immutable afterwards. Lifetime: a buffer may outlive its BufferPool,
/// not the BlockPool and what pays for it unless its BufferPool keeps them.
class BufferRef {
public:
  BufferRef() = default;
  BufferRef(const BufferRef &other);
  BufferRef(BufferRef &&other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
  BufferRef &operator=(BufferRef other) noexcept {
    std::swap(slot_, other.slot_);
    return *this;
  }
  ~BufferRef() { reset(); }

  explicit operator bool() const { return slot_ != nullptr; }
  /// For writing: only before seal().
  std::byte *mutableData() const;
  const std::byte *data() const;
  /// Bytes in use; 0 in a buffer just taken.
  int64_t size() const;
  int64_t capacity() const;
  /// Sets size(), at most capacity(); only before seal().
  void resize(int64_t bytes) const;
  /// No more writing, by anyone.
  void seal() const;
  bool sealed() const;
  void reset();

private:
  friend class BufferPool;
  struct Slot;
  explicit BufferRef(Slot *slot) : slot_(slot) {}
  Slot *slot_ = nullptr;
};

/// Purpose: bounded supply of equal buffers; running out is backpressure, not an error.
/// Ownership: owns the buffers' memory, which lives until the last handle is gone. Thread-safety:
/// full. Ordering: the buffer last returned is taken first, while it is warm.
class BufferPool {
public:
  struct Options {
    int64_t bufferBytes = 1 << 20;
    int64_t buffersMax = 16;
    /// Rung when a buffer comes back after tryTake() found none. May be null.
    Doorbell *doorbell = nullptr;
  };
  /// The memory of all buffers is taken now; what is never touched costs no pages.
  static Expected<std::unique_ptr<BufferPool>> create(BlockPool &blocks, Options options);
  /// The same, charged to a reservation until the last buffer is gone.
  static Expected<std::unique_ptr<BufferPool>> create(BlockPool &blocks, Options options,
                                                      Reservation &reservation);
  /// What its memory is of, or is charged to, lives on until the last buffer is gone: a link may
  /// send one still when the run that filled it has ended with an error.
  void keep(std::shared_ptr<const void> owner);
  ~BufferPool();
  BufferPool(const BufferPool &) = delete;
  BufferPool &operator=(const BufferPool &) = delete;

  /// An empty, unsealed buffer, or a null handle if all are out.
  BufferRef tryTake();
  /// As after a tryTake() that found none: the next returned buffer rings the doorbell.
  void wantBuffer();
  int64_t freeBuffers() const;
  int64_t bufferBytes() const;
  int64_t buffersMax() const;
  /// Changes whom a returned buffer rings.
  void setDoorbell(Doorbell *doorbell);

private:
  friend class BufferRef;
  struct Core;
  explicit BufferPool(Core *core) : core_(core) {}
  static Expected<std::unique_ptr<BufferPool>> create(Options options, Block block);
  Core *core_;
};

} // namespace headrace
