// BlockPool: big blocks of host memory on huge pages, kept for reuse: fresh 4 KiB pages cost six
// times as much as a used block.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/memory/budget.h"
#include "runtime/memory/memory_tier.h"
#include "runtime/memory/shared_segment.h"

namespace headrace {

class BlockPool;

/// Purpose: a block of host memory, at least 64-byte aligned, contents undefined.
/// Ownership: move-only; returns to its pool (and discharges its reservation) when destroyed.
/// Thread-safety: of a plain value. Lifetime: within the pool's.
class Block {
public:
  Block() = default;
  Block(Block &&other) noexcept { *this = std::move(other); }
  Block &operator=(Block &&other) noexcept;
  ~Block() { reset(); }

  explicit operator bool() const { return data_ != nullptr; }
  std::byte *data() const { return data_; }
  /// At least what was asked for.
  int64_t size() const { return size_; }
  void reset();

private:
  friend class BlockPool;
  BlockPool *pool_ = nullptr;
  std::byte *data_ = nullptr;
  int64_t size_ = 0;
  std::shared_ptr<Reservation::State> charged_; ///< null: the pool's tier
};

/// Purpose: allocates blocks of 4 KiB and more, at most a quarter larger than asked for or a page.
/// Up to 1 MiB they are cut from slabs of 2 MiB; above, multiples of 2 MiB with huge pages advised.
/// Ownership: owns all memory; outlives its blocks. Thread-safety: full. Bounded: the bytes of live
/// and of kept blocks never exceed the capacity; freed blocks are kept up to `retainedBytesMax` and
/// given to the system first when a new size needs room, or another user of the tier: those of the
/// size that was asked for longest ago.
class BlockPool final : public Keeper {
public:
  struct Options {
    int64_t capacityBytes = 0;
    int64_t retainedBytesMax = 0;
    /// Named in the error.
    std::string setting = "--memory";
    /// Counts kept blocks, and live ones that no reservation is charged with. May be null.
    std::shared_ptr<MemoryTier> tier = nullptr;
    /// Of which blocks are parts, so that other processes see them. Null: of this process alone.
    std::shared_ptr<SharedSegment> segment = nullptr;
  };
  explicit BlockPool(Options options);
  ~BlockPool() override;
  BlockPool(const BlockPool &) = delete;
  BlockPool &operator=(const BlockPool &) = delete;

  /// A block of at least `bytes`; fails with the typed memory error at the capacity.
  Expected<Block> allocate(int64_t bytes);
  /// The same, charged to a reservation (with the block's real size) until the block is freed.
  Expected<Block> allocate(int64_t bytes, Reservation &reservation);

  /// The size that allocate(bytes) will give: what to reserve for it.
  static int64_t blockBytes(int64_t bytes);

  /// Gives retained blocks back to the system until at most `keepBytes` are retained.
  void trim(int64_t keepBytes = 0);
  int64_t giveWay(int64_t bytes) override;

  int64_t liveBytes() const;
  int64_t retainedBytes() const;
  /// Blocks handed out that needed no new mapping.
  int64_t reuses() const;

private:
  friend class Block;
  /// It has one tier, of its options, all the time.
  void moveTo(std::shared_ptr<MemoryTier> /*tier*/) override {}
  struct Mapping {
    std::byte *data;
    int64_t bytes;
  };
  struct Kept {
    std::vector<std::byte *> blocks; ///< as they were freed
    uint64_t asked = 0;              ///< when a block of this size was asked for last
  };
  Status refuse(int64_t size, int64_t usedBytes, int64_t limitBytes) const;
  /// Of exactly `size`, which `charge` counts. What is kept of this size is taken before that, so
  /// that it does not give way for itself.
  template <typename ChargeSize> Expected<Block> allocate(int64_t size, const ChargeSize &charge);
  std::byte *takeKept(int64_t size);
  Expected<std::byte *> takeNew(int64_t size);
  Status fit(int64_t size);
  Expected<std::byte *> map(int64_t bytes, bool huge);
  void adviseHugePages(std::byte *data, size_t bytes);
  void unmap(std::byte *data, int64_t bytes);
  void free(std::byte *data, int64_t bytes);
  void keepOrDrop(std::byte *data, int64_t size);
  void dropLocked(std::byte *data, int64_t size);
  void trimLocked(int64_t keepBytes);

  Options options_;
  mutable std::mutex mutex_;
  std::map<int64_t, Kept> kept_;                     ///< by size
  uint64_t asked_ = 0;                               ///< counts what is asked for
  std::map<int64_t, std::vector<std::byte *>> bare_; ///< cut pieces whose memory the system has
  std::vector<Mapping> slabs_;                       ///< what pieces are cut from
  std::chrono::steady_clock::time_point smallPagesUntil_;
  int64_t keptBytes_ = 0;
  int64_t live_ = 0;
  int64_t reuses_ = 0;
};

} // namespace headrace
