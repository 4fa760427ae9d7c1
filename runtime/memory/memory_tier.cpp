// One counter; the list of keepers is only looked at when it is full.
#include "runtime/memory/memory_tier.h"

#include <algorithm>
#include <utility>

#include "runtime/base/check.h"

namespace headrace {

void Keeper::use(std::shared_ptr<MemoryTier> tier) {
  std::lock_guard changing(changing_);
  if (tier == tier_) {
    return;
  }
  moveTo(tier);
  std::shared_ptr<MemoryTier> left = std::exchange(tier_, tier);
  if (left) {
    left->leave(*this);
  }
  if (tier) {
    tier->join(*this);
  }
}

bool MemoryTier::tryTake(int64_t bytes, int64_t leave) {
  HR_CHECK(bytes >= 0);
  int64_t used = used_.load(std::memory_order_relaxed);
  do {
    if (bytes > limitBytes_ - leave - used) {
      return false;
    }
  } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  return true;
}

bool MemoryTier::takeIfFree(int64_t bytes, int64_t leave) {
  return waiting_.load(std::memory_order_acquire) == 0 && tryTake(bytes, leave);
}

void MemoryTier::countNeeded(int64_t bytes) {
  const int64_t needed = needed_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  int64_t peak = peak_.load(std::memory_order_relaxed);
  while (peak < needed && !peak_.compare_exchange_weak(peak, needed, std::memory_order_relaxed)) {
  }
}

bool MemoryTier::take(int64_t bytes) {
  if (tryTake(bytes)) {
    countNeeded(bytes);
    return true;
  }
  ++waiting_; // keepers do not take what others of them give back
  std::unique_lock lock(mutex_);
  bool taken = false;
  for (Keeper *keeper : keepers_) {
    for (int64_t given = 1; !(taken = tryTake(bytes)) && given > 0;) {
      given = keeper->giveWay(std::max<int64_t>(1, usedBytes() + bytes - limitBytes_));
    }
    if (taken) {
      break;
    }
  }
  lock.unlock();
  --waiting_;
  taken = taken || tryTake(bytes);
  if (taken) {
    countNeeded(bytes);
  }
  return taken;
}

void MemoryTier::endRun() {
  std::lock_guard lock(runsMutex_);
  peaks_[runs_++ % kRuns] = peak_.exchange(needed_);
  peakOfRuns_ = *std::ranges::max_element(peaks_);
}

int64_t MemoryTier::expectedBytes() const { return std::max<int64_t>(peak_, peakOfRuns_); }

void MemoryTier::giveBack(int64_t bytes) {
  needed_.fetch_sub(bytes, std::memory_order_relaxed);
  giveBackKept(bytes);
}

void MemoryTier::giveBackKept(int64_t bytes) {
  const int64_t before = used_.fetch_sub(bytes, std::memory_order_relaxed);
  HR_CHECK(bytes >= 0 && before >= bytes);
}

void MemoryTier::join(Keeper &keeper) {
  std::lock_guard lock(mutex_);
  keepers_.push_back(&keeper);
}

void MemoryTier::leave(Keeper &keeper) {
  std::lock_guard lock(mutex_);
  std::erase(keepers_, &keeper);
}

} // namespace headrace
