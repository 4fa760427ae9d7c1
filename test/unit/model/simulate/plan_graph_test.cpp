// Plans on topologies: closed forms, equal ranks against all of them one by one, 100,000 ranks,
// refusals.
// Sources: model/simulate/{plan_spills,plan_worker_tasks}.cpp
#include "model/cost/network.h"
#include "model/cost/terms.h"
#include "model/simulate/plan_graph.h"
#include "model/simulate/program_cost.h"
#include "model/simulate/simulate.h"
#include "model/simulate/trace.h"
#include "test/unit/model/plan/sample_plan.h"
#include "test/unit/model/simulate/shuffle_plan.h"

#include <chrono>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace headrace::simulate {
namespace {

constexpr double kRows = 64e6;

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
  // 4.53 µs for each of 99,992 remote peers, and 64 MB a rank at 43.2 GB/s.
  EXPECT_GT(outcome.seconds, 0.45);
  EXPECT_LT(outcome.seconds, 0.52);
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
  choose.name = "choose";
  choose.work = plan::ChooseTask{0, 5, {3}, {}};
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
  plan.tasks[4].work = plan::ChooseTask{0, 5, {}, {3}};
  EXPECT_GT(aggregates(), 0);
  plan.tasks[4].work = plan::ChooseTask{0, 20, {}, {3}};
  EXPECT_EQ(aggregates(), 0);

