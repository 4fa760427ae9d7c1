// Opening devices, and what all of their tests do.
#include "test/unit/device/device_fixture.h"

#include "runtime/abi/device_kernel.h"
#include "test/unit/device/device_kernels.h"

#include <cstring>
#include <fstream>
#include <iterator>

namespace headrace {

std::string nameOfDevice(const testing::TestParamInfo<uint64_t> &info) {
  return info.param == kMachine ? "machine" : "seed" + std::to_string(info.param);
}

namespace {
/// The machine's GPU cannot be opened again by a process that has lost it.
bool machineIsLost = false;
} // namespace

void DeviceTest::close() {
  module_.reset();
  if (device_ && !isEmulated()) {
    machineIsLost = machineIsLost || !device_->status().ok();
  }
  device_.reset();
}

void DeviceTest::open(cuda::CudaDevice::Options options) {
  close();
  const cuda::DriverCalls *calls = nullptr;
  if (isEmulated()) {
    driver_.reset();
    driver_.emplace(
        emulated::EmulatedDriver::Options{.seed = GetParam(), .memoryBytes = 64 * kMebi});
    calls = &driver_->calls();
  } else if (machineIsLost) {
    GTEST_SKIP()
        << "an earlier test of this process has lost the GPU: run it by itself, as ctest does";
  } else {
    Expected<const cuda::DriverCalls *> machine = cuda::machineDriver();
    if (!machine.ok()) {
      GTEST_SKIP() << machine.status().message();
    }
    calls = *machine;
  }
  if (!reservation_.valid()) {
    reservation_ = std::move(*budget_.reserve({.operatorName = "test", .minimumBytes = kMebi}));
    pinned_ = std::move(*budget_.reserve({.operatorName = "staging", .minimumBytes = kMebi}));
  }
  Expected<std::unique_ptr<cuda::CudaDevice>> device =
      cuda::CudaDevice::open(*calls, options, pinned_);
  ASSERT_OK(device.status());
  device_ = std::move(*device);
}

DeviceMemory DeviceTest::allocate(Tier tier, int64_t bytes, Lane lane) {
  Expected<DeviceMemory> memory = device_->allocate(tier, bytes, reservation_, lane);
  EXPECT_OK(memory.status());
  return memory.ok() ? std::move(*memory) : DeviceMemory();
}

DeviceMemory DeviceTest::put(const std::vector<int64_t> &values) {
  int64_t bytes = static_cast<int64_t>(values.size() * 8);
  DeviceMemory memory = allocate(Tier::kDevice, bytes, Lane::kIn);
  Expected<Event> done = device_->copy(Place::of(values.data()), memory.at(), bytes, {});
  EXPECT_OK(done.status());
  EXPECT_OK(device_->wait(*done));
  return memory;
}

std::vector<int64_t> DeviceTest::get(Place place, size_t count, std::vector<Event> after) {
  std::vector<int64_t> values(count);
  Expected<Event> done = device_->copy(place, Place::of(values.data()), count * 8, after);
  EXPECT_OK(done.status());
  return values;
}

DeviceTest::Arguments DeviceTest::addArguments(Place source, Place target, uint64_t count,
                                               int64_t addend) {
  Arguments out;
  out.memory = allocate(Tier::kDevice, 256, Lane::kIn);
  struct {
    HrArgs args;
    HrDevice device;
    AddParameters parameters;
  } block = {};
  uint64_t base = out.memory.at().address;
  block.args.literals =
      reinterpret_cast<const void *>(base + offsetof(decltype(block), parameters));
  block.parameters = {reinterpret_cast<const int64_t *>(source.address),
                      reinterpret_cast<int64_t *>(target.address), count, addend};
  Expected<Event> done = device_->copy(Place::of(&block), out.memory.at(), sizeof block, {});
  EXPECT_OK(done.status());
  EXPECT_OK(device_->wait(*done));
  out.values = {base, base + offsetof(decltype(block), device)};
  return out;
}

std::vector<std::byte> DeviceTest::image(const std::string &stem) const {
  std::string path = KERNEL_FOLDER "/" + stem + (isEmulated() ? ".so" : ".ptx");
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Kernel DeviceTest::kernel(const std::string &name) {
  if (!module_) {
    Expected<std::unique_ptr<KernelModule>> module = device_->load(image());
    EXPECT_OK(module.status());
    if (!module.ok()) {
      return {};
    }
    module_ = std::move(*module);
  }
  Expected<Kernel> kernel = module_->find(name);
  EXPECT_OK(kernel.status());
  return kernel.ok() ? *kernel : Kernel();
}

Event DeviceTest::launchAdd(const Arguments &arguments, std::vector<Event> after) {
  KernelLaunch launch{kernel("add"), 3, 64, arguments.values};
  Expected<Event> done = device_->launch(launch, after);
  EXPECT_OK(done.status());
  return done.ok() ? *done : Event();
}

} // namespace headrace
