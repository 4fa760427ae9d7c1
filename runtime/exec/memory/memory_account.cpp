// Accounts and bump allocation over blocks.
#include "runtime/exec/memory/memory_account.h"

#include "runtime/abi/kernel.h"

#include <algorithm>

namespace headrace::exec {
namespace {
constexpr int64_t kFirstBlockBytes = 64 << 10;
constexpr int64_t kLargestBlockBytes = 2 << 20;
/// Written out at a time: this part of the limit, but no more than so many bytes.
constexpr int64_t kSpilledPart = 32;
constexpr int64_t kSpilledMax = 32 << 20;
/// A row that does not fit stays in memory.
constexpr int64_t kStagingBytes = 1 << 20;
} // namespace

void RankMemory::add(Spillable *holder) {
  std::lock_guard lock(mutex_);
  spillables_.push_back(holder);
}

void RankMemory::remove(Spillable *holder) {
  std::lock_guard lock(mutex_);
  std::erase(spillables_, holder);
}

Expected<int64_t> RankMemory::makeRoom(int64_t bytes) {
  std::lock_guard lock(mutex_);
  // A little more, so that not every block has to wait for the disk.
  const int64_t wanted = std::max(bytes, std::min(budget.limitBytes() / kSpilledPart, kSpilledMax));
  int64_t given = 0;
  for (auto holder = spillables_.rbegin(); holder != spillables_.rend() && given < wanted;
       ++holder) {
    HR_ASSIGN_OR_RETURN(int64_t more, (*holder)->spill(wanted - given));
    given += more;
  }
  return given;
}

int64_t RankMemory::spillableBytes() const {
  std::lock_guard lock(mutex_);
  int64_t bytes = 0;
  for (const Spillable *holder : spillables_) {
    bytes += holder->spillableBytes();
  }
  return bytes;
}

Expected<std::shared_ptr<SpillStaging>>
RankMemory::staging(const std::shared_ptr<MemoryAccount> &account) {
  std::lock_guard lock(stagingMutex_);
  std::shared_ptr<SpillStaging> staging = staging_.lock();
  if (!staging) {
    staging = std::make_shared<SpillStaging>();
    HR_ASSIGN_OR_RETURN(staging->block, account->allocate(kStagingBytes));
    staging->account = account;
    staging_ = staging;
  }
  return staging;
}

Expected<std::shared_ptr<MemoryAccount>> MemoryAccount::open(std::shared_ptr<RankMemory> memory,
                                                             ReservationRequest request) {
  HR_ASSIGN_OR_RETURN(Reservation reservation, memory->budget.reserve(request));
  auto account = std::make_shared<MemoryAccount>();
  account->memory_ = std::move(memory);
  account->operatorName_ = request.operatorName;
  account->place_ = request.place;
  account->reservation_ = std::move(reservation);
  return account;
}

/// The pool of the process may run out before this rank's budget does; it does not know who asks.
Status MemoryAccount::named(const Status &status) const {
  if (status.message().find(" memory: " + operatorName_ + " ") != std::string::npos) {
    return status;
  }
  return makeError(status.kind(), operatorName_, ": ", status.message()).at(place_);
}

static const Status &statusOf(const Status &status) { return status; }
template <typename T> static const Status &statusOf(const Expected<T> &result) {
  return result.status();
}

template <typename Ask>
auto MemoryAccount::withRoom(int64_t bytes, const Ask &ask) -> decltype(ask()) {
  auto result = ask();
  for (int64_t given = 1; given > 0 && !result.ok();) {
    if (statusOf(result).kind() != ErrorKind::kMemory) {
      return result;
    }
    Expected<int64_t> made = memory_->makeRoom(bytes);
    if (!made.ok()) {
      return named(made.status());
    }
    given = *made;
    result = ask(); // if nothing was left, too: it may just have been written for someone else
  }
  if (!result.ok()) {
    return named(statusOf(result));
  }
  return result;
}

Expected<Block> MemoryAccount::allocate(int64_t bytes) {
  return withRoom(BlockPool::blockBytes(bytes), [&] { return allocateIfFree(bytes); });
}

Expected<Block> MemoryAccount::allocateIfFree(int64_t bytes) {
  return memory_->blocks->allocate(bytes, reservation_);
}

Status MemoryAccount::reserve(int64_t bytes) {
  return withRoom(bytes, [&] { return reservation_.grow(bytes); });
}

Expected<std::unique_ptr<BufferPool>> MemoryAccount::createPool(BufferPool::Options options,
                                                                std::shared_ptr<BlockPool> blocks) {
  BlockPool &from = blocks ? *blocks : *memory_->blocks;
  HR_ASSIGN_OR_RETURN(auto pool, withRoom(options.bufferBytes * options.buffersMax, [&] {
                        return BufferPool::create(from, options, reservation_);
                      }));
  pool->keep(std::move(blocks));
  pool->keep(shared_from_this());
  return pool;
}

Expected<uint8_t *> BumpArena::allocate(uint64_t bytes, uint64_t align) {
  if (bytes > uint64_t(INT64_MAX) / 2) {
    // no test: no caller asks for half of all addresses
    return makeError(ErrorKind::kMemory, "allocation is too large: ", bytes);
  }
  if (!blocks_.empty()) {
    uint64_t start = (used_ + align - 1) & ~(align - 1);
    if (start + bytes + HR_PADDING <= static_cast<uint64_t>(blocks_.back().size())) {
      used_ = start + bytes;
      return reinterpret_cast<uint8_t *>(blocks_.back().data()) + start;
    }
  }
  int64_t next =
      blocks_.empty() ? kFirstBlockBytes : std::min(blocks_.back().size() * 2, kLargestBlockBytes);
  HR_ASSIGN_OR_RETURN(Block block,
                      account_->allocate(std::max<int64_t>(next, int64_t(bytes) + HR_PADDING)));
  blocks_.push_back(std::move(block));
  used_ = bytes;
  return reinterpret_cast<uint8_t *>(blocks_.back().data());
}

void BumpArena::reset() {
  if (blocks_.size() > 1) {
    blocks_.erase(blocks_.begin(), blocks_.end() - 1);
  }
  used_ = 0;
}

} // namespace headrace::exec
