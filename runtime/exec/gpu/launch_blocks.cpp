// Pairs by their sizes.
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

LaunchBlocks::LaunchBlocks(std::shared_ptr<Accelerator> accelerator, Budget::Options host,
                           Budget::Options device)
    : accelerator_(std::move(accelerator)), hostBudget_(host), deviceBudget_(std::move(device)) {
  ReservationRequest request;
  request.operatorName = "rows on their way to the GPU";
  request.shrinks = true;
  hostBytes_ = std::move(*hostBudget_.reserve(request)); // of nothing yet
  deviceBytes_ = std::move(*deviceBudget_.reserve(request));
  use(host.shared);
}

LaunchBlocks::~LaunchBlocks() { use(nullptr); }

Expected<LaunchBlocks::Pair> LaunchBlocks::allocate(int64_t hostBytes, int64_t deviceBytes) {
  Device &device = accelerator_->device();
  Pair made;
  if (deviceBytes > 0) {
    HR_ASSIGN_OR_RETURN(made.block,
                        device.allocate(Tier::kDevice, deviceBytes, deviceBytes_, Lane::kIn));
  }
  HR_ASSIGN_OR_RETURN(made.pinned, device.allocate(Tier::kPinned, hostBytes, hostBytes_));
  return made;
}

Expected<LaunchBlocks::Pair> LaunchBlocks::take(int64_t hostBytes, int64_t deviceBytes) {
  {
    std::lock_guard lock(mutex_);
    auto found = std::ranges::find_if(
        idle_, [&](const Pair &pair) { return pair.holds(hostBytes, deviceBytes); });
    if (found != idle_.end()) {
      Pair pair = std::move(*found);
      idle_.erase(found);
      return pair;
    }
  }
  Expected<Pair> made = allocate(rounded(hostBytes), deviceBytes > 0 ? rounded(deviceBytes) : 0);
  if (!made.ok() && made.status().kind() == ErrorKind::kMemory) {
    // Those that are too small give way, then the room to grow.
    giveWay(INT64_MAX);
    made = allocate(hostBytes, deviceBytes);
  }
  return made;
}

void LaunchBlocks::giveBack(Pair pair) {
  if (pair) {
    std::lock_guard lock(mutex_);
    idle_.push_back(std::move(pair));
  }
}

int64_t LaunchBlocks::giveWay(int64_t bytes) {
  std::lock_guard lock(mutex_);
  int64_t freed = 0;
  while (freed < bytes && !idle_.empty()) {
    freed += idle_.back().pinned.bytes();
    idle_.pop_back();
  }
  return freed;
}

} // namespace headrace::exec
