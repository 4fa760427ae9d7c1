// Exchanges in two steps, within nodes and then between them, against the closed form and against
// flat ones.
#include "runtime/model/simulate/plan_graph.h"
#include "runtime/model/simulate/program_cost.h"
#include "runtime/model/simulate/simulate.h"
#include "test/unit/model/simulate/shuffle_plan.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace headrace::simulate {
namespace {

constexpr double kRowBytes = 16;

Workload workload(int64_t ranks, double bytesPerRank, cost::ExchangeAlgorithm exchange) {
  Workload load;
  load.ranks = ranks;
  load.rows = {{"t", static_cast<double>(ranks) * bytesPerRank / kRowBytes}};
  load.exchange = exchange;
  return load;
}

/// From the first of the exchange's activities to its last.
double shuffleSeconds(const topology::Topology &topology, const Workload &load) {
  Expected<Graph> graph = planGraph(shufflePlan(), topology, load);
  EXPECT_TRUE(graph.ok()) << graph.status().toString();
  Expected<Outcome> outcome = simulate(*graph);
  EXPECT_TRUE(outcome.ok()) << outcome.status().toString();
  double start = 1e300;
  double finish = 0;
  for (size_t i = 0; i < graph->activities.size(); ++i) {
    if (graph->activities[i].name.starts_with("shuffle")) {
      start = std::min(start, outcome->spans[i].start);
      finish = std::max(finish, outcome->spans[i].finish);
    }
  }
  return finish - start;
}

struct ClosedForm {
  double flat = 0;
  double hierarchical = 0;
};

ClosedForm closedForm(const topology::Topology &topology, int64_t ranks, double bytes) {
  Expected<cost::CostModel> model =
      cost::CostModel::create(topology, cost::flatMesh("mesh", "rank", ranks));
  EXPECT_TRUE(model.ok());
  cost::ExchangeCost cost = model->shuffleParts(model->mesh().allAxes(), bytes);
  double chosen = 0;
  for (const cost::Breakdown::Part &part : cost.parts.parts) {
    chosen += part.name == "sizes" ? 0 : part.cost.seconds;
  }
  double other = cost.rejected ? cost.rejected->seconds : 0;
  bool flat = cost.algorithm == cost::ExchangeAlgorithm::kFlat;
  return flat ? ClosedForm{chosen, other} : ClosedForm{other, chosen};
}

TEST(ExchangeSteps, one_chunk_takes_what_the_closed_form_says) {
  topology::Topology fitted = *topology::shippedTopology("p5-2node");
  topology::Topology routed = fitted;
  routed.collectives.clear();
  for (const topology::Topology &topology : {fitted, routed}) {
    for (double bytes : {1e4, 1e6, 1e8, 1e10}) {
      ClosedForm closed = closedForm(topology, 16, bytes);
      ASSERT_GT(closed.hierarchical, 0);
      Workload load = workload(16, bytes, cost::ExchangeAlgorithm::kHierarchical);
      load.chunksMax = 1;
      // Fitted curves and links both bound what is simulated; the closed form takes the curves
      // alone.
      EXPECT_NEAR(shuffleSeconds(topology, load) / closed.hierarchical, 1,
                  topology.collectives.empty() ? 0.01 : 0.1)
          << bytes << (topology.collectives.empty() ? " routed" : " fitted");
    }
  }
}

TEST(ExchangeSteps, chunks_overlap_their_steps) {
  topology::Topology topology = *topology::shippedTopology("p5-2node");
  for (auto &[name, type] : topology.deviceTypes) {
    type.readBandwidth.value *= 1e6; // loading is not what is looked at
  }
  Workload load = workload(16, 1e10, cost::ExchangeAlgorithm::kHierarchical);
  double overlapped = shuffleSeconds(topology, load);
  load.chunksMax = 1;
  double inTurn = shuffleSeconds(topology, load);
  EXPECT_LT(overlapped, inTurn);
  EXPECT_GT(overlapped, inTurn / 3); // no step is free
}

TEST(ExchangeSteps, many_small_messages_are_fewer_in_two_steps) {
  // 4,096 ranks: 4,088 remote peers each, or 7 + 511.
  topology::Topology topology = *topology::shippedTopology("p5-2node");
  topology.instances[0].count = 512;
  Workload load = workload(4096, 1e5, cost::ExchangeAlgorithm::kFlat);
  double flat = shuffleSeconds(topology, load);
  load.exchange = cost::ExchangeAlgorithm::kHierarchical;
  double hierarchical = shuffleSeconds(topology, load);
  EXPECT_LT(hierarchical, flat / 2);
  ClosedForm closed = closedForm(topology, 4096, 1e5);
  EXPECT_LT(closed.hierarchical, closed.flat / 2); // the same verdict
}

TEST(ExchangeSteps, a_rank_a_node_has_one_step) {
  topology::Topology topology = *topology::shippedTopology("ethernet-slow");
  double flat = shuffleSeconds(topology, workload(8, 1e7, cost::ExchangeAlgorithm::kFlat));
  EXPECT_EQ(shuffleSeconds(topology, workload(8, 1e7, cost::ExchangeAlgorithm::kHierarchical)),
            flat);
}

TEST(ExchangeSteps, the_cost_says_when_two_steps_would_be_less) {
  topology::Topology topology = *topology::shippedTopology("p5-2node");
  topology.instances[0].count = 512;
  Workload load = workload(4096, 1e5, cost::ExchangeAlgorithm::kFlat);
  Expected<ProgramCost> cost = programCost(shufflePlan(), topology, load);
  ASSERT_TRUE(cost.ok());
  ASSERT_TRUE(cost->hierarchical);
  EXPECT_LT(cost->hierarchical->seconds, cost->total.seconds);
  EXPECT_NE(cost->text().find("less; not executed yet"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(cost->json())["hierarchical_seconds"],
            cost->hierarchical->seconds);
  // Asked for, they are what is priced, and no better way is known.
  load.exchange = cost::ExchangeAlgorithm::kHierarchical;
  Expected<ProgramCost> asked = programCost(shufflePlan(), topology, load);
  ASSERT_TRUE(asked.ok());
  EXPECT_EQ(asked->total.seconds, cost->hierarchical->seconds);
  EXPECT_FALSE(asked->hierarchical);
  EXPECT_TRUE(nlohmann::json::parse(asked->json())["hierarchical_seconds"].is_null());
  // Not where every node has one rank.
  load = workload(8, 1e7, cost::ExchangeAlgorithm::kFlat);
  Expected<ProgramCost> slow =
      programCost(shufflePlan(), *topology::shippedTopology("ethernet-slow"), load);
  ASSERT_TRUE(slow.ok());
  EXPECT_FALSE(slow->hierarchical);
}

} // namespace
} // namespace headrace::simulate
