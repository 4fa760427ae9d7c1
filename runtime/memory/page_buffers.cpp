// mmap and munmap around a list of free buffers.
#include "runtime/memory/page_buffers.h"

#include <algorithm>
#include <sys/mman.h>
#include <utility>

namespace headrace {
namespace {

constexpr uint64_t kSystemPageBytes = 4096;
/// Of the tier: enough for what all workers read at a time.
constexpr int64_t kKeptPartMax = 16;

} // namespace

PageBuffers::Buffer PageBuffers::take(uint64_t bytes) {
  const uint64_t size = (bytes + kSystemPageBytes - 1) / kSystemPageBytes * kSystemPageBytes;
  {
    std::lock_guard lock(mutex_);
    auto found = kept_.lower_bound(size);
    if (found != kept_.end() && found->first <= size + size / kLargerPart) {
      const Buffer buffer{found->second, found->first};
      kept_.erase(found);
      keptBytes_ -= buffer.bytes;
      tier_->giveBackKept(static_cast<int64_t>(buffer.bytes)); // who takes it is charged
      return buffer;
    }
  }
  void *data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return data == MAP_FAILED ? Buffer() : Buffer{static_cast<uint8_t *>(data), size};
}

void PageBuffers::giveBack(Buffer buffer) {
  const auto bytes = static_cast<int64_t>(buffer.bytes);
  {
    std::lock_guard lock(mutex_);
    if (tier_ && static_cast<int64_t>(keptBytes_) + bytes <= tier_->limitBytes() / kKeptPartMax &&
        tier_->takeIfFree(bytes)) {
      kept_.emplace(buffer.bytes, buffer.data);
      keptBytes_ += buffer.bytes;
      return;
    }
  }
  ::munmap(buffer.data, buffer.bytes);
}

void PageBuffers::dropLargestLocked() {
  auto largest = std::prev(kept_.end());
  ::munmap(largest->second, largest->first);
  keptBytes_ -= largest->first;
  tier_->giveBackKept(static_cast<int64_t>(largest->first));
  kept_.erase(largest);
}

int64_t PageBuffers::giveWay(int64_t bytes) {
  std::lock_guard lock(mutex_);
  const uint64_t before = keptBytes_;
  while (!kept_.empty() && static_cast<int64_t>(before - keptBytes_) < bytes) {
    dropLargestLocked();
  }
  return static_cast<int64_t>(before - keptBytes_);
}

void PageBuffers::moveTo(std::shared_ptr<MemoryTier> tier) {
  std::lock_guard lock(mutex_);
  while (!kept_.empty()) {
    dropLargestLocked();
  }
  tier_ = std::move(tier);
}

uint64_t PageBuffers::keptBytes() const {
  std::lock_guard lock(mutex_);
  return keptBytes_;
}

PageBuffers::~PageBuffers() { use(nullptr); }

} // namespace headrace
