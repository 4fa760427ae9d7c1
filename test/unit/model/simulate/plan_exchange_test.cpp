// An exchange or a collective takes in the simulation what the layout solver says it does.
// Sources: model/simulate/plan_exchanges.cpp
#include "model/cost/cost.h"
#include "model/plan/names.h"
#include "model/simulate/plan_graph.h"
#include "model/simulate/simulate.h"
#include "test/unit/model/simulate/shuffle_plan.h"

#include <gtest/gtest.h>

namespace headrace::simulate {
namespace {

/// The activities of that name alone on the topology, one after the other.
double secondsAlone(const plan::Plan &plan, const topology::Topology &topology,
                    const Workload &load, const std::string &name) {
  Expected<Graph> graph = planGraph(plan, topology, load);
  EXPECT_TRUE(graph.ok()) << graph.status().toString();
  double seconds = 0;
  for (const Activity &activity : graph->activities) {
    if (activity.name.starts_with(name)) {
      Graph one = *graph;
      one.activities = {activity};
      one.activities[0].after.clear();
      seconds += simulate(one)->seconds;
    }
  }
  return seconds;
}

constexpr double kRowBytes = 16 + 5; // two integers, and what shufflePlan's rows are given of texts

TEST(PlanExchange, takes_what_the_layout_solver_says) {
  plan::Plan plan = shufflePlan();
  plan.streams[1].textBytes = 5;
  for (const std::string &name : topology::shippedTopologyNames()) {
    topology::Topology topology = *topology::shippedTopology(name);
    for (int64_t ranks : {int64_t{2}, int64_t{8}, std::min<int64_t>(topology.rankCount(), 5000)}) {
      if (ranks > topology.rankCount()) {
        continue;
      }
      cost::CostModel model = *cost::CostModel::create(topology, cost::flatMesh("m", "r", ranks));
      for (plan::ExchangeKind kind : {plan::ExchangeKind::kHash, plan::ExchangeKind::kBroadcast,
                                      plan::ExchangeKind::kGather, plan::ExchangeKind::kRange}) {
        for (double rows : {1.0, 1e4, 1e8}) {
          for (double fullest : {1.0, 2.5}) {
            bool spreads = kind == plan::ExchangeKind::kHash || kind == plan::ExchangeKind::kRange;
            plan.tasks[2].as<plan::ExchangeTask>()->exchange = kind;
            plan.streams[1].fullest = fullest;
            Workload load;
            load.ranks = ranks;
            load.rows = {{"t", rows * static_cast<double>(ranks)}};
            double simulated = secondsAlone(plan, topology, load, "shuffle");
            double solved =
                model.exchange(kind, 1, rows * kRowBytes, spreads ? fullest : 1).seconds;
            EXPECT_NEAR(simulated / solved, 1, 1e-6)
                << name << " " << ranks << " " << static_cast<int>(kind) << " " << rows;
          }
        }
      }
    }
  }
}

TEST(PlanExchange, rows_without_columns_are_moved_for_the_latency) {
  plan::Plan plan = shufflePlan();
  plan.tasks[2].as<plan::ExchangeTask>()->exchange = plan::ExchangeKind::kBroadcast;
  plan.streams[1].schema.columns.clear();
  plan.streams[1].textBytes = 0;
  topology::Topology topology = *topology::shippedTopology("ethernet-slow");
  Workload load;
  load.ranks = 8;
  load.rows = {{"t", 8e6}};
  double many = secondsAlone(plan, topology, load, "shuffle");
  load.rows = {{"t", 8}};
  EXPECT_NEAR(many / secondsAlone(plan, topology, load, "shuffle"), 1, 1e-6);
}

TEST(PlanExchange, two_at_once_post_their_messages_one_after_the_other) {
  plan::Plan plan = shufflePlan();
  plan.tasks[2].as<plan::ExchangeTask>()->exchange = plan::ExchangeKind::kBroadcast;
  topology::Topology topology = *topology::shippedTopology("gb200-nvl72");
  Workload load;
  load.ranks = 144;
  load.rows = {{"t", 144}};
  Expected<Graph> graph = planGraph(plan, topology, load);
  ASSERT_TRUE(graph.ok()) << graph.status().toString();
  Graph one = *graph;
  std::erase_if(one.activities,
                [](const Activity &activity) { return !activity.name.starts_with("shuffle"); });
  for (size_t i = 0; i < one.activities.size(); ++i) {
    one.activities[i].after = i == 0 ? std::vector<int32_t>{} : std::vector{int32_t(i) - 1};
  }
  Graph both = one;
  for (Activity activity : one.activities) {
    for (int32_t &before : activity.after) {
      before += static_cast<int32_t>(one.activities.size());
    }
    both.activities.push_back(activity);
  }
  // A row to each of 143 ranks: nearly all of the time goes into messages.
  double alone = simulate(one)->seconds;
  EXPECT_NEAR(simulate(both)->seconds / alone, 2, 0.1);
}

TEST(PlanCollective, takes_what_the_layout_solver_says) {
  plan::Plan plan;
  plan.buffers.resize(2);
  plan.tasks.resize(1);
  plan.tasks[0].name = "collective";
  using topology::CollectiveKind;
  for (const char *name : {"p5-2node", "ethernet-slow", "gb200-100k", "dgx-h100"}) {
    topology::Topology topology = *topology::shippedTopology(name);
    cost::CostModel model = *cost::CostModel::create(topology, cost::flatMesh("m", "r", 8));
    for (CollectiveKind kind : {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                CollectiveKind::kReduceScatter, CollectiveKind::kAllToAll}) {
      for (int64_t rows : {8, 8 << 10, 8 << 20}) {
        for (plan::Buffer &buffer : plan.buffers) {
          buffer.shape = {rows, 16};
          buffer.bytes = static_cast<uint64_t>(rows * 64);
          buffer.splits.clear();
        }
        bool gathers = kind == CollectiveKind::kAllGather || kind == CollectiveKind::kAllToAll;
        bool scatters = kind == CollectiveKind::kReduceScatter || kind == CollectiveKind::kAllToAll;
        for (auto [buffer, split] : {std::pair(0, gathers), std::pair(1, scatters)}) {
          if (split) {
            plan.buffers[buffer].splits = {{0, {0}}};
          }
        }
        plan::CollectiveTask collective{.axes = {0}, .input = 0, .output = 1};
        collective.operation = *plan::enumOf<plan::CollectiveKind>(topology::collectiveName(kind));
        plan.tasks[0].work = collective;
        Workload load;
        load.ranks = 8;
        double bytes = 64.0 * static_cast<double>(rows);
        double buffer = kind == CollectiveKind::kAllToAll ? bytes / 8 : bytes;
        EXPECT_NEAR(secondsAlone(plan, topology, load, "collective") /
                        model.collective(kind, 1, buffer).seconds,
                    1, 1e-6)
            << name << " " << topology::collectiveName(kind) << " " << rows;
      }
    }
  }
}

} // namespace
} // namespace headrace::simulate
