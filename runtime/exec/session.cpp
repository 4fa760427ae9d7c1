// The memory of a session is limited once, whatever it is used for.
#include "runtime/exec/session.h"

#include "runtime/device/accelerator.h"
#include "runtime/exec/gpu/gpu_memory.h"

#include <algorithm>

namespace headrace::exec {

/// Of the memory freed blocks may have so much, whatever runs are expected to need.
constexpr int64_t kFreedPart = 4;

Session::Session(SessionOptions options)
    : options_(options), hostTier_(std::make_shared<MemoryTier>(options.memoryBytes)),
      blocks_(std::make_shared<BlockPool>(BlockPool::Options{
          options.memoryBytes, options.retainedBytes, kMemorySetting, hostTier_})),
      gpuMemory_(
          options.accelerator
              ? std::make_shared<GpuMemory>(
                    options.accelerator,
                    Budget::Options{Tier::kPinned, options.memoryBytes, kMemorySetting, hostTier_},
                    Budget::Options{Tier::kDevice, options.accelerator->tier()->limitBytes(),
                                    kDeviceMemorySetting, options.accelerator->tier()})
              : nullptr),
      pool_(WorkerPool::Options{options.threads, "worker"}) {}

void Session::endRun() {
  hostTier_->endRun();
  // Half more than is needed at a time: blocks of one size are freed before others are asked for.
  const int64_t expected = hostTier_->expectedBytes();
  blocks_->trim(std::max(expected + expected / 2, hostTier_->limitBytes() / kFreedPart));
}

} // namespace headrace::exec
