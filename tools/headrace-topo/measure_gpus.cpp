// The few calls of the CUDA driver that copies need, looked up by name.
#include "tools/headrace-topo/measure_gpus.h"

#include <chrono>
#include <dlfcn.h>
#include <functional>
#include <memory>
#include <type_traits>

namespace headrace::topo {
namespace {

using Clock = std::chrono::steady_clock;
using Address = unsigned long long; // of device memory

constexpr size_t kBytes = size_t{256} << 20;
constexpr double kSecondsEach = 0.15;
constexpr int kSuccess = 0;
constexpr int kPeerAccessEnabledAlready = 704;

/// The driver's functions. Names with _v2 are what its header makes of the plain ones.
struct Driver {
  int (*init)(unsigned);
  int (*deviceCount)(int *);
  int (*deviceGet)(int *, int);
  int (*retainContext)(void **, int);
  int (*releaseContext)(int);
  int (*setContext)(void *);
  int (*streamCreate)(void **, unsigned);
  int (*streamSynchronize)(void *);
  int (*streamDestroy)(void *);
  int (*allocate)(Address *, size_t);
  int (*release)(Address);
  int (*allocateHost)(void **, size_t);
  int (*releaseHost)(void *);
  int (*copyFromHost)(Address, const void *, size_t, void *);
  int (*copyToHost)(void *, Address, size_t, void *);
  int (*copyWithin)(Address, Address, size_t, void *);
  int (*copyToPeer)(Address, void *, Address, void *, size_t, void *);
  int (*canAccessPeer)(int *, int, int);
  int (*enablePeerAccess)(void *, unsigned);
};

Status failed(const char *call, int result) {
  return makeError(ErrorKind::kUnsupported, "the CUDA driver refuses ", call, ": ", result);
}

Expected<Driver> openDriver() {
  // Never closed: the driver keeps threads.
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    return makeError(ErrorKind::kUnsupported, "no CUDA driver: libcuda.so.1");
  }
  Driver driver;
  const char *missing = nullptr;
  auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    missing = function ? missing : name;
  };
  find(driver.init, "cuInit");
  find(driver.deviceCount, "cuDeviceGetCount");
  find(driver.deviceGet, "cuDeviceGet");
  find(driver.retainContext, "cuDevicePrimaryCtxRetain");
  find(driver.releaseContext, "cuDevicePrimaryCtxRelease_v2");
  find(driver.setContext, "cuCtxSetCurrent");
  find(driver.streamCreate, "cuStreamCreate");
  find(driver.streamSynchronize, "cuStreamSynchronize");
  find(driver.streamDestroy, "cuStreamDestroy_v2");
  find(driver.allocate, "cuMemAlloc_v2");
  find(driver.release, "cuMemFree_v2");
  find(driver.allocateHost, "cuMemAllocHost_v2");
  find(driver.releaseHost, "cuMemFreeHost");
  find(driver.copyFromHost, "cuMemcpyHtoDAsync_v2");
  find(driver.copyToHost, "cuMemcpyDtoHAsync_v2");
  find(driver.copyWithin, "cuMemcpyDtoDAsync_v2");
  find(driver.copyToPeer, "cuMemcpyPeerAsync");
  find(driver.canAccessPeer, "cuDeviceCanAccessPeer");
  find(driver.enablePeerAccess, "cuCtxEnablePeerAccess");
  if (missing) {
    return makeError(ErrorKind::kUnsupported, "the CUDA driver lacks ", missing);
  }
  return driver;
}

/// One GPU with a stream and two buffers. Gives all of it back.
class Device {
public:
  static Expected<std::unique_ptr<Device>> open(const Driver &driver, int index) {
    auto device = std::unique_ptr<Device>(new Device(driver));
    if (int result = driver.deviceGet(&device->device_, index)) {
      return failed("cuDeviceGet", result);
    }
    if (int result = driver.retainContext(&device->context_, device->device_)) {
      device->context_ = nullptr;
      return failed("cuDevicePrimaryCtxRetain", result);
    }
    if (int result = driver.setContext(device->context_)) {
      return failed("cuCtxSetCurrent", result);
    }
    if (int result = driver.streamCreate(&device->stream_, 1 /* not after the default stream */)) {
      device->stream_ = nullptr;
      return failed("cuStreamCreate", result);
    }
    for (Address &buffer : device->buffers_) {
      if (int result = driver.allocate(&buffer, kBytes)) {
        buffer = 0;
        return failed("cuMemAlloc", result);
      }
    }
    return device;
  }

  ~Device() {
    if (context_) {
      driver_.setContext(context_);
      for (Address buffer : buffers_) {
        if (buffer) {
          driver_.release(buffer);
        }
      }
      if (stream_) {
        driver_.streamDestroy(stream_);
      }
      driver_.releaseContext(device_);
    }
  }
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  int id() const { return device_; }
  void *context() const { return context_; }
  void *stream() const { return stream_; }
  Address buffer(size_t which) const { return buffers_[which]; }

