// LaunchBlocks: the memory of launches, which one task hands on to the next.
#pragma once

#include "runtime/device/accelerator.h"

#include <mutex>
#include <vector>

namespace headrace::exec {

/// Purpose: blocks in pinned memory and in the device, in pairs. Pinned memory is slow to take and
/// to give back (for the driver, and all its callers meanwhile), so pairs are of rounded sizes and
/// are kept for the next task and the next run, until memory is short. Ownership: owns the pairs
/// that nobody has; charged for all of them, the pinned ones in the host's tier. Thread-safety:
/// full. Lifetime: within the accelerator's; outlives its pairs.
class LaunchBlocks final : public Keeper {
public:
  struct Pair {
    DeviceMemory pinned, block;
    explicit operator bool() const { return static_cast<bool>(pinned); }
    bool holds(int64_t hostBytes, int64_t deviceBytes) const {
      return *this && pinned.bytes() >= hostBytes && block.bytes() >= deviceBytes;
    }
  };

  /// `host` and `device` count in their tiers, and name the settings of memory errors.
  LaunchBlocks(std::shared_ptr<Accelerator> accelerator, Budget::Options host,
               Budget::Options device);
  ~LaunchBlocks() override;

  /// `deviceBytes` 0: pinned memory alone will do.
  Expected<Pair> take(int64_t hostBytes, int64_t deviceBytes);
  /// When all launches over it have ended.
  void giveBack(Pair pair);

  int64_t giveWay(int64_t bytes) override;

private:
  void moveTo(std::shared_ptr<MemoryTier>) override {} // it is counted by the reservation
  Expected<Pair> allocate(int64_t hostBytes, int64_t deviceBytes);

  const std::shared_ptr<Accelerator> accelerator_;
  Budget hostBudget_, deviceBudget_;
  Reservation hostBytes_, deviceBytes_;
  std::mutex mutex_;
  std::vector<Pair> idle_;
};

} // namespace headrace::exec
