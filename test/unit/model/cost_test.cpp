// The cost model against closed forms on small networks, and its orders on the shipped topologies.
#include "model/cost/cost.h"

#include <cmath>
#include <gtest/gtest.h>

namespace headrace::cost {
namespace {

using topology::CollectiveKind;

CostModel modelOf(topology::Topology topology, Mesh mesh) {
  Expected<CostModel> model = CostModel::create(std::move(topology), std::move(mesh));
  EXPECT_TRUE(model.ok()) << model.status().toString();
  return *std::move(model);
}

CostModel ethernet(const char *name, int64_t ranks) {
  return modelOf(*topology::shippedTopology(name), flatMesh("m", "r", ranks));
}

TEST(Mesh, groups_follow_row_major_order) {
  Mesh mesh{"m", {{"node", 2}, {"gpu", 3}}};
  EXPECT_EQ(mesh.rankCount(), 6);
  EXPECT_EQ(mesh.offsetsOf(0b10), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(mesh.offsetsOf(0b01), (std::vector<int64_t>{0, 3}));
  EXPECT_EQ(mesh.offsetsOf(0b11), (std::vector<int64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(mesh.offsetsOf(0), (std::vector<int64_t>{0}));
  EXPECT_EQ(mesh.firstOf(0b10, 5), 3);
  EXPECT_EQ(mesh.firstOf(0b01, 5), 2);
  EXPECT_EQ(mesh.firstOf(0b11, 5), 0);
  EXPECT_EQ(mesh.firstOf(0, 5), 5);
}

TEST(Mesh, refuses_malformed) {
  EXPECT_EQ(Mesh{}.check().message(), "a mesh has 1 to 8 axes, got 0");
  EXPECT_EQ((Mesh{"m", {{"a", 0}}}).check().message(),
            "a mesh axis needs a name and a size from 1 to 1048576, got a of 0");
  EXPECT_EQ((Mesh{"m", {{"a", 2}, {"a", 2}}}).check().message(),
            "two mesh axes have the same name: a");
  EXPECT_EQ((Mesh{"m", {{"a", 1048576}, {"b", 2}}}).check().message(),
            "a mesh has at most 1048576 ranks");
}

TEST(Cost, mesh_larger_than_topology_is_refused) {
  Expected<CostModel> model =
      CostModel::create(*topology::shippedTopology("ethernet-slow"), flatMesh("m", "r", 9));
  EXPECT_EQ(model.status().message(),
            "the mesh needs 9 ranks, but topology ethernet-slow has only 8");
}

TEST(Cost, collectives_follow_their_formulas) {
  CostModel model = ethernet("ethernet-slow", 4);
  double bytes = 1.2e9; // 10 s of one link: latency hardly shows
  EXPECT_NEAR(model.collective(CollectiveKind::kAllGather, 1, bytes).seconds, 7.5, 0.01);
  EXPECT_NEAR(model.collective(CollectiveKind::kReduceScatter, 1, bytes).seconds, 7.5, 0.01);
  EXPECT_NEAR(model.collective(CollectiveKind::kAllReduce, 1, bytes).seconds, 15, 0.01);
  EXPECT_NEAR(model.collective(CollectiveKind::kAllToAll, 1, bytes).seconds, 7.5, 0.01);
  using plan::ExchangeKind;
  EXPECT_NEAR(model.exchange(ExchangeKind::kHash, 1, bytes).seconds, 7.5, 0.01);
  EXPECT_NEAR(model.exchange(ExchangeKind::kHash, 1, bytes, 2).seconds, 15, 0.01);
  EXPECT_NEAR(model.exchange(ExchangeKind::kBroadcast, 1, bytes).seconds, 30, 0.01);
  EXPECT_NEAR(model.exchange(ExchangeKind::kGather, 1, bytes).seconds, 30, 0.01); // into one port
}

TEST(Cost, one_rank_communicates_for_nothing) {
  CostModel model = modelOf(topology::machineTopology({4, 8e9}, 1), flatMesh("m", "r", 1));
  EXPECT_EQ(model.collective(CollectiveKind::kAllReduce, 1, 1e9).seconds, 0);
  EXPECT_EQ(model.exchange(plan::ExchangeKind::kHash, 1, 1e9).seconds, 0);
  EXPECT_EQ(model.exchange(plan::ExchangeKind::kGather, 1, 1e9).seconds, 0);
}

TEST(Cost, groups_share_links) {
  // Four ranks on one machine share one memory bus: two concurrent groups take as long as one of
  // four.
  topology::Topology machine = topology::machineTopology({4, 8e9}, 4);
  CostModel model = modelOf(machine, Mesh{"m", {{"a", 2}, {"b", 2}}});
  double pairs = model.collective(CollectiveKind::kAllToAll, 0b01, 1e9).seconds;
  double all = model.collective(CollectiveKind::kAllToAll, 0b11, 1e9).seconds;
  EXPECT_NEAR(pairs / all, (4 * 0.5) / (4 * 0.75), 0.01);
}

TEST(Cost, fitted_curves_are_used_and_the_least_algorithm_wins) {
  Mesh mesh{"m", {{"node", 2}, {"gpu", 8}}};
  CostModel model = modelOf(*topology::shippedTopology("p5-2node"), mesh);
  double inside = model.collective(CollectiveKind::kAllReduce, 0b10, 1e8).seconds;
  EXPECT_NEAR(inside, 7.191e-5 + 1.75e8 / 4.618e11, 1e-9);
  // Across nodes: ring 16 × 15.51 µs, tree 165 + 171 µs; for one byte the ring wins, for 10 GB the
  // tree.
  EXPECT_NEAR(model.collective(CollectiveKind::kAllReduce, 0b11, 1).seconds, 16 * 1.551e-5, 1e-6);
  EXPECT_NEAR(model.collective(CollectiveKind::kAllReduce, 0b11, 1e10).seconds,
              1.647e-4 + 1.711e-4 + 1e10 / 2.515e11, 1e-6);
}

TEST(Cost, kernel_overlaps_compute_and_memory) {
  CostModel model = ethernet("ethernet-fast", 4);
  KernelWork work{.operations = 2.4e10, .streamBytes = 4e10}; // one second each
  EXPECT_NEAR(model.kernel(work).seconds, 5e-6 + 2 - 0.95, 1e-9);
  KernelWork near{.random = {{1e9, 1e6}}, .launches = 0};
  KernelWork far{.random = {{1e9, 1e12}}, .launches = 0};
  EXPECT_NEAR(model.kernel(near).seconds, 1e9 / 4e10, 1e-9);
  EXPECT_NEAR(model.kernel(far).seconds, 1e9 / 1e10, 1e-9);
}

TEST(Cost, more_bandwidth_and_less_data_never_cost_more) {
  CostModel fast = ethernet("ethernet-fast", 4);
  CostModel slow = ethernet("ethernet-slow", 4);
  for (double bytes = 1; bytes < 1e12; bytes *= 7) {
    for (CollectiveKind kind : {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                CollectiveKind::kAllToAll, CollectiveKind::kBroadcast}) {
      EXPECT_LE(fast.collective(kind, 1, bytes).seconds, slow.collective(kind, 1, bytes).seconds);
      EXPECT_LE(fast.collective(kind, 1, bytes).seconds,
                fast.collective(kind, 1, bytes * 2).seconds);
    }
  }
}

TEST(Cost, errors_add_in_quadrature) {
  Cost sum = Cost{3, 0.1} + Cost{4, 0.1};
  EXPECT_DOUBLE_EQ(sum.seconds, 7);
  EXPECT_NEAR(sum.relativeError, 0.5 / 7, 1e-12);
}

} // namespace
} // namespace headrace::cost
