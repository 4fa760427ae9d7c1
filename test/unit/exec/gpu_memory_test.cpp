// Memory that a session keeps for a GPU's launches and columns, and gives up for who needs it: on
// an emulated device.
// Sources: runtime/exec/gpu/launch_blocks.cpp, runtime/exec/gpu/device_columns.cpp,
//   runtime/device/accelerator.cpp
#include "runtime/exec/gpu/gpu_memory.h"

#include "runtime/device/cuda/open_accelerator.h"
#include "runtime/device/emulated/emulated_driver.h"

#include <gtest/gtest.h>

namespace headrace::exec {
namespace {

constexpr int64_t kMebi = 1 << 20;
constexpr int64_t kLimit = 8 * kMebi;

class GpuMemoryTest : public testing::Test {
protected:
  void SetUp() override {
    auto opened =
        cuda::openAccelerator("cuda", kLimit, [this] { return Expected(&driver_.calls()); });
    ASSERT_TRUE(opened.ok()) << opened.status().toString();
    accelerator_ = std::move(*opened);
    host_ = std::make_shared<MemoryTier>(kLimit);
    memory_.emplace(accelerator_, Budget::Options{Tier::kPinned, kLimit, "--memory", host_},
                    Budget::Options{Tier::kDevice, kLimit, "--device-memory", tier()});
    states_.emplace(Budget::Options{Tier::kDevice, kLimit, "--device-memory", tier()});
    state_ = std::move(*states_->reserve({.operatorName = "states"}));
  }

  const std::shared_ptr<MemoryTier> &tier() const { return accelerator_->tier(); }
  /// What a state would take.
  Expected<DeviceMemory> allocate(int64_t bytes) {
    return accelerator_->device().allocate(Tier::kDevice, bytes, state_);
  }
  static DeviceMemory taken(LaunchBlocks &blocks, int64_t bytes) {
    DeviceMemory block;
    Status status = blocks.exchange(block, bytes);
    EXPECT_TRUE(status.ok()) << status.toString();
    return block;
  }

  emulated::EmulatedDriver driver_{{.seed = 1, .memoryBytes = 4 * kLimit}};
  std::shared_ptr<Accelerator> accelerator_;
  std::shared_ptr<MemoryTier> host_;
  std::optional<GpuMemory> memory_;
  std::optional<Budget> states_;
  Reservation state_;
};

TEST_F(GpuMemoryTest, BlocksAreHandedOn) {
  for (LaunchBlocks *blocks : {&memory_->pinned, &memory_->blocks}) {
    DeviceMemory block = taken(*blocks, kMebi);
    EXPECT_GE(block.bytes(), kMebi);
    const uint64_t address = block.at().address;
    ASSERT_TRUE(blocks->exchange(block, kMebi / 2).ok()); // large enough
    ASSERT_TRUE(blocks->exchange(block, 0).ok());
    EXPECT_EQ(block.at().address, address);
    blocks->giveBack(std::move(block));
    EXPECT_EQ(taken(*blocks, kMebi - 1).at().address, address);
  }
}

TEST_F(GpuMemoryTest, BlocksOfTheDeviceGiveWayForStates) {
  DeviceMemory used = taken(memory_->blocks, kMebi);
  const int64_t usedBytes = tier()->usedBytes();
  for (int i = 0; i < 2; ++i) { // one after the other: the second is larger
    memory_->blocks.giveBack(taken(memory_->blocks, (i + 1) * kMebi));
  }
  DeviceMemory pinned = taken(memory_->pinned, kMebi);
  memory_->pinned.giveBack(std::move(pinned));
  const int64_t hostBytes = host_->usedBytes();
  EXPECT_GT(hostBytes, 0);
  EXPECT_GT(tier()->usedBytes(), usedBytes);
  Expected<DeviceMemory> state = allocate(kLimit - usedBytes);
  ASSERT_TRUE(state.ok()) << state.status().toString();
  EXPECT_EQ(tier()->usedBytes(), kLimit);
  EXPECT_EQ(host_->usedBytes(), hostBytes); // what is in the other tier stays

  // What a launch uses does not give way, and what there is no room for says so.
  Expected<DeviceMemory> more = allocate(kMebi);
  EXPECT_EQ(more.status().kind(), ErrorKind::kMemory);
  DeviceMemory none;
  EXPECT_EQ(memory_->blocks.exchange(none, kMebi).kind(), ErrorKind::kMemory);
  EXPECT_FALSE(none);
  EXPECT_GE(used.bytes(), kMebi);
}

TEST_F(GpuMemoryTest, SmallBlocksGiveWayForALargerOne) {
  Expected<DeviceMemory> state = allocate(kLimit / 2);
  ASSERT_TRUE(state.ok());
  ASSERT_TRUE(host_->take(kLimit / 2));
  for (LaunchBlocks *blocks : {&memory_->pinned, &memory_->blocks}) {
    DeviceMemory first = taken(*blocks, kMebi), second = taken(*blocks, kMebi);
    blocks->giveBack(std::move(first));
    blocks->giveBack(std::move(second));
    EXPECT_GE(taken(*blocks, 3 * kMebi).bytes(), 3 * kMebi);
  }
  host_->giveBack(kLimit / 2);
}

TEST_F(GpuMemoryTest, PinnedBlocksGiveWayInTheHostsTier) {
  memory_->pinned.giveBack(taken(memory_->pinned, kMebi));
  EXPECT_GT(host_->usedBytes(), 0);
  ASSERT_TRUE(host_->take(kLimit));
  host_->giveBack(kLimit);
  EXPECT_EQ(host_->usedBytes(), 0);
}

TEST_F(GpuMemoryTest, ColumnsGiveWayAfterBlocks) {
  auto kept = std::make_shared<int>(0), gone = std::make_shared<int>(0);
  auto keep = [&](const std::shared_ptr<int> &owner, uint64_t firstRow) {
    DeviceColumns::Block block = memory_->columns.place(kMebi);
    ASSERT_TRUE(block);
    memory_->columns.keep({owner, firstRow, 10}, {block, {}});
  };
  keep(kept, 0);
  keep(gone, 0);
  memory_->blocks.giveBack(taken(memory_->blocks, kMebi));
  // The block goes first, then columns that the host has given up.
  const int64_t idle = tier()->usedBytes() - 2 * kMebi;
  ASSERT_TRUE(allocate(kLimit - tier()->usedBytes() + idle).ok());
  EXPECT_TRUE(memory_->columns.find({kept, 0, 10}));
  EXPECT_TRUE(memory_->columns.find({gone, 0, 10}));
  EXPECT_EQ(tier()->usedBytes(), 2 * kMebi);
  std::weak_ptr<const void> lost = gone;
  gone.reset();
  ASSERT_TRUE(allocate(kLimit - kMebi).ok());
  EXPECT_TRUE(memory_->columns.find({kept, 0, 10}));
  EXPECT_FALSE(memory_->columns.find({lost, 0, 10}));
  ASSERT_TRUE(allocate(kLimit).ok());
  EXPECT_FALSE(memory_->columns.find({kept, 0, 10}));
  EXPECT_EQ(tier()->usedBytes(), 0);
}

TEST_F(GpuMemoryTest, ColumnsHaveAPartOfTheDevice) {
  EXPECT_FALSE(memory_->columns.place(kLimit * 4 / 5));
  EXPECT_TRUE(memory_->columns.place(kLimit * 3 / 4));
}

} // namespace
} // namespace headrace::exec
