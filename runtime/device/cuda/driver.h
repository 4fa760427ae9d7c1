// DriverCalls: the calls of the CUDA driver as a table, found in libcuda.so.1 when it is asked for.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/device/cuda/driver_types.h"
#include "runtime/device/device.h"

namespace headrace::cuda {

/// The table. Another one than libcuda's has the same meaning (runtime/device/emulated).
struct DriverCalls {
#define HR_DRIVER_CALL(name, symbol, parameters) Result(*name) parameters = nullptr;
#include "runtime/device/cuda/driver.def"
#undef HR_DRIVER_CALL
};

/// The calls of a library, which stays loaded. kUnsupported, with what to install, where it or one
/// of them is missing.
Expected<DriverCalls> loadDriver(const std::string &library);

/// The machine's driver, initialised; the same table each time. kUnsupported
/// also where it finds no device.
Expected<const DriverCalls *> machineDriver();

/// Ok for kSuccess; else "WHAT: CUDA_ERROR_… (text of the driver)", kMemory for want of memory.
Status statusOf(const DriverCalls &driver, Result result, const std::string &what);

/// Whether no call of the process can use the device any more.
bool isSticky(Result result);

/// All devices of the driver, by ordinal.
Expected<std::vector<DeviceDescription>> devices(const DriverCalls &driver);

} // namespace headrace::cuda
