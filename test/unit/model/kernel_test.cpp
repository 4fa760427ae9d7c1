// A kernel's time on a device, and the lanes that share a machine, in closed form.
#include "model/cost/workers.h"

#include "model/cost/cost.h"
#include "model/plan/page_form.h"
#include "test/unit/model/small_topology.h"

#include <gtest/gtest.h>

namespace headrace::cost {
namespace {

topology::DeviceType device() {
  topology::DeviceType type;
  type.cores = 4;
  type.memoryBandwidth = topology::Quantity(1e10, 0.1);
  type.launchSeconds = topology::Quantity(1e-6, 0);
  type.compute["f32"] = topology::Quantity(1e12, 0.2);
  type.compute["f64"] = topology::Quantity(1e9, 0.2);
  type.computeRelativeError = 0.2;
  return type;
}

TEST(Kernel, nearly_all_of_the_shorter_part_is_hidden) {
  const KernelTime time = kernelTime(
      device(), {.operations = 2e12, .compute = "f32", .streamBytes = 1e10, .launches = 3});
  EXPECT_DOUBLE_EQ(time.launchSeconds, 3e-6);
  EXPECT_DOUBLE_EQ(time.computeSeconds, 2);
  EXPECT_DOUBLE_EQ(time.memorySeconds, 1);
  EXPECT_DOUBLE_EQ(time.total(), 3e-6 + 2.05);
  EXPECT_EQ(time.relativeError, 0.2); // of what takes longest
  EXPECT_EQ(kernelTime(device(), {.streamBytes = 1}).relativeError, 0.1);
}

TEST(Kernel, unknown_operations_are_as_slow_as_the_slowest) {
  EXPECT_DOUBLE_EQ(kernelTime(device(), {.operations = 1e9, .compute = "i8"}).computeSeconds, 1);
  topology::DeviceType bare = device();
  bare.compute.clear(); // an operation a nanosecond on each core
  EXPECT_DOUBLE_EQ(kernelTime(bare, {.operations = 8e9}).computeSeconds, 2);
}

TEST(Kernel, random_access_is_by_the_working_set) {
  topology::DeviceType type = device();
  auto seconds = [&](double workingSet) {
    return kernelTime(type, {.random = {{1e9, workingSet}}}).memorySeconds;
  };
  EXPECT_DOUBLE_EQ(seconds(1), 0.8); // an eighth of the stream's rate
  type.randomAccess = {{1e3, 1e10}, {1e9, 1e8}};
  EXPECT_DOUBLE_EQ(seconds(10), 0.1);
  EXPECT_DOUBLE_EQ(seconds(1e12), 10);
  EXPECT_NEAR(seconds(1e6), 1, 1e-12); // halfway, in powers of ten
}

TEST(Kernel, states_of_one_kernel_share_the_caches) {
  topology::DeviceType type = device();
  type.randomAccess = {{1e3, 1e10}, {1e9, 1e8}};
  auto seconds = [&](std::vector<RandomAccess> random) {
    return kernelTime(type, {.random = std::move(random)}).memorySeconds;
  };
  const double alone = seconds({{1e9, 1e6}});
  EXPECT_NEAR(seconds({{1e9, 1e6}, {1e9, 1e6}}), 2 * seconds({{1e9, 2e6}}), 1e-12);
  // What is hardly looked at is hardly in the way, nor is more of what is larger than the other.
  EXPECT_NEAR(seconds({{1e9, 1e6}, {1, 1e6}}), alone, 1e-6);
  EXPECT_NEAR(seconds({{1e9, 1e6}, {1e9, 1e9}}), seconds({{1e9, 2e6}}) + 10, 1e-12);
}

TEST(Workers, lanes_of_ranks_that_share_a_machine) {
  const Workers workers{10, 4};
  EXPECT_DOUBLE_EQ(workers.coresPerRank(), 2.5);
  EXPECT_EQ(workers.lanes(), 3);
  EXPECT_DOUBLE_EQ(workers.seconds(6, 3, Workers::Others::kBusy), 2.4);
  EXPECT_DOUBLE_EQ(workers.seconds(6, 3, Workers::Others::kIdle), 2);
  EXPECT_EQ((Workers{0, 4}).lanes(), 1);
}

TEST(Workers, morsels_keep_lanes_busy_but_for_the_last_round) {
  const Workers workers{4, 1};
  const double morsel = plan::kMorselRows;
  EXPECT_EQ(workers.parallelLanes(100, 1), 1);
  EXPECT_EQ(workers.parallelLanes(0, 9), 1);
  // Eight whole morsels in two rounds, of which one lane is done before the others; nine in three,
  // of which the last has one.
  EXPECT_DOUBLE_EQ(workers.parallelLanes(8 * morsel, 9), 8 / (2 + 3.0 / 8));
  EXPECT_DOUBLE_EQ(workers.parallelLanes(4 * morsel, 5), 4);
  EXPECT_DOUBLE_EQ(workers.parallelLanes(9 * morsel, 10), 3);
  // Four, and half a one by itself.
  EXPECT_DOUBLE_EQ(workers.parallelLanes(4.5 * morsel, 5), 3);
}

TEST(Workers, of_one_node_of_cpus_alone) {
  nlohmann::json document = topology::smallTopology();
  EXPECT_FALSE(workersOf(*topology::parseTopology(document.dump()), 4, 2).shared());
  document["instances"][0]["count"] = 1;
  const topology::Topology one = *topology::parseTopology(document.dump());
  EXPECT_EQ(workersOf(one, 2, 0).threads, 8); // 4 cores of each of two
  EXPECT_EQ(workersOf(one, 2, 3).threads, 3);
  EXPECT_FALSE(workersOf(*topology::shippedTopology("dgx-h100"), 8, 0).shared());
}

} // namespace
} // namespace headrace::cost