  plan = shufflePlan();
  plan::Task reserve;
  reserve.name = "reserve";
  reserve.work = plan::ReserveTask{0, {.expected = uint64_t{1} << 50}};
  plan.tasks.push_back(reserve);
  Expected<Outcome> outcome = simulate(graphOf(plan, slow, workload(2)));
  EXPECT_EQ(outcome.status().message(),
            "no room in server host: reserve needs 1125899906842624 bytes beside 0 that are held, "
            "of 64000000000; give ranks more memory, or take more of them");
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

TEST(PlanGraph, memory_does_not_grow_with_ranks) {
  topology::Topology topology = *topology::shippedTopology("p5-2node");
  topology.instances[0].count = 125000;
  size_t before = 0;
  for (int64_t ranks : {16, 1000, 100000, 1000000}) {
    Workload load = workload(ranks);
    load.rows["t"] = kRows * static_cast<double>(ranks) / 16;
    load.skews = {{3, 1, 0.5, 2, 1}};
    Graph graph = graphOf(shufflePlan(), topology, load);
    size_t size = graph.activities.size() + graph.resources.size() + graph.tiers.size();
    for (const Activity &activity : graph.activities) {
      size += activity.uses.size() + activity.after.size();
    }
    // Of 16 ranks there is one more whole node beside the skewed one, as of a million.
    EXPECT_TRUE(before == 0 || size == before) << ranks << ": " << size;
    before = size;
    EXPECT_GT(run(graph).seconds, 0);
  }
}

/// A machine whose kernels take most of the time.
topology::Topology slowMemory() {
  topology::Topology topology = *topology::shippedTopology("ethernet-fast");
  for (auto &[name, type] : topology.deviceTypes) {
    type.memoryBandwidth.value = 1e8;
  }
  return topology;
}

TEST(PlanGraph, the_slowest_rank_decides) {
  double equal = run(graphOf(shufflePlan(), slowMemory(), workload(8))).seconds;
  Workload slow = workload(8);
  slow.skews = {{5, 1, 0.25, 1, 1}};
  double skewed = run(graphOf(shufflePlan(), slowMemory(), slow)).seconds;
  EXPECT_NEAR(skewed / equal, 4, 0.3);
  // All ranks slower by the same factor: one class again.
  Workload all = workload(8);
  all.skews = {{0, 8, 0.25, 1, 1}};
  Graph graph = graphOf(shufflePlan(), slowMemory(), all);
  EXPECT_EQ(graph.activities.size(),
            graphOf(shufflePlan(), slowMemory(), workload(8)).activities.size());
  EXPECT_NEAR(run(graph).seconds / skewed, 1, 0.05);
  // Equal factors of rows are no skew.
  all.skews = {{0, 8, 1, 3, 3}};
  EXPECT_NEAR(run(graphOf(shufflePlan(), slowMemory(), all)).seconds / equal, 1, 1e-9);
}

TEST(PlanGraph, ranks_that_share_morsels_lose_what_the_slow_one_lacks) {
  plan::Plan shared = shufflePlan();
  shared.tasks[0].as<plan::LoadTask>()->shared = true;
  // The kernel that reads the load takes all the time; the one behind the exchange, nothing.
  auto seconds = [](const plan::Plan &plan, std::vector<RankSkew> skews) {
    Workload load = workload(8);
    load.rows["mine"] = 1;
    load.skews = std::move(skews);
    return run(graphOf(plan, slowMemory(), load)).seconds;
  };
  const double equal = seconds(shared, {});
  EXPECT_NEAR(seconds(shufflePlan(), {}) / equal, 1, 1e-9);
  EXPECT_NEAR(seconds(shared, {{5, 1, 0.25, 1, 1}}) / equal, 8 / 7.25, 0.1);
  EXPECT_NEAR(seconds(shared, {{5, 1, 1, 4, 1}}) / equal, 1, 0.05);
}

TEST(PlanGraph, a_slow_rank_has_fewer_keys_where_they_are_movable) {
  plan::Plan movable = shufflePlan();
  movable.tasks[0].as<plan::LoadTask>()->shared = true;
  movable.movableKeys = true;
  plan::Plan fixed = movable;
  fixed.movableKeys = false;
  // The kernel behind the exchange takes all the time.
  auto seconds = [](const plan::Plan &plan, std::vector<RankSkew> skews) {
    Workload load = workload(8);
    load.rows["rows"] = 1;
    load.rows["mine"] = 1e9;
    load.skews = std::move(skews);
    return run(graphOf(plan, slowMemory(), load)).seconds;
  };
  const double equal = seconds(movable, {});
  EXPECT_NEAR(seconds(fixed, {}) / equal, 1, 1e-9);
  EXPECT_GT(seconds(fixed, {{5, 1, 0.25, 1, 1}}) / equal, 3);
  EXPECT_NEAR(seconds(movable, {{5, 1, 0.25, 1, 1}}) / equal, 8 / 7.25, 0.1);
  EXPECT_NEAR(seconds(movable, {{5, 1, 1, 1, 4}}) / equal,
              seconds(fixed, {{5, 1, 1, 1, 4}}) / equal, 1e-9);
}

TEST(PlanGraph, the_fullest_rank_decides) {
  // One of eight loads four times what the others do: 4 / (7 + 4) of all, against an eighth.
  double equal = run(graphOf(shufflePlan(), slowMemory(), workload(8))).seconds;
  Workload load = workload(8);
  load.skews = {{2, 1, 1, 4, 1}};
  double rows = run(graphOf(shufflePlan(), slowMemory(), load)).seconds;
  EXPECT_GT(rows / equal, 1.5);
  EXPECT_LT(rows / equal, 8 * 4.0 / 11);
  // A hot key fills the port of its rank: 8 * 4 / 11 of the mean, of which no seventh is its own.
  topology::Topology slow = *topology::shippedTopology("ethernet-slow");
  load.skews = {{2, 1, 1, 1, 4}};
  double hot = run(graphOf(shufflePlan(), slow, load)).seconds;
  EXPECT_NEAR(hot / run(graphOf(shufflePlan(), slow, workload(8))).seconds, 8 * 4.0 / 11, 0.15);
}

TEST(PlanGraph, skewed_ranks_of_a_node_share_its_links) {
  // Two ranks of a node of eight are slow: the node's links are there once.
  topology::Topology topology = *topology::shippedTopology("p5-2node");
  Workload load = workload(16);
  load.skews = {{0, 2, 0.5, 1, 1}};
  Graph graph = graphOf(shufflePlan(), topology, load);
  size_t ports = 0;
  for (const Resource &resource : graph.resources) {
    ports += resource.name.ends_with("nic[0].out");
  }
  EXPECT_EQ(ports, 2u); // of the node with slow ranks and of the other
  Graph equal = graphOf(shufflePlan(), topology, workload(16));
  Outcome outcome = run(graph);
  EXPECT_GE(outcome.seconds, run(equal).seconds * (1 - 1e-9));
  EXPECT_GE(outcome.seconds, lowerBoundSeconds(graph) * (1 - 1e-9));
}

TEST(PlanGraph, skews_that_make_no_sense_are_refused) {
  topology::Topology slow = *topology::shippedTopology("ethernet-slow");
  auto message = [&](std::vector<RankSkew> skews) {
    Workload load = workload(8);
    load.skews = std::move(skews);
    return planGraph(shufflePlan(), slow, load).status().message();
  };
  EXPECT_EQ(message({{7, 2, 1, 1, 1}}),
            "skewed ranks must not overlap and be from 0 to 7, got 2 from 7");
  EXPECT_EQ(message({{1, 3, 1, 1, 1}, {2, 1, 1, 1, 1}}),
            "skewed ranks must not overlap and be from 0 to 7, got 1 from 2");
  EXPECT_EQ(message({{1, 1, 0, 1, 1}}),
            "a skew needs a positive speed and no negative rows or keys, got 0, 1, 1");
}

/// The shuffle's groups are reserved before, read after, and given back.
plan::Plan reservedPlan(uint64_t stateBytes) {
  plan::Plan plan = shufflePlan();
  plan::Schema schema = plan.streams[0].schema;
  plan.streams.push_back({"groups", schema, 4, 65536});
  plan.kernels.resize(3);
  plan::Task reserve;
  reserve.name = "reserve";
  reserve.work = plan::ReserveTask{0, {.expected = stateBytes}};
  plan.tasks.push_back(reserve);
  plan.tasks[3].after = {4};
  plan::Task read;
  read.name = "read groups";
  read.work = plan::RunTask{.kernel = 2, .sourceState = 0, .outputStream = 3};
  read.after = {3};
  plan.tasks.push_back(read);
  plan::Task release;
  release.name = "release";
  release.work = plan::ReleaseTask{4};
  release.after = {5};
  plan.tasks.push_back(release);
  return plan;
}

TEST(PlanGraph, states_that_do_not_fit_are_spilled_and_read_back) {
  topology::Topology topology = *topology::shippedTopology("p5-2node");
  Workload load = workload(16);
  auto outcomeOf = [&](double memory, uint64_t bytes) {
    load.memoryBytes = memory;
    Graph graph = graphOf(reservedPlan(bytes), topology, load);
    Outcome outcome = run(graph);
    EXPECT_GE(outcome.seconds, lowerBoundSeconds(graph) * (1 - 1e-9));
    // Every byte that is written away is read back.
    double written = 0;
    double back = 0;
    for (size_t i = 0; i < graph.resources.size(); ++i) {
      written += graph.resources[i].name.ends_with(" writing") ? outcome.uses[i].bytes : 0;
      back += graph.resources[i].name.ends_with(" reading") ? outcome.uses[i].bytes : 0;
    }
    EXPECT_NEAR(written, back, 1e-6 * (written + 1));
    for (size_t tier = 0; tier < graph.tiers.size(); ++tier) {
      EXPECT_LE(outcome.tierPeakBytes[tier], graph.tiers[tier].bytes);
    }
    return std::pair(outcome.seconds, written);
  };
  uint64_t bytes = 40'000'000'000;
  auto [fits, none] = outcomeOf(0, bytes);
  EXPECT_EQ(none, 0);
  double before = fits;
  for (double memory : {3e10, 2e10, 1e10, 1e9}) {
    auto [seconds, written] = outcomeOf(memory, bytes);
    EXPECT_NEAR(written, 4e10 - 0.9 * memory, 1) << memory;
    EXPECT_GE(seconds, before);
    before = seconds;
  }
  // At 32 GB/s for each of two GPUs behind a switch, there and back.
  EXPECT_GT(before, 2 * (4e10 - 0.9e9) / 3.2e10);
  // More than the tier below holds as well.
  load.memoryBytes = 1e9;
  Graph graph = graphOf(reservedPlan(uint64_t{1} << 50), topology, load);
  EXPECT_FALSE(simulate(graph).ok());
}

TEST(PlanGraph, streams_have_the_rows_that_the_compiler_estimated) {
  topology::Topology slow = *topology::shippedTopology("ethernet-slow");
  plan::Plan plan = shufflePlan();
  plan.mesh = {{"rank", 4}};
  plan.streams[0].rows = {0, 16'000'000, 16'000'000, UINT64_MAX}; // of one rank, 64 M in all
  plan.streams[1].rows = {0, 1'600'000, 1'600'000, UINT64_MAX};   // a tenth passes
  Workload load;
  load.ranks = 4;
  double estimated = run(graphOf(plan, slow, load)).seconds;
  load.rows = {{"t", kRows}, {"divided", kRows / 10}};
  EXPECT_NEAR(run(graphOf(plan, slow, load)).seconds, estimated, 1e-9 * estimated);
  // Ten times the rows of the slot: ten times those of what is made of it.
  load.rows = {{"t", 10 * kRows}};
  double more = run(graphOf(plan, slow, load)).seconds;
  load.rows = {{"t", 10 * kRows}, {"divided", kRows}};
  EXPECT_NEAR(run(graphOf(plan, slow, load)).seconds, more, 1e-9 * more);
}

TEST(PlanGraph, stages_let_through_what_the_compiler_estimated) {
  plan::Plan plan = shufflePlan();
  plan.states.push_back(plan.states[0]);
  plan.states[1].kind = plan::StateKind::kJoinTable;
  plan.states[1].rows.expected = 4'000'000;
  plan.tasks[1].as<plan::RunTask>()->states = {{1, plan::StateUse::kShared}};
  for (plan::Kernel &kernel : plan.kernels) {
    kernel.work = {{plan::WorkKind::kRow, 0, 1, plan::kNone}};
  }
  plan.kernels[0].work.push_back({plan::WorkKind::kProbe, 1, 1, 0});
  // A hundredth of the rows is looked up: on workers and on devices.
  for (const char *name : {"machine", "ethernet-fast"}) {
    topology::Topology topology = *topology::openTopology(name, 4);
    Workload load = workload(4);
    load.threads = topology.nodeCount() == 1 ? 4 : 0;
    plan.kernels[0].selectivity = {1};
    double all = run(graphOf(plan, topology, load)).seconds;
    plan.kernels[0].selectivity = {0.01};
    double few = run(graphOf(plan, topology, load)).seconds;
    EXPECT_LT(few, 0.8 * all) << name;
  }
}

TEST(PlanGraph, what_one_rank_does_alone_takes_cores_from_the_others) {
  plan::Plan plan = shufflePlan();
  plan.tasks[2].as<plan::ExchangeTask>()->exchange = plan::ExchangeKind::kGather;
  plan.kernels[0].work = {{plan::WorkKind::kRow, 0, 2000, plan::kNone}};
  plan.kernels[1].work = {{plan::WorkKind::kRow, 0, 1000, plan::kNone}};
  Workload load = workload(2);
  load.threads = 2;
  double all = 2000 * kRows * cost::assumedSeconds().at("row"); // of cores, on both ranks
  double seconds = run(graphOf(plan, *topology::openTopology("machine", 2), load)).seconds;
  EXPECT_GT(seconds, (all + all / 2) / 2);
  EXPECT_LT(seconds, 1.2 * (all + all / 2) / 2);
}

TEST(PlanGraph, an_exchange_by_range_waits_for_all_rows) {
  plan::Plan plan = shufflePlan();
  topology::Topology topology = *topology::openTopology("machine", 4);
  double streamed = run(graphOf(plan, topology, workload(4))).seconds;
  plan.tasks[2].as<plan::ExchangeTask>()->exchange = plan::ExchangeKind::kRange;
  Graph graph = graphOf(plan, topology, workload(4));
  EXPECT_GT(run(graph).seconds, streamed);
  int32_t last = -1; // that writes the rows
  for (size_t id = 0; id < graph.activities.size(); ++id) {
    const Activity &activity = graph.activities[id];
    last = activity.name.starts_with(plan.tasks[1].name) ? static_cast<int32_t>(id) : last;
  }
  ASSERT_GE(last, 0);
  for (const Activity &activity : graph.activities) {
    if (activity.name.starts_with(plan.tasks[2].name + " #0")) {
      EXPECT_TRUE(std::find(activity.after.begin(), activity.after.end(), last) !=
                  activity.after.end());
    }
  }
}

TEST(PlanGraph, rows_of_a_state_are_divided_among_the_chunks) {
  plan::Plan plan = shufflePlan();
  plan.states[0].kind = plan::StateKind::kJoinTable;
  plan.states[0].rows = {0, 4'000'000, 4'000'000, UINT64_MAX};
  plan.kernels[1].work = {{plan::WorkKind::kInsert, 1, 1, 0}};
  plan.kernels[1].selectivity = {0.5};
  topology::Topology topology = *topology::shippedTopology("ethernet-fast");
  Workload load = workload(4);
  load.chunksMax = 1;
  double whole = run(graphOf(plan, topology, load)).seconds;
  load.chunksMax = 32;
  EXPECT_LT(run(graphOf(plan, topology, load)).seconds, whole); // chunks overlap
}

TEST(PlanGraph, what_is_assumed_is_an_error_of_the_time) {
  // Nothing here is measured: every figure is assumed within 30 %, also where latency decides.
  topology::Topology slow = *topology::shippedTopology("ethernet-slow");
  slow.collectives.clear();
  for (double rows : {10.0, 1e9}) {
    Workload load = workload(8);
    load.rows["t"] = rows;
    Outcome outcome = run(graphOf(shufflePlan(), slow, load));
    EXPECT_GT(outcome.relativeError, 0.1) << rows;
    EXPECT_LT(outcome.relativeError, 0.6) << rows;
  }
}

TEST(ProgramCost, terms_add_up_and_name_the_users_program) {
  topology::Topology slow = *topology::shippedTopology("ethernet-slow");
  Expected<ProgramCost> cost = programCost(shufflePlan(), slow, workload(4));
  ASSERT_TRUE(cost.ok()) << cost.status().toString();
  double sum = 0;
  bool network = false;
  for (const CostTerm &term : cost->terms) {
    sum += term.cost.seconds;
    network = network || (term.kind == "exchange" && term.place == "aggregate: group by k" &&
                          term.cost.relativeError > 0);
  }
  EXPECT_TRUE(network);
  EXPECT_NEAR(sum, cost->total.seconds, 1e-9 * sum);
  EXPECT_EQ(cost->total.seconds, run(graphOf(shufflePlan(), slow, workload(4))).seconds);
  EXPECT_EQ(cost->terms.front().kind, "exchange"); // a slow network: the largest
  EXPECT_GT(cost->secondsHigh, cost->total.seconds);
  EXPECT_NE(cost->text().find("total, from"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(cost->json())["terms"].size(), cost->terms.size());
  // A spill is a term of its own.
  Workload load = workload(16);
  load.memoryBytes = 1e9;
  Expected<ProgramCost> spilled =
      programCost(reservedPlan(40'000'000'000), *topology::shippedTopology("p5-2node"), load);
  ASSERT_TRUE(spilled.ok());
  EXPECT_EQ(spilled->terms.front().kind, "spill");
  EXPECT_FALSE(spilled->tiers.empty());
}

} // namespace
} // namespace headrace::simulate
