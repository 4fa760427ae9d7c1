// Loads and kernels over rows in closed form: bytes over the slowest of what they go through.
#include "model/simulate/plan_graph.h"
#include "model/simulate/simulate.h"
#include "test/unit/model/simulate/shuffle_plan.h"
#include "test/unit/model/small_topology.h"

#include <gtest/gtest.h>

namespace headrace::simulate {
namespace {

constexpr double kRows = 1e9;
constexpr double kMemory = 5e9; ///< bytes per second of a rank of the small topology

/// The first tasks of the shuffle.
plan::Plan firstTasks(size_t count) {
  plan::Plan plan = shufflePlan();
  plan.tasks.resize(count);
  return plan;
}

Expected<Graph> graphOf(const plan::Plan &plan, const topology::Topology &topology,
                        int64_t ranks = 2) {
  Workload load;
  load.ranks = ranks;
  load.rows = {{"t", kRows}};
  return planGraph(plan, topology, load);
}

double secondsOf(const plan::Plan &plan, const topology::Topology &topology, int64_t ranks = 2) {
  Expected<Graph> graph = graphOf(plan, topology, ranks);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return simulate(*graph)->seconds;
}

topology::Topology small() { return *topology::parseTopology(topology::smallTopology().dump()); }

/// With a disk for both ranks of a node.
topology::Topology withDisk(double bytesPerSecond) {
  nlohmann::json document = topology::smallTopology();
  document["device_types"]["disk"] = {{"class", "storage"},
                                      {"space", "nvme"},
                                      {"capacity", 1e12},
                                      {"read", {{"bw", bytesPerSecond}}},
                                      {"write", {{"bw", 1e9}}}};
  nlohmann::json &node = document["node_types"]["n"];
  node["devices"]["ssd"] = {"disk", 1};
  node["routes"].push_back(
      {{"from", "host"}, {"to", "ssd[j].nvme"}, {"via", {"bus", "ssd[j].write"}}});
  Expected<topology::Topology> read = topology::parseTopology(document.dump());
  EXPECT_TRUE(read.ok()) << read.status().message();
  return *read;
}

TEST(PlanTableTasks, a_load_goes_through_memory_and_storage) {
  const double bytes = 16 * kRows; // of two columns
  EXPECT_NEAR(secondsOf(firstTasks(1), small()), bytes / 2 / kMemory, 1e-9);
  EXPECT_NEAR(secondsOf(firstTasks(1), small(), 4), bytes / 4 / kMemory, 1e-9);
  // Each its stretches of a key, as it would its part.
  plan::Plan stretches = firstTasks(1);
  stretches.tasks[0].as<plan::LoadTask>()->split = {};
  stretches.slots[0].stretches = {"k", 1000, {0}};
  EXPECT_NEAR(secondsOf(stretches, small()), bytes / 2 / kMemory, 1e-9);
  // Ranks of a node share its storage.
  EXPECT_NEAR(secondsOf(firstTasks(1), withDisk(1e9)), bytes / 1e9, 1e-6);
  EXPECT_NEAR(secondsOf(firstTasks(1), withDisk(1e9), 4), bytes / 2 / 1e9, 1e-6);
  EXPECT_NEAR(secondsOf(firstTasks(1), withDisk(1e12)), bytes / 2 / kMemory, 1e-6);
}

TEST(PlanTableTasks, a_column_takes_what_it_has_in_its_file) {
  plan::Plan plan = firstTasks(1);
  plan.slots[0].columns[0].fileBytes = 2;
  EXPECT_NEAR(secondsOf(plan, small()), 10 * kRows / 2 / kMemory, 1e-9);
}

TEST(PlanTableTasks, every_rank_loads_all_of_what_is_not_split) {
  plan::Plan plan = firstTasks(1);
  plan.tasks[0].as<plan::LoadTask>()->split.clear();
  EXPECT_NEAR(secondsOf(plan, small()), 16 * kRows / kMemory, 1e-9);
}

TEST(PlanTableTasks, a_kernel_reads_its_rows_and_writes_them) {
  // Behind the load, chunk by chunk, in the same memory: what is read and what is written add up.
  const double bytes = 16 * kRows / 2;
  EXPECT_NEAR(secondsOf(firstTasks(2), small()) / (3 * bytes / kMemory), 1, 0.05);
  plan::Plan few = firstTasks(2);
  few.kernels[0].selectivity = {0};
  EXPECT_NEAR(secondsOf(few, small()) / (2 * bytes / kMemory), 1, 0.05);
}

TEST(PlanTableTasks, a_slot_needs_rows) {
  Workload load;
  load.ranks = 2;
  EXPECT_EQ(planGraph(firstTasks(1), small(), load).status().message(),
            "the workload has no rows for slot: t");
}

} // namespace
} // namespace headrace::simulate
