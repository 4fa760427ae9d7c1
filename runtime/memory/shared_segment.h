// SharedSegment: memory of this process that other processes of the machine read.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "runtime/base/status.h"

namespace headrace {

/// Purpose: one file without a name, mapped: for writing by who made it, for reading by those whom
/// its descriptor was handed to. Pages come when they are first written, and go with the last
/// process that has it open or mapped, however that ends.
/// Ownership: owns the mapping and the descriptor. Thread-safety: full. Trust: who reads cannot
/// write, and the file cannot shrink under who reads; its bytes may change at any time.
class SharedSegment {
public:
  /// Of addresses for `bytes`, a multiple of the page size; kIo if the system has no such files.
  static Expected<std::shared_ptr<SharedSegment>> create(int64_t bytes);
  /// Another process's, for reading. Takes the descriptor over; kCorrupt if the file could shrink.
  static Expected<std::shared_ptr<const SharedSegment>> attach(int descriptor);
  ~SharedSegment();
  SharedSegment(const SharedSegment &) = delete;
  SharedSegment &operator=(const SharedSegment &) = delete;

  std::byte *data() { return data_; }
  const std::byte *data() const { return data_; }
  int64_t size() const { return size_; }
  bool contains(const void *address) const;
  /// To hand to others: it opens the file for reading only. The caller closes it; -1: none is free.
  int descriptorForReading() const;

  /// A range of the segment that nobody has, from an address that is a multiple of the alignment (a
  /// power of two); null if there is none.
  std::byte *take(int64_t bytes, int64_t alignment);
  /// Takes the range back, and its pages.
  void giveBack(std::byte *data, int64_t bytes);
  /// Gives the pages of a range to the system; they are zeros when they are used again.
  void dropPages(std::byte *data, int64_t bytes);
  /// From now on no page is dropped: others may still read what they were told of, and the file
  /// goes with them.
  void leaveToReaders() { left_.store(true, std::memory_order_relaxed); }

private:
  SharedSegment(int descriptor, std::byte *data, int64_t size);

  int descriptor_;
  std::byte *data_;
  int64_t size_;
  std::atomic<bool> left_{false};
  std::mutex mutex_;
  std::map<int64_t, int64_t> free_; ///< bytes by offset; no two that touch
};

} // namespace headrace
