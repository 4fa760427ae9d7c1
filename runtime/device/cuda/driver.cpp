// Finding the driver, its errors as Status, its devices.
#include "runtime/device/cuda/driver.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>

namespace headrace::cuda {

Expected<DriverCalls> loadDriver(const std::string &library) {
  void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char *why = dlerror();
    return makeError(ErrorKind::kUnsupported,
                     "no CUDA driver, install NVIDIA's: ", why ? why : library.c_str());
  }
  DriverCalls calls;
  const char *missing = nullptr;
  auto find = [&](auto &call, const char *symbol) {
    call = reinterpret_cast<std::remove_reference_t<decltype(call)>>(dlsym(handle, symbol));
    if (call == nullptr && missing == nullptr) {
      missing = symbol;
    }
  };
#define HR_DRIVER_CALL(name, symbol, parameters) find(calls.name, #symbol);
#include "runtime/device/cuda/driver.def"
#undef HR_DRIVER_CALL
  if (missing != nullptr) {
    return makeError(
        ErrorKind::kUnsupported,
        "the CUDA driver is older than 11.4, install a newer one; it has no: ", missing);
  }
  return calls;
}

namespace {

Expected<const DriverCalls *> initialised() {
  static Expected<DriverCalls> calls = loadDriver("libcuda.so.1");
  if (!calls.ok()) {
    return calls.status();
  }
  Result result = calls->initialize(0);
  if (result == kNoDevice) {
    return Status(ErrorKind::kUnsupported, "the CUDA driver finds no device");
  }
  HR_RETURN_IF_ERROR(statusOf(*calls, result, "initialising the CUDA driver"));
  return &*calls;
}

} // namespace

Expected<const DriverCalls *> machineDriver() {
  static Expected<const DriverCalls *> driver = initialised();
  return driver;
}

Status statusOf(const DriverCalls &driver, Result result, const std::string &what) {
  if (result == kSuccess) {
    return {};
  }
  const char *name = nullptr, *text = nullptr;
  driver.errorName(result, &name);
  driver.errorText(result, &text);
  ErrorKind kind = result == kOutOfMemory    ? ErrorKind::kMemory
                   : result == kNotSupported ? ErrorKind::kUnsupported
                                             : ErrorKind::kInternal;
  return makeError(kind, what, ": ", name ? name : std::to_string(result), " (", text ? text : "",
                   ")");
}

bool isSticky(Result result) {
  constexpr std::array kFatal = {kDeinitialized,
                                 kInvalidContext,
                                 kEccUncorrectable,
                                 kNvlinkUncorrectable,
                                 kIllegalAddress,
                                 kLaunchTimeout,
                                 kContextIsDestroyed,
                                 kAssert,
                                 kHardwareStackError,
                                 kIllegalInstruction,
                                 kMisalignedAddress,
                                 kInvalidAddressSpace,
                                 kInvalidPc,
                                 kLaunchFailed,
                                 kUnknown};
  return std::ranges::find(kFatal, result) != kFatal.end();
}

Expected<std::vector<DeviceDescription>> devices(const DriverCalls &driver) {
  int count = 0, version = 0;
  HR_RETURN_IF_ERROR(statusOf(driver, driver.deviceCount(&count), "counting CUDA devices"));
  HR_RETURN_IF_ERROR(
      statusOf(driver, driver.driverVersion(&version), "asking for the CUDA driver's version"));
  std::vector<DeviceDescription> found(count);
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    DeviceNumber device = 0;
    char name[256] = {};
    size_t bytes = 0;
    DeviceDescription &out = found[ordinal];
    int clock = 0, bits = 0;
    auto attribute = [&](int *value, DeviceAttribute which) {
      return driver.deviceAttribute(value, which, device);
    };
    // The first that is not a success.
    Result result = driver.deviceGet(&device, ordinal);
    auto then = [&](auto call) { result = result == kSuccess ? call() : result; };
    then([&] { return driver.deviceName(name, sizeof name - 1, device); });
    then([&] { return driver.deviceMemory(&bytes, device); });
    then([&] { return attribute(&out.capabilityMajor, DeviceAttribute::kCapabilityMajor); });
    then([&] { return attribute(&out.capabilityMinor, DeviceAttribute::kCapabilityMinor); });
    then([&] { return attribute(&out.multiprocessors, DeviceAttribute::kMultiprocessors); });
    HR_RETURN_IF_ERROR(
        statusOf(driver, result, "describing CUDA device " + std::to_string(ordinal)));
    out.name = name;
    out.driver = std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
    out.memoryBytes = static_cast<int64_t>(bytes);
    // Not all drivers tell the clock.
    if (attribute(&clock, DeviceAttribute::kMemoryClockKilohertz) == kSuccess &&
        attribute(&bits, DeviceAttribute::kMemoryBusBits) == kSuccess) {
      out.memoryBytesPerSecond = 2.0 * clock * 1e3 * bits / 8;
    }
  }
  return found;
}

} // namespace headrace::cuda
