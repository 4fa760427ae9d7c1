// Blocks by size class on mappings with huge pages; freed ones are kept and reused.
#include "runtime/memory/block_pool.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <ranges>
#include <sys/mman.h>
#include <utility>

#include "runtime/base/check.h"
#include "runtime/base/readable.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#define HR_POISON_MEMORY(data, bytes) __asan_poison_memory_region(data, bytes)
#define HR_UNPOISON_MEMORY(data, bytes) __asan_unpoison_memory_region(data, bytes)
#endif
#endif
#ifndef HR_POISON_MEMORY
#define HR_POISON_MEMORY(data, bytes) static_cast<void>(0)
#define HR_UNPOISON_MEMORY(data, bytes) static_cast<void>(0)
#endif

namespace headrace {

namespace {

constexpr int64_t kHugePageBytes = int64_t{2} << 20;
/// In less memory than this a huge page of which little is used costs more than it gains.
constexpr int64_t kHugePagesFromBytes = int64_t{1} << 28;
/// From so much on memory is used again and again, and is worth waiting for huge pages once.
constexpr int64_t kAlwaysHugeFromBytes = int64_t{1} << 30;
/// A huge page is there in a tenth of a millisecond; where the host of a virtual machine has taken
/// back what was free, in some. Small pages take as long as this.
constexpr std::chrono::milliseconds kHugePageMax{1};
constexpr std::chrono::seconds kSmallPagesFor{1};
constexpr int64_t kSmallestBlockBytes = int64_t{4} << 10;
/// Blocks up to this are cut from slabs of the size of a huge page.
constexpr int64_t kLargestCutBytes = int64_t{1} << 20;

} // namespace

Block &Block::operator=(Block &&other) noexcept {
  if (this != &other) {
    reset();
    pool_ = std::exchange(other.pool_, nullptr);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    charged_ = std::move(other.charged_);
  }
  return *this;
}

void Block::reset() {
  if (!data_) {
    return;
  }
  // First, so that there is room for it among what is kept.
  if (charged_) {
    charged_->discharge(size_);
    charged_.reset();
  } else if (pool_->options_.tier) {
    pool_->options_.tier->giveBack(size_);
  }
  pool_->free(data_, size_);
  pool_ = nullptr;
  data_ = nullptr;
  size_ = 0;
}

BlockPool::BlockPool(Options options) : options_(std::move(options)) { use(options_.tier); }

BlockPool::~BlockPool() {
  use(nullptr);
  HR_CHECK(live_ == 0);
  trimLocked(0);
  for (const Mapping &slab : slabs_) {
    HR_UNPOISON_MEMORY(slab.data, static_cast<size_t>(slab.bytes));
    unmap(slab.data, slab.bytes);
  }
}

int64_t BlockPool::blockBytes(int64_t bytes) {
  bytes = std::max(bytes, kSmallestBlockBytes);
  // Steps of a quarter of the power of two below, and of whole pages.
  auto below = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(bytes - 1)));
  int64_t step =
      std::max(below / 4, bytes <= kLargestCutBytes ? kSmallestBlockBytes : kHugePageBytes);
  return (bytes + step - 1) / step * step;
}

Expected<std::byte *> BlockPool::map(int64_t bytes, bool huge) {
  if (options_.segment) {
    std::byte *part = options_.segment->take(bytes, kHugePageBytes);
    return part ? Expected<std::byte *>(part)
                : refuse(bytes, live_, options_.segment->size() / kHugePageBytes * kHugePageBytes);
  }
  // Mapped with room to cut to an address that a huge page can start at.
  auto length = static_cast<size_t>(bytes + kHugePageBytes);
  void *mapping = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) {
    // no test: it takes more memory than a machine has
    return makeError(ErrorKind::kMemory, "the system refused host memory below the limit: lower ",
                     options_.setting, "; a block of ", formatBytes(bytes), " beside ",
                     formatBytes(live_));
  }
  auto start = reinterpret_cast<uintptr_t>(mapping);
  uintptr_t aligned = (start + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
  uintptr_t end = aligned + static_cast<uintptr_t>(bytes);
  if (aligned > start) {
    munmap(mapping, aligned - start);
  }
  if (start + length > end) {
    munmap(reinterpret_cast<void *>(end), start + length - end);
  }
  if (huge && options_.capacityBytes >= kHugePagesFromBytes) {
    adviseHugePages(reinterpret_cast<std::byte *>(aligned), static_cast<size_t>(bytes));
  }
  return reinterpret_cast<std::byte *>(aligned);
}

