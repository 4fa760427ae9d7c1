// Plans on topologies: closed forms, equal ranks against all of them one by one, 100,000 ranks,
// refusals.
#include "runtime/model/cost/network.h"
#include "runtime/model/simulate/plan_graph.h"
#include "runtime/model/simulate/simulate.h"
#include "runtime/model/simulate/trace.h"
#include "test/unit/model/plan/sample_plan.h"

#include <chrono>
#include <gtest/gtest.h>

namespace headrace::simulate {
namespace {

constexpr double kRows = 64e6;

/// load -> kernel that divides by hash -> exchange -> kernel into a group table.
plan::Plan shufflePlan() {
  plan::Plan plan;
  plan.places = {{"group by k", "aggregate"}};
  plan.slots.resize(1);
  plan.slots[0].name = "t";
  plan.slots[0].columns = {{"k", "i64", HR_I64, false, false, 0, 0},
                           {"v", "i64", HR_I64, false, false, 0, 0}};
  plan::Schema schema{{{"k", HR_I64, "i64", false}, {"v", HR_I64, "i64", false}}};
  plan.streams = {
      {"rows", schema, 4, 65536}, {"divided", schema, 4, 65536}, {"mine", schema, 4, 65536}};
  plan.states.resize(1);
  plan.states[0].kind = plan::StateKind::kGroupTable;
  plan.states[0].rowBytes = 32;
  plan.states[0].rows.expected = 1000;
  plan.kernels.resize(2);
  plan.tasks.resize(4);
  plan.tasks[0].kind = plan::TaskKind::kLoad;
  plan.tasks[0].name = "load t";
  plan.tasks[0].slot = 0;
  plan.tasks[0].split = true;
  plan.tasks[0].outputStream = 0;
  plan.tasks[1].kind = plan::TaskKind::kRun;
  plan.tasks[1].name = "divide";
  plan.tasks[1].kernel = 0;
  plan.tasks[1].inputStream = 0;
  plan.tasks[1].outputStream = 1;
  plan.tasks[2].kind = plan::TaskKind::kExchange;
  plan.tasks[2].name = "shuffle";
  plan.tasks[2].place = 0;
  plan.tasks[2].channel = 0;
  plan.tasks[2].inputStream = 1;
  plan.tasks[2].outputStream = 2;
  plan.tasks[3].kind = plan::TaskKind::kRun;
  plan.tasks[3].name = "aggregate";
  plan.tasks[3].kernel = 1;
  plan.tasks[3].inputStream = 2;
  plan.tasks[3].states = {{0, plan::StateUse::kPerWorker}};
  return plan;
}

Workload workload(int64_t ranks) {
  Workload made;
  made.ranks = ranks;
  made.rows = {{"t", kRows}};
  return made;
}

Graph graphOf(const plan::Plan &plan, const topology::Topology &topology, const Workload &load) {
  Expected<Graph> graph = planGraph(plan, topology, load);
  EXPECT_TRUE(graph.ok()) << graph.status().toString();
  return *graph;
}

Outcome run(const Graph &graph) {
  Expected<Outcome> outcome = simulate(graph);
  EXPECT_TRUE(outcome.ok()) << outcome.status().toString();
  return *outcome;
}

TEST(PlanGraph, a_slow_network_decides_a_shuffle) {
  topology::Topology slow = *topology::shippedTopology("ethernet-slow");
  Graph graph = graphOf(shufflePlan(), slow, workload(8));
  Outcome outcome = run(graph);
  // 16 bytes a row, 1/8 of the rows on each rank, 7/8 of them leave at 1.2e8 bytes per second.
  double wire = 16 * kRows / 8 * 7 / 8 / 1.2e8;
  EXPECT_GT(outcome.seconds, wire);
  EXPECT_LT(outcome.seconds, wire * 1.1); // plus filling the pipeline and emptying it
  std::string text = report(graph, outcome);
  EXPECT_NE(text.find("at aggregate: group by k"), std::string::npos) << text;
  EXPECT_GE(outcome.seconds, lowerBoundSeconds(graph));
}

TEST(PlanGraph, one_equal_rank_stands_for_all) {
  // The exchange alone, in one chunk, against all pairs of 16 ranks as transfers of their own.
  topology::Topology topology = *topology::shippedTopology("p5-2node");
  topology.collectives.clear();
  plan::Plan plan = shufflePlan();
  Workload load = workload(16);
  load.chunksMax = 1;
  load.rows["t"] = 1e10;
  Graph equal = graphOf(plan, topology, load);
  Outcome outcome = run(equal);
  double exchange = 0;
  for (size_t i = 0; i < equal.activities.size(); ++i) {
    if (equal.activities[i].name == "shuffle") {
      exchange = outcome.spans[i].finish - outcome.spans[i].start;
    }
  }
  cost::Network network(topology, 16);
  Graph all;
  for (const cost::Link &link : network.links()) {
    all.resources.push_back({link.name(), link.bandwidth, link.sharing, 0});
  }
  for (int64_t source = 0; source < 16; ++source) {
    for (int64_t target = 0; target < 16; ++target) {
      Activity transfer;
      transfer.work = source == target ? 0 : 16 * 1e10 / 16 / 16;
      for (int32_t link : network.path(source, target).links) {
        transfer.uses.push_back({link, 1});
      }
      all.activities.push_back(std::move(transfer));
    }
  }
  EXPECT_NEAR(exchange / run(all).seconds, 1, 0.01);
}

TEST(PlanGraph, a_hundred_thousand_equal_ranks_cost_no_more_than_sixteen) {
  topology::Topology topology = *topology::shippedTopology("p5-2node");
  Graph few = graphOf(shufflePlan(), topology, workload(16));
  topology.instances[0].count = 12500;
  Workload load = workload(100000);
  load.rows["t"] = kRows * 100000 / 16;
  auto begin = std::chrono::steady_clock::now();
  Graph many = graphOf(shufflePlan(), topology, load);
  Outcome outcome = run(many);
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(many.activities.size(), few.activities.size());
  EXPECT_EQ(many.resources.size(), few.resources.size());
  EXPECT_LT(took.count(), 10);
  // 3.9 µs for each of 99,992 remote peers, and 64 MB a rank at 41.3 GB/s.
  EXPECT_GT(outcome.seconds, 0.39);
  EXPECT_LT(outcome.seconds, 0.45);
}

TEST(PlanGraph, classes_of_unequal_nodes_wait_for_the_slowest) {
  topology::Topology slow = *topology::shippedTopology("ethernet-slow");
  topology::Topology mixed = slow;
  auto fast = topology::shippedTopology("ethernet-fast");
  std::string slowType = slow.instances[0].type;
  topology::NodeType quick = fast->nodeTypes.at(fast->instances[0].type);
  quick.name = "quick";
  for (topology::DeviceGroup &group : quick.devices) {
    group.type = slow.nodeTypes.at(slowType).devices[0].type;
  }
  mixed.nodeTypes["quick"] = quick;
  mixed.instances = {{slowType, "slow", 4}, {"quick", "quick", 4}};
  double allSlow = run(graphOf(shufflePlan(), slow, workload(8))).seconds;
  Graph graph = graphOf(shufflePlan(), mixed, workload(8));
  EXPECT_GT(graph.activities.size(), graphOf(shufflePlan(), slow, workload(8)).activities.size());
  EXPECT_NEAR(run(graph).seconds, allSlow, 0.02 * allSlow);
}

TEST(PlanGraph, a_gather_leaves_the_rest_to_the_first_rank) {
  topology::Topology slow = *topology::shippedTopology("ethernet-slow");
  Workload load;
  load.ranks = 4;
  load.rows = {{"t", 1e7}, {"u", 1e3}};
  Graph graph = graphOf(plan::samplePlan(), slow, load);
  Outcome outcome = run(graph);
  // Loads are not split here, so 4 · 1e7 rows of 8 bytes are gathered, three quarters from others.
  double wire = 3 * 1e7 * 8 / 1.2e8;
  EXPECT_GT(outcome.seconds, wire);
  EXPECT_LT(outcome.seconds, 1.1 * wire);
}

TEST(PlanGraph, a_choose_takes_the_expected_branch_and_reserves_need_room) {
  plan::Plan plan = shufflePlan();
  plan.holes.resize(1);
  plan.holes[0].bounds.expected = 10;
  plan::Task choose;
  choose.kind = plan::TaskKind::kChoose;
  choose.name = "choose";
  choose.hole = 0;
  choose.threshold = 5;
  choose.thenTasks = {3};
  plan.tasks.push_back(choose);
  topology::Topology slow = *topology::shippedTopology("ethernet-slow");
  auto aggregates = [&] {
    int count = 0;
    for (const Activity &activity : graphOf(plan, slow, workload(2)).activities) {
      count += activity.name.starts_with("aggregate");
    }
    return count;
  };
  EXPECT_EQ(aggregates(), 0); // 10 is more than 5: not the then branch
  plan.tasks[4].thenTasks = {};
  plan.tasks[4].elseTasks = {3};
  EXPECT_GT(aggregates(), 0);
  plan.tasks[4].threshold = 20;
  EXPECT_EQ(aggregates(), 0);

  plan = shufflePlan();
  plan::Task reserve;
  reserve.kind = plan::TaskKind::kReserve;
  reserve.name = "reserve";
  reserve.bytes.expected = uint64_t{1} << 50;
  plan.tasks.push_back(reserve);
  Expected<Outcome> outcome = simulate(graphOf(plan, slow, workload(2)));
  EXPECT_EQ(outcome.status().message(),
            "no tier has room for what must be held at once; first: reserve");
}

TEST(PlanGraph, shipped_systems_are_as_fast_as_they_are_built) {
  auto seconds = [](const char *name) {
    Workload load = workload(16);
    load.rows["t"] = 4e9;
    return run(graphOf(shufflePlan(), *topology::shippedTopology(name), load)).seconds;
  };
  double h100 = seconds("dgx-h100");
  double a100 = seconds("dgx-a100");
  EXPECT_LT(seconds("gb200-nvl72"), h100); // 16 ranks are within one rack of NVLink
  EXPECT_LE(seconds("dgx-h200"), h100);
  EXPECT_LT(h100, a100);
  EXPECT_LT(a100, seconds("l40s-pcie"));
  EXPECT_NEAR(seconds("mixed-generation"), a100, 0.01 * a100); // 16 ranks fill its A100 nodes
}

TEST(PlanGraph, refuses_what_it_does_not_know) {
  topology::Topology slow = *topology::shippedTopology("ethernet-slow");
  Workload empty;
  EXPECT_EQ(planGraph(shufflePlan(), slow, empty).status().message(),
            "the workload has no rows for slot: t");
  EXPECT_EQ(planGraph(shufflePlan(), slow, workload(9)).status().message(),
            "topology ethernet-slow has 8 ranks, got 9");
}

TEST(PlanGraph, more_rows_and_slower_links_never_cost_less) {
  topology::Topology fast = *topology::shippedTopology("ethernet-fast");
  topology::Topology slow = *topology::shippedTopology("ethernet-slow");
  double previous = 0;
  for (double rows = 1e3; rows < 1e9; rows *= 10) {
    Workload load = workload(4);
    load.rows["t"] = rows;
    double seconds = run(graphOf(shufflePlan(), fast, load)).seconds;
    EXPECT_GE(seconds, previous);
    EXPECT_LE(seconds, run(graphOf(shufflePlan(), slow, load)).seconds);
    previous = seconds;
  }
}

} // namespace
} // namespace headrace::simulate
