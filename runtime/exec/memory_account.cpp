// Accounts and bump allocation over blocks.
#include "runtime/exec/memory_account.h"

#include "runtime/abi/kernel.h"

#include <algorithm>

namespace headrace::exec {
namespace {
constexpr int64_t kFirstBlockBytes = 64 << 10;
constexpr int64_t kLargestBlockBytes = 2 << 20;
} // namespace

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

Expected<Block> MemoryAccount::allocate(int64_t bytes) {
  Expected<Block> block = memory_->blocks->allocate(bytes, reservation_);
  return block.ok() ? std::move(block) : named(block.status());
}

Expected<std::unique_ptr<BufferPool>> MemoryAccount::createPool(BufferPool::Options options) {
  auto pool = BufferPool::create(*memory_->blocks, std::move(options), reservation_);
  return pool.ok() ? std::move(pool) : named(pool.status());
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
