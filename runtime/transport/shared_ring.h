// Where the links lie in a segment, and what a link is. Each process writes its own segment and
// reads the others': what a wild one writes is its own.
//
//   segment of a rank:  | link to rank 0 | link to rank 1 | … | bodies |
//   link:               | control, a page | ring |
//   in the ring:        | frame | u64 place | body, filled up to 8 bytes, if it is inline |
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/transport/frame.h"

namespace headrace {

struct SharedRecord {
  Frame frame;
  uint64_t place = 0; ///< of the body in the segment
};
static_assert(sizeof(SharedRecord) == 96);

/// There is no body, or it follows.
constexpr uint64_t kPlacedInline = UINT64_MAX;

/// Of one process for another. Positions count bytes of rings, from the beginning.
struct SharedLinkControl {
  /// Until where this process has written its ring.
  alignas(64) std::atomic<uint64_t> written;
  /// Not zero: this process wants to know when the other has taken something.
  alignas(64) std::atomic<uint64_t> waits;
  /// Not zero: bodies in this segment are no longer what was sent.
  std::atomic<uint64_t> givenUp;
  /// Until where this process has taken the other's ring.
  alignas(64) std::atomic<uint64_t> taken;
};

constexpr int64_t kSharedControlBytes = 4096;
constexpr uint64_t kSharedRingBytes = 64 << 10;
constexpr int64_t kSharedLinkBytes = kSharedControlBytes + static_cast<int64_t>(kSharedRingBytes);
static_assert(sizeof(SharedLinkControl) <= kSharedControlBytes);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

} // namespace headrace
