// The accelerator that a process was asked to use.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "runtime/device/accelerator.h"
#include "runtime/device/cuda/driver.h"

namespace headrace::cuda {

using FindDriver = std::function<Expected<const DriverCalls *>()>;

/// By the settings `device` and `deviceMemory`: the first device of the driver; null for "cpu", and
/// for "auto" where there is none.
Expected<std::shared_ptr<Accelerator>> openAccelerator(const std::string &device,
                                                       int64_t memoryBytes,
                                                       const FindDriver &find = machineDriver);

} // namespace headrace::cuda
