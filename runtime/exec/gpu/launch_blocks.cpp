// Blocks by their sizes.
#include "runtime/exec/gpu/launch_blocks.h"

#include <algorithm>
#include <bit>

namespace headrace::exec {

namespace {
/// A quarter above what is asked for, in steps that few sizes differ by: morsels are about equal.
int64_t rounded(int64_t bytes) {
  const auto wanted = static_cast<uint64_t>(bytes + bytes / 4);
  const uint64_t step = std::max<uint64_t>(4096, std::bit_floor(wanted) / 4);
  return static_cast<int64_t>((wanted + step - 1) / step * step);
}
} // namespace

LaunchBlocks::LaunchBlocks(std::shared_ptr<Accelerator> accelerator, const Budget::Options &options)
    : accelerator_(std::move(accelerator)), budget_(options) {
  bytes_ = std::move(
      *budget_.reserve({.operatorName = "rows on their way to the GPU"})); // of nothing yet
  use(options.shared);
}

LaunchBlocks::~LaunchBlocks() { use(nullptr); }

Expected<DeviceMemory> LaunchBlocks::take(int64_t bytes) {
  {
    std::lock_guard lock(mutex_);
    auto found = std::ranges::find_if(
        idle_, [&](const DeviceMemory &block) { return block.bytes() >= bytes; });
    if (found != idle_.end()) {
      DeviceMemory block = std::move(*found);
      idle_.erase(found);
      return block;
    }
  }
  auto allocate = [&](int64_t some) {
    return accelerator_->device().allocate(budget_.tier(), some, bytes_, Lane::kIn);
  };
  Expected<DeviceMemory> made = allocate(rounded(bytes));
  if (!made.ok() && made.status().kind() == ErrorKind::kMemory) {
    // Those that are too small give way for the driver too, then the room to grow.
    giveWay(INT64_MAX);
    made = allocate(bytes);
  }
  return made;
}

Status LaunchBlocks::exchange(DeviceMemory &block, int64_t bytes) {
  if (block.bytes() < bytes) {
    giveBack(std::move(block));
    HR_ASSIGN_OR_RETURN(block, take(bytes));
  }
  return {};
}

void LaunchBlocks::giveBack(DeviceMemory block) {
  if (block) {
    std::lock_guard lock(mutex_);
    idle_.push_back(std::move(block));
  }
}

int64_t LaunchBlocks::giveWay(int64_t bytes) {
  std::lock_guard lock(mutex_);
  int64_t freed = 0;
  while (freed < bytes && !idle_.empty()) {
    freed += idle_.back().bytes();
    idle_.pop_back();
  }
  return freed;
}

} // namespace headrace::exec