/// Advice only: without huge pages the block works all the same. They are tried again some time
/// after one took too long.
void BlockPool::adviseHugePages(std::byte *data, size_t bytes) {
  if (options_.capacityBytes >= kAlwaysHugeFromBytes) {
    madvise(data, bytes, MADV_HUGEPAGE); // touched by who needs it, without the lock
    return;
  }
  const auto started = std::chrono::steady_clock::now();
  if (started < smallPagesUntil_) {
    return;
  }
  madvise(data, bytes, MADV_HUGEPAGE);
  *data = std::byte{0}; // the first is used in any case
  if (std::chrono::steady_clock::now() - started > kHugePageMax) {
    smallPagesUntil_ = started + kSmallPagesFor;
    madvise(data, bytes, MADV_NOHUGEPAGE);
  }
}

void BlockPool::unmap(std::byte *data, int64_t bytes) {
  if (options_.segment) {
    options_.segment->giveBack(data, bytes);
  } else {
    munmap(data, static_cast<size_t>(bytes));
  }
}

static std::byte *takeLast(std::vector<std::byte *> &blocks) {
  std::byte *data = blocks.back();
  blocks.pop_back();
  return data;
}

/// Null: there is none.
std::byte *BlockPool::takeKept(int64_t size) {
  std::lock_guard lock(mutex_);
  Kept &kept = kept_[size];
  kept.asked = ++asked_;
  if (kept.blocks.empty()) {
    return nullptr;
  }
  keptBytes_ -= size;
  if (options_.tier) {
    options_.tier->giveBackKept(size);
  }
  return takeLast(kept.blocks);
}

/// Within the capacity.
Status BlockPool::fit(int64_t size) {
  if (live_ + keptBytes_ + size > options_.capacityBytes) {
    trimLocked(std::max<int64_t>(0, options_.capacityBytes - live_ - size));
  }
  return live_ + size > options_.capacityBytes ? refuse(size, live_, options_.capacityBytes)
                                               : Status();
}

/// Memory of a block of exactly `size`, with the lock held.
Expected<std::byte *> BlockPool::takeNew(int64_t size) {
  if (std::vector<std::byte *> &bare = bare_[size]; !bare.empty()) {
    return takeLast(bare);
  }
  // A slab is touched a piece at a time, and of a piece often only its begin.
  const bool isCut = size <= kLargestCutBytes;
  HR_ASSIGN_OR_RETURN(std::byte * data, map(isCut ? kHugePageBytes : size, !isCut));
  if (isCut) {
    slabs_.push_back({data, kHugePageBytes});
    for (int64_t offset = size; offset + size <= kHugePageBytes; offset += size) {
      bare_[size].push_back(data + offset);
      HR_POISON_MEMORY(data + offset, static_cast<size_t>(size));
    }
  }
  return data;
}

Status BlockPool::refuse(int64_t size, int64_t usedBytes, int64_t limitBytes) const {
  return makeError(ErrorKind::kMemory, "out of host memory: a block of ", formatBytes(size), " (",
                   size, " bytes) does not fit beside ", formatBytes(usedBytes),
                   " of the limit of ", formatBytes(limitBytes), "; raise ", options_.setting);
}

template <typename ChargeSize>
Expected<Block> BlockPool::allocate(int64_t size, const ChargeSize &charge) {
  std::byte *data = takeKept(size);
  Status charged = charge();
  std::lock_guard lock(mutex_);
  if (charged.ok()) {
    charged = fit(size);
  }
  if (!charged.ok()) {
    if (data) {
      keepOrDrop(data, size);
    }
    return charged;
  }
  if (data) {
    ++reuses_;
  } else {
    HR_ASSIGN_OR_RETURN(data, takeNew(size));
  }
  Block block;
  block.pool_ = this;
  block.data_ = data;
  block.size_ = size;
  live_ += size;
  HR_UNPOISON_MEMORY(block.data_, static_cast<size_t>(size));
  return block;
}

