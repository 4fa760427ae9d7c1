// Faults of devices, and what an emulated one takes for a fault: errors stay, and nothing goes
// unseen.
#include "test/unit/device/device_fixture.h"

#include "test/unit/device/device_kernels.h"

namespace headrace {
namespace {

/// Each of these may leave the process without a device: on a GPU they run in processes of their
/// own.
using DeviceFaultTest = DeviceTest;
INSTANTIATE_TEST_SUITE_P(Devices, DeviceFaultTest, testing::Values(kMachine, 1, 2, 3),
                         nameOfDevice);
/// What only the emulation can say.
using EmulationTest = DeviceTest;
INSTANTIATE_TEST_SUITE_P(Devices, EmulationTest, testing::Values(1, 2, 3), nameOfDevice);

void expectLost(Device &device, const Status &status, const std::string &error) {
  EXPECT_EQ(status.kind(), ErrorKind::kInternal);
  EXPECT_NE(status.message().find(" was lost, "), std::string::npos) << status.message();
  EXPECT_NE(status.message().find(error), std::string::npos) << status.message();
  EXPECT_EQ(device.status().message(), status.message());
}

TEST_P(DeviceFaultTest, AnIllegalAddressPoisonsTheDevice) {
  DeviceMemory memory = put(counted(100, 0));
  Arguments arguments = addArguments({Tier::kDevice, 0x10}, memory.at(), 100, 1);
  Event done = launchAdd(arguments);
  Status status = device_->wait(done);
  expectLost(*device_, status, "CUDA_ERROR_ILLEGAL_ADDRESS");
  // From now on everything fails, at once and in the same way.
  EXPECT_EQ(device_->poll(done), PollState::kFailed);
  EXPECT_EQ(device_->poll(Event()), PollState::kFailed);
  EXPECT_EQ(device_->allocate(Tier::kDevice, 64, reservation_).status().message(),
            status.message());
  EXPECT_EQ(device_->copy(memory.at(), memory.at(), 8, {}).status().message(), status.message());
  EXPECT_EQ(device_->fill(memory.at(), 0, 8, {}).status().message(), status.message());
  EXPECT_EQ(device_->synchronise().message(), status.message());
  EXPECT_EQ(device_->load(image()).status().message(), status.message());
  EXPECT_EQ(reservation_.chargedBytes(), memory ? 1024 + 256 : 0);
}

TEST_P(DeviceFaultTest, AKernelThatTrapsPoisonsTheDevice) {
  DeviceMemory memory = put(counted(100, 0));
  Arguments arguments = addArguments(memory.at(), memory.at(), 100, 1);
  Expected<Event> done = device_->launch(KernelLaunch{kernel("stop"), 1, 32, arguments.values}, {});
  ASSERT_OK(done.status());
  Status status = device_->wait(*done);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(device_->status().message(), status.message());
}

TEST_P(EmulationTest, KernelsMayNotTouchTheHost) {
  std::vector<int64_t> values = counted(100'000, 0);
  DeviceMemory pinned = allocate(Tier::kPinned, 4096), memory = allocate(Tier::kDevice, 800'000);
  Place sources[] = {Place::of(values.data()), pinned.at()};
  Arguments arguments = addArguments(sources[GetParam() % 2], memory.at(), 10, 1);
  expectLost(*device_, device_->wait(launchAdd(arguments, {memory.ready()})),
             "CUDA_ERROR_ILLEGAL_ADDRESS");
}

TEST_P(EmulationTest, TheHostMayNotTouchTheDevice) {
  DeviceMemory memory = put(counted(10, 0));
  EXPECT_DEATH(++*reinterpret_cast<volatile int64_t *>(memory.at().address), "");
}

TEST_P(EmulationTest, KernelsMayNotReadBehindTheEnd) {
  DeviceMemory memory = put(counted(64, 0)), target = allocate(Tier::kDevice, 4096);
  Arguments arguments = addArguments(memory.at(), target.at(), 65, 1);
  expectLost(*device_, device_->wait(launchAdd(arguments)), "CUDA_ERROR_ILLEGAL_ADDRESS");
}

TEST_P(EmulationTest, WhatWasFreedMayNotBeTouched) {
  DeviceMemory memory = put(counted(64, 0)), target = allocate(Tier::kDevice, 4096);
  Arguments arguments = addArguments(memory.at(), target.at(), 64, 1);
  memory.reset();
  // The free comes first where everything submitted before has been done.
  Expected<Event> done = device_->copy(arguments.memory.at(), target.at(), 8, {});
  for (int polls = 0; polls < 200 && done.ok(); ++polls) {
    (void)device_->poll(*done);
  }
  expectLost(*device_, device_->wait(launchAdd(arguments)), "CUDA_ERROR_ILLEGAL_ADDRESS");
}

TEST_P(EmulationTest, OtherLanesWaitForAnAllocation) {
  // Without ready() a copy comes, in some order, before the memory is there.
  int faults = 0;
  for (int attempt = 0; attempt < 20; ++attempt) {
    open({});
    DeviceMemory busy = allocate(Tier::kDevice, kMebi);
    for (int i = 0; i < 5; ++i) {
      ASSERT_OK(device_->fill(busy.at(), 1, kMebi).status());
    }
    DeviceMemory pinned = allocate(Tier::kPinned, 64), target = allocate(Tier::kDevice, 64);
    Expected<Event> copied = device_->copy(pinned.at(), target.at(), 64, {});
    faults += !copied.ok() || !device_->wait(*copied).ok();
  }
  EXPECT_GT(faults, 0);
}

TEST_P(EmulationTest, WithoutEventsLanesOvertakeEachOther) {
  constexpr size_t kCount = 1000;
  DeviceMemory buffer = put(counted(kCount, 0));
  DeviceMemory out = allocate(Tier::kPinned, kCount * 8);
  Arguments arguments = addArguments(buffer.at(), buffer.at(), kCount, 1);
  bool stale = false;
  for (int round = 1; round <= 40; ++round) {
    launchAdd(arguments);
    Expected<Event> read = device_->copy(buffer.at(), out.at(), kCount * 8, {}); // not after it
    ASSERT_OK(device_->wait(*read));
    stale |= *reinterpret_cast<int64_t *>(out.host()) != round;
    ASSERT_OK(device_->synchronise());
  }
  EXPECT_TRUE(stale);
  EXPECT_GT(driver_->overtakings(), 0);
}

TEST_P(EmulationTest, APinnedSourceIsReadLate) {
  bool late = false;
  DeviceMemory source = allocate(Tier::kPinned, 8), target = allocate(Tier::kDevice, 8);
  for (int64_t round = 0; round < 40; ++round) {
    *reinterpret_cast<int64_t *>(source.host()) = round;
    Expected<Event> copied = device_->copy(source.at(), target.at(), 8, {&target.ready(), 1});
    *reinterpret_cast<int64_t *>(source.host()) = -1; // too early
    late |= get(target.at(), 1, {*copied}).front() == -1;
  }
  EXPECT_TRUE(late);
}

TEST_P(EmulationTest, ThePoolHasALimitOfItsOwn) {
  open({.memoryBytes = 4 * kMebi});
  DeviceMemory half = allocate(Tier::kDevice, 2 * kMebi);
  Expected<DeviceMemory> more = device_->allocate(Tier::kDevice, 3 * kMebi, reservation_);
  EXPECT_EQ(more.status().kind(), ErrorKind::kMemory);
  EXPECT_EQ(more.status().message(), "out of device memory: 3 MiB (3145728 bytes) do not fit into "
                                     "the pool of: emulated GPU");
  EXPECT_EQ(reservation_.chargedBytes(), 2 * kMebi);
  half.reset();
  EXPECT_TRUE(device_->allocate(Tier::kDevice, 3 * kMebi, reservation_).ok());
}

TEST_P(EmulationTest, ErrorsOnDemand) {
  driver_->failAt("cuMemHostAlloc", 0, cuda::kOutOfMemory);
  DeviceMemory second = allocate(Tier::kPinned, 64); // the second attempt
  driver_->failAt("cuMemHostAlloc", 0, cuda::kOutOfMemory, 2);
  Expected<DeviceMemory> third = device_->allocate(Tier::kPinned, 64, reservation_);
  EXPECT_EQ(third.status().kind(), ErrorKind::kMemory);
  EXPECT_EQ(third.status().message(),
            "out of pinned memory: the system refused 256 B (256 bytes) for: emulated GPU");
  driver_->failAt("cuMemcpyAsync", 1, cuda::kInvalidValue);
  DeviceMemory memory = put({1, 2, 3});
  Expected<Event> refused = device_->copy(memory.at(), memory.at(), 8, {});
  EXPECT_EQ(refused.status().message(), "copying: CUDA_ERROR_INVALID_VALUE (emulated)");
  EXPECT_OK(device_->status());
  EXPECT_EQ(get(memory.at(), 3, {}), (std::vector<int64_t>{1, 2, 3}));
  driver_->failAt("cuEventRecord", 0, cuda::kEccUncorrectable);
  expectLost(*device_, device_->fill(memory.at(), 0, 8, {}).status(),
             "CUDA_ERROR_ECC_UNCORRECTABLE");
}

TEST_P(EmulationTest, EveryCallMayFail) {
  // Whichever call gives an error, it reaches the caller, and nothing hangs or dies.
  const char *symbols[] = {"cuMemAllocFromPoolAsync",
                           "cuMemFreeAsync",
                           "cuEventCreate",
                           "cuEventRecord",
                           "cuStreamWaitEvent",
                           "cuMemcpyAsync",
                           "cuModuleLoadDataEx",
                           "cuModuleGetFunction",
                           "cuFuncGetAttribute",
                           "cuLaunchKernel",
                           "cuStreamBeginCapture_v2",
                           "cuStreamEndCapture",
                           "cuGraphInstantiateWithFlags",
                           "cuGraphLaunch",
                           "cuMemsetD8Async",
                           "cuStreamSynchronize",
                           "cuEventSynchronize",
                           "cuEventQuery"};
  auto work = [&]() -> Status {
    HR_ASSIGN_OR_RETURN(DeviceMemory memory, device_->allocate(Tier::kDevice, 4096, reservation_));
    HR_ASSIGN_OR_RETURN(DeviceMemory pinned, device_->allocate(Tier::kPinned, 4096, reservation_));
    HR_ASSIGN_OR_RETURN(Event filled, device_->fill(memory.at(), 0, 4096));
    HR_ASSIGN_OR_RETURN(Event copied, device_->copy(memory.at(), pinned.at(), 4096, {&filled, 1}));
    HR_ASSIGN_OR_RETURN(std::unique_ptr<KernelModule> module, device_->load(image()));
    HR_ASSIGN_OR_RETURN(Kernel add, module->find("add"));
    Arguments arguments;
    arguments.memory = std::move(memory);
    arguments.values = {arguments.memory.at().address, arguments.memory.at().address};
    KernelLaunch launch{add, 1, 1, arguments.values};
    // (The block is zeros: its parameters are at address 0, so it is recorded and not run.)
    HR_ASSIGN_OR_RETURN(std::unique_ptr<LaunchGraph> graph, device_->record({&launch, 1}));
    if (device_->poll(copied) == PollState::kFailed) {
      return makeError(ErrorKind::kInternal, "polling failed");
    }
    HR_RETURN_IF_ERROR(device_->wait(copied));
    return device_->synchronise();
  };
  for (const char *symbol : symbols) {
    for (cuda::Result result : {cuda::kInvalidValue, cuda::kEccUncorrectable}) {
      open({});
      driver_->failAt(symbol, 0, result);
      Status status = work();
      bool mayPass = std::string(symbol) == "cuMemFreeAsync" || // the error has nobody to go to
                     std::string(symbol) == "cuGraphLaunch";
      EXPECT_TRUE(mayPass || !status.ok()) << symbol << " " << result;
      EXPECT_EQ(reservation_.chargedBytes(), 0) << symbol;
    }
  }
}

} // namespace
} // namespace headrace
