// Codecs and spills against closed forms.
#include "model/cost/codec.h"
#include "model/cost/spill.h"

#include <gtest/gtest.h>

namespace headrace::cost {
namespace {

double partOf(const Breakdown &parts, const std::string &name) {
  double seconds = 0;
  for (const Breakdown::Part &part : parts.parts) {
    seconds += part.name == name ? part.cost.seconds : 0;
  }
  return seconds;
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