  enum class Wait : uint8_t { kAtEnd, kForEach };
  using Copy = std::function<int(void *stream)>;
  /// Of one copy; as many are made as take a while.
  Expected<double> seconds(Wait wait, const Copy &copy) const {
    driver_.setContext(context_);
    HR_RETURN_IF_ERROR(batch(wait, copy)); // the first ones do not count
    Clock::time_point start = Clock::now();
    double copies = 0;
    double spent = 0;
    do {
      HR_RETURN_IF_ERROR(batch(wait, copy));
      copies += kBatch;
      spent = std::chrono::duration<double>(Clock::now() - start).count();
    } while (spent < kSecondsEach);
    return spent / copies;
  }

private:
  explicit Device(const Driver &driver) : driver_(driver) {}

  static constexpr int kBatch = 4;
  Status batch(Wait wait, const Copy &copy) const {
    for (int i = 0; i < kBatch; ++i) {
      if (int result = copy(stream_)) {
        return failed("a copy", result);
      }
      if (wait == Wait::kForEach || i + 1 == kBatch) {
        if (int result = driver_.streamSynchronize(stream_)) {
          return failed("cuStreamSynchronize", result);
        }
      }
    }
    return {};
  }

  const Driver &driver_;
  int device_ = 0;
  void *context_ = nullptr;
  void *stream_ = nullptr;
  Address buffers_[2] = {0, 0};
};

Status measureHost(const Driver &driver, const Device &device, GpuRates &rates) {
  void *pinned = nullptr;
  if (int result = driver.allocateHost(&pinned, kBytes)) {
    return failed("cuMemAllocHost", result);
  }
  std::unique_ptr<void, int (*)(void *)> owner(pinned, driver.releaseHost);
  auto toHost = [&](size_t bytes) {
    return [&driver, &device, pinned, bytes](void *stream) {
      return driver.copyToHost(pinned, device.buffer(0), bytes, stream);
    };
  };
  HR_ASSIGN_OR_RETURN(double down, device.seconds(Device::Wait::kAtEnd, toHost(kBytes)));
  HR_ASSIGN_OR_RETURN(double up, device.seconds(Device::Wait::kAtEnd, [&](void *stream) {
    return driver.copyFromHost(device.buffer(0), pinned, kBytes, stream);
  }));
  HR_ASSIGN_OR_RETURN(rates.hostLatencySeconds, device.seconds(Device::Wait::kForEach, toHost(8)));
  rates.toHostBytesPerSecond = kBytes / down;
  rates.fromHostBytesPerSecond = kBytes / up;
  return {};
}

Status measurePeers(const Driver &driver, const Device &device, GpuRates &rates) {
  HR_ASSIGN_OR_RETURN(std::unique_ptr<Device> other, Device::open(driver, 1));
  int reaches = 0;
  if (driver.canAccessPeer(&reaches, device.id(), other->id()) != kSuccess || !reaches) {
    return {};
  }
  driver.setContext(device.context());
  int enabled = driver.enablePeerAccess(other->context(), 0);
  if (enabled != kSuccess && enabled != kPeerAccessEnabledAlready) {
    return failed("cuCtxEnablePeerAccess", enabled);
  }
  auto copy = [&](size_t bytes) {
    return [&driver, &device, &other, bytes](void *stream) {
      return driver.copyToPeer(other->buffer(0), other->context(), device.buffer(0),
                               device.context(), bytes, stream);
    };
  };
  HR_ASSIGN_OR_RETURN(double whole, device.seconds(Device::Wait::kAtEnd, copy(kBytes)));
  HR_ASSIGN_OR_RETURN(rates.peerLatencySeconds, device.seconds(Device::Wait::kForEach, copy(8)));
  rates.peerBytesPerSecond = kBytes / whole;
  return {};
}

} // namespace

Expected<GpuRates> measureGpus() {
  HR_ASSIGN_OR_RETURN(Driver driver, openDriver());
  if (int result = driver.init(0)) {
    return failed("cuInit", result);
  }
  int count = 0;
  if (driver.deviceCount(&count) != kSuccess || count == 0) {
    return makeError(ErrorKind::kUnsupported, "the CUDA driver knows no GPU");
  }
  GpuRates rates;
  HR_ASSIGN_OR_RETURN(std::unique_ptr<Device> first, Device::open(driver, 0));
  HR_ASSIGN_OR_RETURN(double within, first->seconds(Device::Wait::kAtEnd, [&](void *stream) {
    return driver.copyWithin(first->buffer(1), first->buffer(0), kBytes, stream);
  }));
  rates.memoryBytesPerSecond = 2 * static_cast<double>(kBytes) / within; // read and written
  HR_RETURN_IF_ERROR(measureHost(driver, *first, rates));
  if (count > 1) {
    HR_RETURN_IF_ERROR(measurePeers(driver, *first, rates));
  }
  return rates;
}

} // namespace headrace::topo
