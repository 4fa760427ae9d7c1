// The memory of a session is limited once, whatever it is used for.
#include "runtime/exec/session.h"

#include "runtime/device/accelerator.h"
#include "runtime/exec/gpu/gpu_memory.h"

namespace headrace::exec {

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

} // namespace headrace::exec
