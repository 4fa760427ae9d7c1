// Room of states in the memory of a device: on an emulated one.
// Sources: runtime/exec/gpu/device_state.cpp
#include "runtime/exec/gpu/device_state.h"

#include "runtime/device/cuda/open_accelerator.h"
#include "runtime/device/emulated/emulated_driver.h"

#include <gtest/gtest.h>

namespace headrace::exec {
namespace {

constexpr int64_t kMebi = 1 << 20;

plan::State groups(uint64_t p95, uint64_t max) {
  plan::State state;
  state.kind = plan::StateKind::kGroupTable;
  state.rowBytes = 32;
  state.fields.push_back(
      {.name = "text", .type = HR_STRING, .offset = 8, .combine = plan::Combine::kKey});
  state.rows = {0, 1, p95, max};
  return state;
}

TEST(DeviceState, RoomIsForTheRowsThatAreExpected) {
  EXPECT_EQ(DeviceState::firstRoom(groups(5000, 100'000)).rows, 5000u);
  EXPECT_EQ(DeviceState::firstRoom(groups(5000, 100'000)).heapBytes, 5000u * 32);
  EXPECT_EQ(DeviceState::firstRoom(groups(5000, 3000)).rows, 3000u);
  EXPECT_EQ(DeviceState::firstRoom(groups(0, UINT64_MAX)).rows, 1024u); // nothing is known
}

TEST(DeviceState, RowsWhoseBytesCannotBeCountedAreAMemoryError) {
  emulated::EmulatedDriver driver({.seed = 1, .memoryBytes = 64 * kMebi});
  auto opened = cuda::openAccelerator("cuda", 8 * kMebi, [&] { return Expected(&driver.calls()); });
  ASSERT_TRUE(opened.ok()) << opened.status().toString();
  auto kernels = std::make_shared<GpuKernels>();
  kernels->accelerator = *opened;
  const Budget::Options host{Tier::kPinned, kMebi, "--memory", nullptr};
  const Budget::Options device{Tier::kDevice, 8 * kMebi, "--device-memory", (*opened)->tier()};
  GpuMemory memory(*opened, host, device);
  auto gpu = std::make_shared<GpuContext>(kernels, device, memory);
  for (uint64_t rows :
       {uint64_t{1} << 59, uint64_t{1} << 60, uint64_t{4'000'000'000'000'000'000}}) {
    const plan::State state = groups(rows, UINT64_MAX);
    auto made =
        DeviceState::create(gpu, state, {.operatorName = "groups"}, DeviceState::firstRoom(state));
    ASSERT_FALSE(made.ok()) << rows;
    EXPECT_EQ(made.status().kind(), ErrorKind::kMemory) << made.status().toString();
  }
}

TEST(GpuKernels, KeepTheMostThatAnyRankHasLearnt) {
  GpuKernels kernels;
  EXPECT_FALSE(kernels.learntRoom(0));
  kernels.learnRoom(0, {4000, 100});
  kernels.learnRoom(0, {1000, 400});
  EXPECT_EQ(kernels.learntRoom(0)->rows, 4000u);
  EXPECT_EQ(kernels.learntRoom(0)->heapBytes, 400u);
}

} // namespace
} // namespace headrace::exec
