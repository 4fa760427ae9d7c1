// Counted buffers of one size in one block.
#include "runtime/memory/buffer_pool.h"

#include "runtime/base/check.h"

namespace headrace {

struct BufferRef::Slot {
  BufferPool::Core *core = nullptr;
  std::byte *data = nullptr;
  std::atomic<int32_t> handles{0};
  std::atomic<bool> sealed{false};
  int64_t size = 0;
};

/// The pool's memory and free list; lives while the pool or any handle does.
struct BufferPool::Core {
  std::vector<std::shared_ptr<const void>> owners; ///< of the block, so they go after it
  Block block;
  int64_t bufferBytes = 0;
  std::unique_ptr<BufferRef::Slot[]> slots;
  int64_t slotCount = 0;
  std::mutex mutex;
  std::vector<BufferRef::Slot *> free;
  bool wanted = false;
  Doorbell *doorbell = nullptr;
  bool ownerGone = false;

  void giveBack(BufferRef::Slot *slot) {
    bool last = false;
    {
      std::lock_guard lock(mutex);
      free.push_back(slot);
      // Under the lock, so that the doorbell cannot go away in between (setDoorbell, ~BufferPool).
      if (wanted && doorbell) {
        wanted = false;
        doorbell->ring();
      }
      last = ownerGone && static_cast<int64_t>(free.size()) == slotCount;
    }
    if (last) {
      delete this;
    }
  }
};

BufferRef::BufferRef(const BufferRef &other) : slot_(other.slot_) {
  if (slot_) {
    slot_->handles.fetch_add(1, std::memory_order_relaxed);
  }
}

void BufferRef::reset() {
  if (Slot *slot = std::exchange(slot_, nullptr)) {
    if (slot->handles.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      slot->core->giveBack(slot);
    }
  }
}

std::byte *BufferRef::mutableData() const {
  HR_CHECK(!sealed());
  return slot_->data;
}

const std::byte *BufferRef::data() const { return slot_->data; }
int64_t BufferRef::size() const { return slot_->size; }
int64_t BufferRef::capacity() const { return slot_->core->bufferBytes; }

void BufferRef::resize(int64_t bytes) const {
  HR_CHECK(!sealed() && bytes >= 0 && bytes <= capacity());
  slot_->size = bytes;
}

void BufferRef::seal() const { slot_->sealed.store(true, std::memory_order_release); }
bool BufferRef::sealed() const { return slot_->sealed.load(std::memory_order_acquire); }

Expected<std::unique_ptr<BufferPool>> BufferPool::create(BlockPool &blocks, Options options) {
  HR_CHECK(options.bufferBytes > 0 && options.buffersMax > 0);
  HR_ASSIGN_OR_RETURN(Block block, blocks.allocate(options.bufferBytes * options.buffersMax));
  return create(options, std::move(block));
}

Expected<std::unique_ptr<BufferPool>> BufferPool::create(BlockPool &blocks, Options options,
                                                         Reservation &reservation) {
  HR_CHECK(options.bufferBytes > 0 && options.buffersMax > 0);
  HR_ASSIGN_OR_RETURN(Block block,
                      blocks.allocate(options.bufferBytes * options.buffersMax, reservation));
  return create(options, std::move(block));
}

Expected<std::unique_ptr<BufferPool>> BufferPool::create(Options options, Block block) {
  auto core = std::make_unique<Core>();
  core->block = std::move(block);
  core->bufferBytes = options.bufferBytes;
  core->slotCount = options.buffersMax;
  core->slots = std::make_unique<BufferRef::Slot[]>(static_cast<size_t>(options.buffersMax));
  core->doorbell = options.doorbell;
  core->free.reserve(static_cast<size_t>(options.buffersMax));
  for (int64_t index = options.buffersMax - 1; index >= 0; --index) {
    BufferRef::Slot &slot = core->slots[static_cast<size_t>(index)];
    slot.core = core.get();
    slot.data = core->block.data() + index * options.bufferBytes;
    core->free.push_back(&slot);
  }
  return std::unique_ptr<BufferPool>(new BufferPool(core.release()));
}

void BufferPool::keep(std::shared_ptr<const void> owner) {
  core_->owners.push_back(std::move(owner));
}

BufferPool::~BufferPool() {
  bool last = false;
  {
    std::lock_guard lock(core_->mutex);
    core_->ownerGone = true;
    core_->doorbell = nullptr;
    last = static_cast<int64_t>(core_->free.size()) == core_->slotCount;
  }
  if (last) {
    delete core_;
  }
}

BufferRef BufferPool::tryTake() {
  std::lock_guard lock(core_->mutex);
  if (core_->free.empty()) {
    core_->wanted = true;
    return {};
  }
  BufferRef::Slot *slot = core_->free.back();
  core_->free.pop_back();
  slot->handles.store(1, std::memory_order_relaxed);
  slot->sealed.store(false, std::memory_order_relaxed);
  slot->size = 0;
  return BufferRef(slot);
}

void BufferPool::wantBuffer() {
  std::lock_guard lock(core_->mutex);
  core_->wanted = true;
}

int64_t BufferPool::freeBuffers() const {
  std::lock_guard lock(core_->mutex);
  return static_cast<int64_t>(core_->free.size());
}

int64_t BufferPool::bufferBytes() const { return core_->bufferBytes; }
int64_t BufferPool::buffersMax() const { return core_->slotCount; }

void BufferPool::setDoorbell(Doorbell *doorbell) {
  std::lock_guard lock(core_->mutex);
  core_->doorbell = doorbell;
}

} // namespace headrace
