// A device to test: an emulated one of some seed, or the machine's first GPU.
#pragma once

#include "runtime/device/cuda/cuda_device.h"
#include "runtime/device/emulated/emulated_driver.h"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace headrace {

constexpr uint64_t kMachine = 0; ///< as a seed
constexpr int64_t kMebi = 1 << 20;

/// Opens the device of the seed, or skips the test where the machine has none.
class DeviceTest : public testing::TestWithParam<uint64_t> {
protected:
  ~DeviceTest() override { close(); }
  void SetUp() override { open({}); }
  void open(cuda::CudaDevice::Options options);
  void close();
  bool isEmulated() const { return GetParam() != kMachine; }

  DeviceMemory allocate(Tier tier, int64_t bytes, Lane lane = Lane::kCompute);
  /// Device memory with these values, usable in all lanes.
  DeviceMemory put(const std::vector<int64_t> &values);
  std::vector<int64_t> get(Place place, size_t count, std::vector<Event> after);
  /// Argument blocks of the kernel `add`; the addresses that a launch takes.
  struct Arguments {
    DeviceMemory memory;
    std::vector<uint64_t> values;
  };
  Arguments addArguments(Place source, Place target, uint64_t count, int64_t addend);
  /// The kernels of a source, as the device takes them.
  std::vector<std::byte> image(const std::string &stem = "device_test_kernels") const;
  /// One of the tests' kernels, which are loaded once.
  Kernel kernel(const std::string &name);
  Event launchAdd(const Arguments &arguments, std::vector<Event> after = {});

  std::optional<emulated::EmulatedDriver> driver_;
  Budget budget_{{.tier = Tier::kDevice, .limitBytes = 256 * kMebi, .setting = "--device-memory"}};
  Reservation reservation_, pinned_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<KernelModule> module_;
};

std::string nameOfDevice(const testing::TestParamInfo<uint64_t> &info);

inline std::vector<int64_t> counted(size_t count, int64_t first) {
  std::vector<int64_t> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

#define ASSERT_OK(status) ASSERT_TRUE((status).ok()) << (status).toString()
#define EXPECT_OK(status) EXPECT_TRUE((status).ok()) << (status).toString()

} // namespace headrace
