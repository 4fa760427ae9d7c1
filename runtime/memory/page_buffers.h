// Memory for pages: large buffers straight from the system, which goes back there or, where there
// is room, to the next page: fresh memory costs as much as decompressing into it.
#pragma once

#include "runtime/memory/memory_tier.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace headrace {

/// Thread-safe. Shared by all buffers that come from it. Buffers in use are charged by who uses
/// them, those that wait for use are counted in the tier. Without one nothing is kept.
class PageBuffers final : public Keeper {
public:
  /// Smaller ones are malloc's.
  static constexpr uint64_t kBytesMin = 128 << 10;
  /// A buffer that is used again is at most by this part larger than what was asked for.
  static constexpr uint64_t kLargerPart = 8;

  PageBuffers() = default;
  ~PageBuffers() override;
  PageBuffers(const PageBuffers &) = delete;
  PageBuffers &operator=(const PageBuffers &) = delete;

  struct Buffer {
    uint8_t *data = nullptr; ///< null: the system has no memory
    uint64_t bytes = 0;      ///< at least what was asked for
  };
  /// Aligned to a page of the system; contents undefined.
  Buffer take(uint64_t bytes);
  void giveBack(Buffer buffer);

  int64_t giveWay(int64_t bytes) override;
  uint64_t keptBytes() const;

private:
  void moveTo(std::shared_ptr<MemoryTier> tier) override;
  void dropLargestLocked();

  mutable std::mutex mutex_;
  std::shared_ptr<MemoryTier> tier_;
  std::multimap<uint64_t, uint8_t *> kept_; ///< by size
  uint64_t keptBytes_ = 0;
};

} // namespace headrace
