// Exchanges from traffic matrices and in two steps, codecs and spills against closed forms.
#include "runtime/model/cost/codec.h"
#include "runtime/model/cost/spill.h"

#include <chrono>
#include <cmath>
#include <gtest/gtest.h>

namespace headrace::cost {
namespace {

CostModel modelOf(topology::Topology topology, Mesh mesh) {
  Expected<CostModel> model = CostModel::create(std::move(topology), std::move(mesh));
  EXPECT_TRUE(model.ok()) << model.status().toString();
  return *std::move(model);
}

CostModel p5(int64_t nodes) {
  topology::Topology topology = *topology::shippedTopology("p5-2node");
  topology.instances.front().count = nodes;
  return modelOf(topology, flatMesh("m", "r", 8 * nodes));
}

std::vector<Flow> evenFlows(int64_t ranks, double bytesPerRank) {
  std::vector<Flow> flows;
  for (int64_t source = 0; source < ranks; ++source) {
    for (int64_t target = 0; target < ranks; ++target) {
      flows.push_back({source, target, bytesPerRank / static_cast<double>(ranks)});
    }
  }
  return flows;
}

double partOf(const Breakdown &parts, const std::string &name) {
  double seconds = 0;
  for (const Breakdown::Part &part : parts.parts) {
    seconds += part.name == name ? part.cost.seconds : 0;
  }
  return seconds;
}

TEST(Exchange, an_even_matrix_costs_what_a_shuffle_costs) {
  for (const char *name : {"ethernet-slow", "p5-2node"}) {
    topology::Topology topology = *topology::shippedTopology(name);
    CostModel model = modelOf(topology, flatMesh("m", "r", topology.rankCount()));
    for (double bytes : {1e4, 1e7, 1e10}) {
      ExchangeCost matrix = model.exchangeParts(evenFlows(topology.rankCount(), bytes));
      ExchangeCost shuffle = model.shuffleParts(1, bytes);
      double withoutSizes = shuffle.parts.total().seconds - partOf(shuffle.parts, "sizes");
      EXPECT_EQ(matrix.algorithm, shuffle.algorithm) << name << " " << bytes;
      EXPECT_NEAR(matrix.parts.total().seconds / withoutSizes, 1, 0.02) << name << " " << bytes;
    }
  }
}

TEST(Exchange, few_bytes_go_in_two_steps_and_many_go_flat) {
  CostModel model = p5(32); // 248 remote peers flat, 31 in two steps
  ExchangeCost few = model.shuffleParts(1, 1e6);
  EXPECT_EQ(few.algorithm, ExchangeAlgorithm::kHierarchical);
  ASSERT_TRUE(few.rejected);
  // 3.9 µs for each of 217 peers fewer, less one step within the node.
  EXPECT_NEAR(few.rejected->seconds - (few.parts.total().seconds - partOf(few.parts, "sizes")),
              217 * 3.9e-6, 3e-5);
  EXPECT_NEAR(partOf(few.parts, "between nodes: peers"), 31 * 3.9e-6, 1e-9);
  ExchangeCost many = model.shuffleParts(1, 1e10);
  EXPECT_EQ(many.algorithm, ExchangeAlgorithm::kFlat);
  EXPECT_GT(many.rejected->seconds, many.parts.total().seconds);
}

TEST(Exchange, skew_costs_the_fullest_rank) {
  CostModel model = p5(2);
  std::vector<Flow> flows = evenFlows(16, 1e9);
  double even = model.exchange(flows).seconds;
  for (Flow &flow : flows) {
    flow.bytes *= flow.target == 3 ? 4 : 1; // a hot key
  }
  ExchangeCost skewed = model.exchangeParts(flows);
  EXPECT_NEAR(partOf(skewed.parts, "bytes") / (8 * 4e9 / 16 / 4.13e10), 1, 1e-6);
  EXPECT_GT(skewed.parts.total().seconds, 2.5 * even);
  EXPECT_EQ(skewed.fullest, "rank 3");
  // Ranks far from the hot one change nothing.
  flows.push_back({9, 9, 1e12});
  EXPECT_DOUBLE_EQ(model.exchange(flows).seconds, skewed.parts.total().seconds);
}

TEST(Exchange, links_that_flows_share_bound_it) {
  CostModel model = modelOf(*topology::shippedTopology("ethernet-slow"), flatMesh("m", "r", 4));
  std::vector<Flow> flows = {{0, 3, 1.2e8}, {1, 3, 1.2e8}, {2, 3, 1.2e8}};
  ExchangeCost cost = model.exchangeParts(flows);
  EXPECT_NEAR(partOf(cost.parts, "bytes"), 3, 1e-9);
  EXPECT_NE(cost.fullest.find(".in"), std::string::npos) << cost.fullest;
  EXPECT_EQ(model.exchange({}).seconds, 0);
  EXPECT_EQ(model.exchange({{1, 1, 1e9}}).seconds, 0);
}

TEST(Exchange, is_monotone_in_every_flow) {
  CostModel model = p5(2);
  std::vector<Flow> flows = evenFlows(16, 1e8);
  double before = model.exchange(flows).seconds;
  for (size_t i = 0; i < flows.size(); i += 7) {
    flows[i].bytes *= 1.5;
    double after = model.exchange(flows).seconds;
    EXPECT_GE(after, before * (1 - 1e-12)) << i;
    before = after;
  }
}

TEST(Exchange, a_hundred_thousand_ranks_take_no_time_to_price) {
  auto started = std::chrono::steady_clock::now();
  topology::Topology topology = *topology::shippedTopology("p5-2node");
  topology.instances.front().count = 12500;
  topology.collectives.clear(); // routes alone: the slowest way to a price
  CostModel model = modelOf(topology, Mesh{"m", {{"node", 12500}, {"gpu", 8}}});
  double shuffle = model.shuffle(0b11, 1e9).seconds;
  // Almost all bytes leave through the rank's NIC.
  EXPECT_GT(shuffle, 1e9 * 99992 / 100000 / (5e10 * 0.84));
  EXPECT_GT(model.collective(topology::CollectiveKind::kAllReduce, 0b10, 1e9).seconds, 0);
  EXPECT_GT(model.collective(topology::CollectiveKind::kAllToAll, 0b01, 1e9).seconds, 0);
  double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  EXPECT_LT(seconds, 10);
}

TEST(Exchange, equal_nodes_stand_for_each_other) {
  // The pattern counted once a kind of node equals all flows counted one by one.
  topology::Topology topology = *topology::shippedTopology("mixed-generation");
  topology.collectives.clear();
  int64_t ranks = std::min<int64_t>(topology.rankCount(), 48);
  CostModel model = modelOf(topology, flatMesh("m", "r", ranks));
  ExchangeCost matrix = model.exchangeParts(evenFlows(ranks, 1e9));
  ExchangeCost shuffle = model.shuffleParts(1, 1e9);
  EXPECT_EQ(matrix.algorithm, shuffle.algorithm);
  EXPECT_NEAR(partOf(matrix.parts, "bytes"), partOf(shuffle.parts, "bytes"), 1e-9);
}

TEST(Codec, pays_exactly_where_the_break_even_says) {
  topology::DeviceType device;
  device.codecs = {{"lz4", 9e10, 3.1e11, 2, 0}};
  for (double bandwidth : {3e9, 1.25e10, 2e10, 4.2e10, 5.5e10, 4.5e11}) {
    for (double ratio : {1.01, 1.2, 1.5, 2.0, 3.0, 5.0, 30.0}) {
      CodecDecision decision = chooseCodec(device, device, {1e9, bandwidth, 0, ratio});
      bool pays = 1 - 1 / ratio > bandwidth * (1 / 9e10 + 1 / 3.1e11);
      EXPECT_EQ(decision.codec != nullptr, pays) << bandwidth << " " << ratio;
      EXPECT_LE(decision.parts.total().seconds, decision.plain.seconds);
      EXPECT_DOUBLE_EQ(decision.wireBytes, pays ? 1e9 / ratio : 1e9);
    }
  }
}

TEST(Codec, steps_that_overlap_hide_all_but_the_slowest) {
  topology::DeviceType device;
  device.codecs = {{"lz4", 1e10, 4e10, 2, 0.3}};
  CodecQuestion question{1e9, 5e9, 0.1};
  // Serial: 0.1 + 0.1 + 0.025 s against 0.2; pipelined the slowest of them.
  EXPECT_EQ(chooseCodec(device, device, question).codec, nullptr);
  question.overlap = CodecOverlap::kPipelined;
  CodecDecision decision = chooseCodec(device, device, question);
  ASSERT_NE(decision.codec, nullptr);
  EXPECT_NEAR(decision.parts.total().seconds, 0.1 + (0.1 + 0.025) / 16, 1e-9);
  EXPECT_GT(decision.parts.total().relativeError, 0.1); // the ratio is a guess
  topology::DeviceType other;
  EXPECT_EQ(chooseCodec(device, other, question).codec, nullptr); // who would decompress?
}

TEST(Spill, tiers_are_what_routes_lead_to) {
  topology::Topology topology = *topology::shippedTopology("p5-2node");
  const topology::NodeType &node = topology.nodeTypes.at("p5");
  std::vector<SpillTier> tiers = spillTiers(topology, node);
  ASSERT_EQ(tiers.size(), 2u);
  EXPECT_EQ(tiers[0].space, "host");
  // Two GPUs behind each PCIe switch of 64 GB/s.
  EXPECT_NEAR(tiers[0].write.value, 3.2e10, 1);
  EXPECT_EQ(tiers[0].fullest, "pcisw");
  EXPECT_NEAR(tiers[0].capacityBytes, 2e12 / 8, 1);
  EXPECT_EQ(tiers[1].space, "nvme");
  EXPECT_NEAR(tiers[1].write.value, 3.8e9, 1);
  EXPECT_NEAR(tiers[1].read.value, 6.5e9, 1);
  EXPECT_TRUE(spillTiers(topology::machineTopology({4, 8e9}, 2),
                         topology::machineTopology({4, 8e9}, 2).nodeTypes.begin()->second)
                  .empty());
}

TEST(Spill, is_written_read_back_compressed_and_hidden) {
  topology::Topology topology = *topology::shippedTopology("p5-2node");
  topology::DeviceType device = topology.deviceTypes.at("H100-SXM");
  std::vector<SpillTier> tiers = spillTiers(topology, topology.nodeTypes.at("p5"));
  // LZ4 pays for NVMe, not for the host's memory.
  SpillCost toDisk = spillCost(device, tiers[1], {1e10});
  ASSERT_NE(toDisk.codec, nullptr);
  EXPECT_NEAR(partOf(toDisk.parts, "write"), 5e9 / 3.8e9, 1e-6);
  EXPECT_NEAR(partOf(toDisk.parts, "read back"), 5e9 / 6.5e9, 1e-6);
  device.codecs.clear();
  SpillCost plain = spillCost(device, tiers[1], {1e10});
  EXPECT_GT(plain.parts.total().seconds, toDisk.parts.total().seconds);
  EXPECT_NEAR(plain.parts.total().seconds, 1e10 / 3.8e9 + 1e10 / 6.5e9, 1e-3);
  SpillCost hidden = spillCost(device, tiers[1], {1e10, 100});
  EXPECT_NEAR(hidden.parts.total().seconds, 0.05 * plain.parts.total().seconds, 1e-6);
  EXPECT_NEAR(hidden.hiddenSeconds + hidden.parts.total().seconds, plain.parts.total().seconds,
              1e-9);
  EXPECT_GT(plain.parts.total().relativeError, 0);
  EXPECT_EQ(spillCost(device, tiers[0], {0}).parts.total().seconds, 0);
}

} // namespace
} // namespace headrace::cost
