// LaunchBlocks: the memory of launches, which one task hands on to the next.
#pragma once

#include "runtime/device/accelerator.h"

#include <mutex>
#include <vector>

namespace headrace::exec {

/// Purpose: blocks in pinned memory, or in the device's. They are slow to take and to give back
/// (pinned ones for the driver, and all its callers meanwhile), so they are of rounded sizes and
/// are kept for the next task and the next run, until memory is short: those that nobody uses give
/// way for who asks the tier. Ownership: owns those; charged for all of them. Thread-safety: full.
/// Lifetime: within the accelerator's; outlives its blocks.
class LaunchBlocks final : public Keeper {
public:
  /// `options`: of the budget, in whose tier they are, with the setting of memory errors.
  LaunchBlocks(std::shared_ptr<Accelerator> accelerator, const Budget::Options &options);
  ~LaunchBlocks() override;

  /// Makes `block`, over which no launch is under way, one of at least `bytes`, usable in the lane
  /// kIn. 0: any, or none, will do. On an error, the typed one of memory as others, it is empty.
  Status exchange(DeviceMemory &block, int64_t bytes);
  /// When all launches over it have ended.
  void giveBack(DeviceMemory block);

  int64_t giveWay(int64_t bytes) override;

private:
  void moveTo(std::shared_ptr<MemoryTier>) override {} // it is counted by the reservation
  Expected<DeviceMemory> take(int64_t bytes);

  const std::shared_ptr<Accelerator> accelerator_;
  Budget budget_;
  Reservation bytes_;
  std::mutex mutex_;
  std::vector<DeviceMemory> idle_;
};

} // namespace headrace::exec
