// The driver of CUDA as a table: found or refused with what to do, its devices, its errors.
#include "test/unit/device/device_fixture.h"

namespace headrace {
namespace {

TEST(CudaDriver, WithoutOneTheErrorSaysWhatToInstall) {
  Expected<const cuda::DriverCalls *> driver = cuda::machineDriver();
  if (driver.ok()) {
    GTEST_SKIP() << "this machine has one";
  }
  EXPECT_EQ(driver.status().kind(), ErrorKind::kUnsupported);
  const std::string &message = driver.status().message();
  EXPECT_TRUE(message.starts_with("no CUDA driver, install NVIDIA's: ") ||
              message == "the CUDA driver finds no device")
      << message;
}

TEST(CudaDriver, ALibraryWithoutTheCallsIsTooOld) {
  Expected<cuda::DriverCalls> calls = cuda::loadDriver("libm.so.6");
  EXPECT_EQ(calls.status().kind(), ErrorKind::kUnsupported);
  EXPECT_EQ(calls.status().message(),
            "the CUDA driver is older than 11.4, install a newer one; it has no: cuInit");
}

TEST(CudaDriver, ListsItsDevices) {
  emulated::EmulatedDriver driver({.memoryBytes = 32 * kMebi, .devices = 3});
  Expected<std::vector<DeviceDescription>> found = cuda::devices(driver.calls());
  ASSERT_OK(found.status());
  ASSERT_EQ(found->size(), 3);
  EXPECT_EQ(found->front().name, "emulated GPU");
  EXPECT_EQ(found->front().driver, "12.4");
  EXPECT_EQ(found->front().capability(), "9.0");
  EXPECT_EQ(found->front().memoryBytes, 32 * kMebi);
}

TEST(CudaDriver, ADeviceThatIsNotThereIsAnError) {
  emulated::EmulatedDriver driver({});
  Budget budget({.limitBytes = kMebi});
  Reservation pinned = std::move(*budget.reserve({.operatorName = "staging"}));
  auto device = cuda::CudaDevice::open(driver.calls(), {.ordinal = 1}, pinned);
  EXPECT_EQ(device.status().kind(), ErrorKind::kUser);
  EXPECT_EQ(device.status().message(), "there are 1 CUDA devices, numbered from 0, got: 1");
}

TEST(CudaDriver, OpeningReportsEachFailure) {
  Budget budget({.limitBytes = 64 * kMebi});
  Reservation pinned = std::move(*budget.reserve({.operatorName = "staging"}));
  for (const char *symbol :
       {"cuDeviceGetCount", "cuDriverGetVersion", "cuDeviceGet", "cuDeviceGetName",
        "cuDeviceTotalMem_v2", "cuDeviceGetAttribute", "cuDevicePrimaryCtxRetain",
        "cuCtxSetCurrent", "cuMemPoolCreate", "cuMemPoolSetAttribute", "cuStreamCreate"}) {
    emulated::EmulatedDriver driver({});
    driver.failAt(symbol, 0, cuda::kInvalidValue);
    auto device = cuda::CudaDevice::open(driver.calls(), {}, pinned);
    ASSERT_FALSE(device.ok()) << symbol;
    EXPECT_NE(device.status().message().find("CUDA_ERROR_INVALID_VALUE"), std::string::npos)
        << device.status().message();
    EXPECT_EQ(pinned.chargedBytes(), 0) << symbol;
  }
}

TEST(CudaDriver, ErrorsHaveNameAndText) {
  emulated::EmulatedDriver driver({});
  EXPECT_OK(cuda::statusOf(driver.calls(), cuda::kSuccess, "copying"));
  Status memory = cuda::statusOf(driver.calls(), cuda::kOutOfMemory, "copying");
  EXPECT_EQ(memory.kind(), ErrorKind::kMemory);
  EXPECT_EQ(memory.message(), "copying: CUDA_ERROR_OUT_OF_MEMORY (emulated)");
  EXPECT_EQ(cuda::statusOf(driver.calls(), 12345, "copying").message(),
            "copying: 12345 (emulated)");
  EXPECT_FALSE(cuda::isSticky(cuda::kOutOfMemory));
  EXPECT_TRUE(cuda::isSticky(cuda::kIllegalAddress));
}

} // namespace
} // namespace headrace
