// Arguments of kernels for threads: written here, read as the device does by its own addresses.
#include "runtime/exec/gpu/launch_args.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <vector>

namespace headrace::exec {
namespace {

constexpr uint64_t kDevice = 0x7000'0000'0000; ///< where the device has the block

class LaunchArgsTest : public testing::Test {
protected:
  /// What the device finds at an address of the block.
  template <typename Value> Value at(const void *pointer, size_t index = 0) const {
    const uint64_t offset = reinterpret_cast<uint64_t>(pointer) - kDevice + index * sizeof(Value);
    Value value;
    EXPECT_LE(offset + sizeof value, block.size());
    std::memcpy(&value, block.data() + offset, sizeof value);
    return value;
  }
  std::vector<std::byte> block;
};

TEST_F(LaunchArgsTest, ADeviceReadsThemByItsAddresses) {
  const LaunchArgs args(2, 3, 0);
  block.resize(static_cast<size_t>(args.bytes()));
  const uint64_t states[] = {0x1000, 0x2000};
  HrColumn columns[3] = {};
  columns[2].segmentCount = 7;
  const HrMorsel morsel = {.rows = 99, .columnCount = 3, .columns = nullptr, .firstRow = 500};
  args.write(block.data(), kDevice, morsel, columns, 0x3000, states);
  const auto written = at<HrArgs>(reinterpret_cast<const void *>(kDevice));
  EXPECT_EQ(reinterpret_cast<uint64_t>(written.literals), 0x3000u);
  EXPECT_EQ(at<uint64_t>(written.states, 0), 0x1000u);
  EXPECT_EQ(at<uint64_t>(written.states, 1), 0x2000u);
  const auto there = at<HrMorsel>(written.morsel);
  EXPECT_EQ(there.rows, 99u);
  EXPECT_EQ(there.columnCount, 3u);
  EXPECT_EQ(there.firstRow, 500u);
  EXPECT_EQ(there.stateRows, nullptr);
  EXPECT_EQ(at<HrColumn>(there.columns, 2).segmentCount, 7u);
}

TEST_F(LaunchArgsTest, RowsOfAStateInPlaceOfColumns) {
  const LaunchArgs args(0, 0, 3);
  block.resize(static_cast<size_t>(args.bytes()));
  const uint8_t *const rows[] = {reinterpret_cast<const uint8_t *>(0x10),
                                 reinterpret_cast<const uint8_t *>(0x20),
                                 reinterpret_cast<const uint8_t *>(0x30)};
  const HrMorsel morsel = {.rows = 3, .stateRows = rows};
  args.write(block.data(), kDevice, morsel, {}, 0, {});
  const auto there = at<HrMorsel>(at<HrArgs>(reinterpret_cast<const void *>(kDevice)).morsel);
  for (size_t row = 0; row < 3; ++row) {
    EXPECT_EQ(at<uint64_t>(there.stateRows, row), 0x10 * (row + 1));
  }
}

TEST_F(LaunchArgsTest, PartsDoNotOverlap) {
  // Each byte of a part is read as it was written, whatever the numbers.
  for (size_t states : {0, 1, 9}) {
    for (size_t columns : {0, 1, 5}) {
      const LaunchArgs args(states, columns, 0);
      block.assign(static_cast<size_t>(args.bytes()), std::byte{0});
      const std::vector<uint64_t> heads(states, ~uint64_t{0});
      HrColumn full;
      std::memset(&full, 0xff, sizeof full);
      const std::vector<HrColumn> made(columns, full);
      const HrMorsel morsel = {.rows = 1, .columnCount = static_cast<uint32_t>(columns)};
      args.write(block.data(), kDevice, morsel, made, 0, heads);
      const auto there = at<HrMorsel>(at<HrArgs>(reinterpret_cast<const void *>(kDevice)).morsel);
      EXPECT_EQ(there.rows, 1u);
      EXPECT_EQ(there.columnCount, columns);
      EXPECT_GE(std::count(block.begin(), block.end(), std::byte{0xff}),
                static_cast<ptrdiff_t>(states * sizeof(uint64_t) + columns * sizeof(HrColumn)));
    }
  }
}

} // namespace
} // namespace headrace::exec