Expected<Block> BlockPool::allocate(int64_t bytes) {
  HR_CHECK(bytes >= 0);
  const int64_t size = blockBytes(bytes);
  bool counted = false;
  Expected<Block> block = allocate(size, [&]() -> Status {
    counted = options_.tier && options_.tier->take(size);
    return counted || !options_.tier
               ? Status()
               : refuse(size, options_.tier->usedBytes(), options_.tier->limitBytes());
  });
  if (!block.ok() && counted) {
    options_.tier->giveBack(size);
  }
  return block;
}

Expected<Block> BlockPool::allocate(int64_t bytes, Reservation &reservation) {
  HR_CHECK(bytes >= 0);
  const int64_t size = blockBytes(bytes);
  bool counted = false;
  Expected<Block> block = allocate(size, [&] {
    Status charged = reservation.charge(size);
    counted = charged.ok();
    return charged;
  });
  if (block.ok()) {
    block->charged_ = reservation.state_;
  } else if (counted) {
    reservation.discharge(size);
  }
  return block;
}

void BlockPool::free(std::byte *data, int64_t bytes) {
  std::lock_guard lock(mutex_);
  live_ -= bytes;
  keepOrDrop(data, bytes);
}

void BlockPool::keepOrDrop(std::byte *data, int64_t size) {
  const bool kept = keptBytes_ + size <= options_.retainedBytesMax &&
                    (!options_.tier || options_.tier->takeIfFree(size));
  if (!kept) {
    dropLocked(data, size);
    return;
  }
  HR_POISON_MEMORY(data, static_cast<size_t>(size));
  kept_[size].blocks.push_back(data);
  keptBytes_ += size;
}

/// Gives the block's memory to the system.
void BlockPool::dropLocked(std::byte *data, int64_t size) {
  if (size > kLargestCutBytes) {
    HR_UNPOISON_MEMORY(data, static_cast<size_t>(size));
    unmap(data, size);
    return;
  }
  if (options_.segment) {
    options_.segment->dropPages(data, size);
  } else {
    madvise(data, static_cast<size_t>(size), MADV_DONTNEED);
  }
  HR_POISON_MEMORY(data, static_cast<size_t>(size));
  bare_[size].push_back(data);
}

void BlockPool::trim(int64_t keepBytes) {
  std::lock_guard lock(mutex_);
  trimLocked(keepBytes);
}

int64_t BlockPool::giveWay(int64_t bytes) {
  std::lock_guard lock(mutex_);
  const int64_t before = keptBytes_;
  trimLocked(std::max<int64_t>(0, keptBytes_ - bytes));
  return before - keptBytes_;
}

void BlockPool::trimLocked(int64_t keepBytes) {
  while (keptBytes_ > keepBytes) {
    auto hasBlocks = [](const auto &entry) { return !entry.second.blocks.empty(); };
    auto ofSizes = kept_ | std::views::filter(hasBlocks);
    auto &[size, kept] = *std::ranges::min_element(
        ofSizes, {}, [](const auto &entry) { return entry.second.asked; });
    for (; !kept.blocks.empty() && keptBytes_ > keepBytes; kept.blocks.pop_back()) {
      dropLocked(kept.blocks.back(), size);
      keptBytes_ -= size;
      if (options_.tier) {
        options_.tier->giveBackKept(size);
      }
    }
  }
}

int64_t BlockPool::liveBytes() const {
  std::lock_guard lock(mutex_);
  return live_;
}

int64_t BlockPool::retainedBytes() const {
  std::lock_guard lock(mutex_);
  return keptBytes_;
}

int64_t BlockPool::reuses() const {
  std::lock_guard lock(mutex_);
  return reuses_;
}

} // namespace headrace
