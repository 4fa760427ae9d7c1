// By owner, first row and rows.
#include "runtime/exec/gpu/device_columns.h"

#include <tuple>

namespace headrace::exec {

namespace {
/// Of the tier: the rest is for states, which are slow to get where columns must give way first.
constexpr double kPart = 0.75;
} // namespace

bool DeviceColumns::Key::operator<(const Key &other) const {
  if (kept.owner_before(other.kept) || other.kept.owner_before(kept)) {
    return kept.owner_before(other.kept);
  }
  return std::tie(firstRow, rows) < std::tie(other.firstRow, other.rows);
}

DeviceColumns::DeviceColumns(std::shared_ptr<Accelerator> accelerator, Budget::Options device)
    : accelerator_(std::move(accelerator)), tier_(device.shared), budget_(std::move(device)) {
  bytes_ = std::move(*budget_.reserve({.operatorName = "columns"})); // none yet
  use(tier_);
}

DeviceColumns::~DeviceColumns() { use(nullptr); }

std::optional<DeviceColumns::Column> DeviceColumns::find(const Key &key) {
  std::lock_guard lock(mutex_);
  auto found = columns_.find(key);
  return found == columns_.end() ? std::nullopt : std::optional(found->second);
}

DeviceColumns::Block DeviceColumns::place(int64_t bytes) {
  auto isRoom = [&] {
    return static_cast<double>(tier_->usedBytes() + bytes) <=
           kPart * static_cast<double>(tier_->limitBytes());
  };
  if (!isRoom()) {
    std::lock_guard lock(mutex_);
    dropExpired();
  }
  if (!isRoom()) {
    return nullptr;
  }
  Expected<DeviceMemory> memory =
      accelerator_->device().allocate(Tier::kDevice, bytes, bytes_, Lane::kIn);
  return memory.ok() ? std::make_shared<DeviceMemory>(std::move(*memory)) : nullptr;
}

void DeviceColumns::keep(Key key, Column column) {
  std::lock_guard lock(mutex_);
  columns_.insert_or_assign(std::move(key), std::move(column));
}

int64_t DeviceColumns::drop(std::map<Key, Column>::iterator &at) {
  const Block &block = at->second.block;
  const int64_t freed = block.use_count() == 1 ? block->bytes() : 0; // by its last column
  at = columns_.erase(at);
  return freed;
}

int64_t DeviceColumns::dropExpired() {
  int64_t freed = 0;
  for (auto at = columns_.begin(); at != columns_.end();) {
    if (at->first.kept.expired()) {
      freed += drop(at);
    } else {
      ++at;
    }
  }
  return freed;
}

int64_t DeviceColumns::giveWay(int64_t bytes) {
  std::lock_guard lock(mutex_);
  int64_t freed = dropExpired();
  for (auto at = columns_.begin(); freed < bytes && at != columns_.end();) {
    freed += drop(at);
  }
  return freed;
}

} // namespace headrace::exec
