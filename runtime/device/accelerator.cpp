// Opening of devices.
#include "runtime/device/accelerator.h"

#include "runtime/base/check.h"

namespace headrace {

namespace {
/// Of the two buffers through which pageable memory is copied, and some more.
constexpr int64_t kStagingBytesMax = 64 << 20;
/// Of the device's memory; the rest is the driver's, and of other processes.
constexpr double kPart = 0.9;
} // namespace

Accelerator::Accelerator() : pinned_({Tier::kPinned, kStagingBytesMax, "staging buffers"}) {}

Accelerator::~Accelerator() { HR_CHECK(!tier_ || tier_->usedBytes() == 0); }

Expected<std::shared_ptr<Accelerator>> Accelerator::create(const Open &open, int64_t memoryBytes) {
  std::shared_ptr<Accelerator> made(new Accelerator());
  HR_ASSIGN_OR_RETURN(made->staging_, made->pinned_.reserve({.operatorName = "staging"}));
  HR_ASSIGN_OR_RETURN(made->device_, open(made->staging_));
  if (memoryBytes == 0) {
    memoryBytes =
        static_cast<int64_t>(kPart * static_cast<double>(made->device_->description().memoryBytes));
  }
  made->tier_ = std::make_shared<MemoryTier>(memoryBytes);
  return made;
}

} // namespace headrace
