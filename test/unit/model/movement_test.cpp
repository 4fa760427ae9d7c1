// Exchanges and collectives: one node for all equal ones against every message one by one, closed
// forms, and no growth with ranks.
// Sources: model/cost/rank_groups.cpp
#include "model/cost/cost.h"
#include "model/cost/link_load.h"

#include <chrono>
#include <cstdlib>
#include <gtest/gtest.h>
#include <set>

namespace headrace::cost {
namespace {

using plan::ExchangeKind;
using topology::CollectiveKind;

topology::Topology routed(const char *name) {
  topology::Topology topology = *topology::shippedTopology(name);
  topology.collectives.clear();
  return topology;
}

topology::Topology p5(int64_t nodes) {
  topology::Topology topology = *topology::shippedTopology("p5-2node");
  topology.instances.front().count = nodes;
  return topology;
}

struct Message {
  int64_t source;
  int64_t target;
  double bytes;
};

/// Seconds on the fullest link, each message sent over the links of all nodes.
double oneByOne(const topology::Topology &topology, int64_t ranks,
                const std::vector<Message> &messages) {
  Network network(topology, ranks);
  LinkLoad load(network);
  for (const Message &message : messages) {
    load.add(message.source, message.target, message.bytes);
  }
  return load.fullest().seconds;
}

TEST(RankGroups, one_node_stands_for_all_equal_ones) {
  for (const char *name : {"p5-2node", "ethernet-slow", "mixed-generation", "l40s-pcie"}) {
    topology::Topology topology = routed(name);
    for (int64_t ranks : {topology.rankCount(), topology.rankCount() - 1}) {
      std::vector<NodeRun> runs = nodeRuns(topology, ranks);
      RankGroups groups(runs);
      std::vector<Message> all;
      std::vector<Message> toFirst;
      std::vector<Message> ring;
      for (int64_t source = 0; source < ranks; ++source) {
        for (int64_t target = 0; target < ranks; ++target) {
          all.push_back({source, target, 1 / static_cast<double>(ranks)});
        }
        toFirst.push_back({source, 0, 1});
        ring.push_back({source, (source + 1) % ranks, 1});
      }
      auto seconds = [&](Pattern pattern) { return groups.traffic(pattern).secondsPerByte; };
      EXPECT_NEAR(seconds(Pattern::kSpread) / oneByOne(topology, ranks, all), 1, 1e-9) << name;
      EXPECT_NEAR(seconds(Pattern::kToFirst) / oneByOne(topology, ranks, toFirst), 1, 1e-9) << name;
      EXPECT_NEAR(seconds(Pattern::kRing) / oneByOne(topology, ranks, ring), 1, 1e-9) << name;
    }
  }
}

TEST(RankGroups, groups_along_axes_share_links) {
  topology::Topology topology = routed("p5-2node");
  for (const Mesh &mesh : {Mesh{"m", {{"node", 2}, {"gpu", 8}}}, Mesh{"m", {{"a", 4}, {"b", 4}}},
                           Mesh{"m", {{"a", 3}, {"b", 5}}}}) {
    int64_t ranks = mesh.rankCount();
    std::vector<NodeRun> runs = nodeRuns(topology, ranks);
    for (AxisSet axes : {0b01u, 0b10u, 0b11u}) {
      RankGroups groups(runs, mesh, axes);
      std::vector<Message> messages;
      for (int64_t rank = 0; rank < ranks; ++rank) {
        for (int64_t offset : mesh.offsetsOf(axes)) {
          int64_t peer = mesh.firstOf(axes, rank) + offset;
          messages.push_back({rank, peer, 1 / static_cast<double>(mesh.sizeOf(axes))});
        }
      }
      EXPECT_NEAR(groups.traffic(Pattern::kSpread).secondsPerByte /
                      oneByOne(topology, ranks, messages),
                  1, 1e-9)
          << mesh.axes[0].size << " " << axes;
      EXPECT_EQ(groups.shape().members, mesh.sizeOf(axes));
    }
  }
  std::vector<NodeRun> runs = nodeRuns(topology, 16);
  Mesh mesh{"m", {{"node", 2}, {"gpu", 8}}};
  EXPECT_EQ(RankGroups(runs, mesh, 0b10).shape().nodes, 1);
  EXPECT_EQ(RankGroups(runs, mesh, 0b01).shape().nodes, 2);
  EXPECT_EQ(RankGroups(runs, mesh, 0b11).shape().remotePeers, 8);
}

/// Nodes of 72 ranks, groups of 100: neither fills the other, and nodes of a run differ.
TEST(RankGroups, a_link_stands_for_the_node_that_uses_it_most) {
  topology::Topology topology = routed("gb200-100k");
  Mesh mesh{"m", {{"group", 100}, {"node", 100}}};
  std::vector<NodeRun> runs = nodeRuns(topology, mesh.rankCount());
  for (AxisSet axes : {0b01u, 0b10u}) {
    RankGroups groups(runs, mesh, axes);
    for (Pattern pattern : {Pattern::kSpread, Pattern::kToFirst, Pattern::kRing}) {
      const Traffic &traffic = groups.traffic(pattern);
      double seconds = 0;
      std::set<std::pair<int32_t, int32_t>> links;
      for (const LinkUse &use : traffic.uses) {
        EXPECT_TRUE(links.insert({use.run, use.link}).second) << "a link is there twice";
        const Link &link = runs[use.run].network->links()[use.link];
        seconds = std::max(seconds, use.bytes / link.bandwidth);
      }
      EXPECT_NEAR(seconds / traffic.secondsPerByte, 1, 1e-9);
    }
  }
}

TEST(Movement, a_broadcast_sends_to_each_what_a_spread_sends_to_all) {
  topology::Topology topology = p5(4);
  std::vector<NodeRun> runs = nodeRuns(topology, 32);
  RankGroups groups(runs);
  for (double bytes : {1e3, 1e6, 1e9}) {
    double broadcast =
        exchangeMovement(groups, topology.collectives, ExchangeKind::kBroadcast, bytes).seconds();
    double spread =
        exchangeMovement(groups, topology.collectives, ExchangeKind::kHash, 32 * bytes).seconds();
    EXPECT_NEAR(broadcast / spread, 1, 1e-9) << bytes;
  }
}

TEST(Movement, a_measured_curve_holds_where_links_are_said_to_be_slower) {
  topology::Topology topology = p5(2);
  for (topology::Resource &resource : topology.nodeTypes.at("p5").resources) {
    resource.bandwidth.value /= 2;
  }
  std::vector<NodeRun> runs = nodeRuns(topology, 16);
  RankGroups groups(runs);
  Movement movement = exchangeMovement(groups, topology.collectives, ExchangeKind::kHash, 1e9);
  const topology::CollectiveFit *fit = leastFit(topology.collectives, CollectiveKind::kAllToAll,
                                                topology::Level::kNetwork, groups.shape(), 1e9);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(movement.seconds() / predictSeconds(*fit, groups.shape(), 1e9), 1, 1e-9);
  // A rank that has twice as much takes twice as long for it.
  Movement skewed = exchangeMovement(groups, topology.collectives, ExchangeKind::kHash, 1e9, 2);
  EXPECT_NEAR(skewed.seconds() / predictSeconds(*fit, groups.shape(), 2e9), 1, 1e-9);
}

TEST(Movement, messages_to_many_are_posted_one_after_the_other) {
  topology::Topology topology = routed("ethernet-slow");
  std::vector<NodeRun> runs = nodeRuns(topology, 8);
  double hop = RankGroups(runs).traffic(Pattern::kRing).hopSeconds;
  auto latency = [&](Pattern pattern) {
    return RankGroups(runs).traffic(pattern).messaging.total();
  };
  EXPECT_NEAR(latency(Pattern::kSpread), 7 * hop, 1e-12);
  EXPECT_NEAR(latency(Pattern::kToFirst), 7 * hop, 1e-12); // taken in by one
  for (auto &[name, type] : topology.nodeTypes) {
    for (topology::Resource &resource : type.resources) {
      resource.postSeconds.value = resource.latencySeconds.value / 10;
    }
  }
  runs = nodeRuns(topology, 8);
  double nic = 0;
  for (const topology::Resource &resource : runs[0].nodeType().resources) {
    nic += resource.postSeconds.value;
  }
  EXPECT_NEAR(latency(Pattern::kSpread), hop + 6 * nic, 1e-6);
}

TEST(Movement, all_reduce_changes_its_algorithm_where_the_setting_says) {
  topology::Topology topology = routed("ethernet-slow");
  std::vector<NodeRun> runs = nodeRuns(topology, 8);
  RankGroups groups(runs);
  auto seconds = [&](const char *treeBytes, double bytes) {
    ::setenv("HEADRACE_COLLECTIVE_TREE", treeBytes, 1);
    Movement movement = collectiveMovement(groups, topology.collectives, CollectiveKind::kAllReduce,
                                           bytes, doublingBytesMax());
    ::unsetenv("HEADRACE_COLLECTIVE_TREE");
    return movement.seconds();
  };
  // A ring sends fourteen eighths of the buffer, doubling three times all of it.
  EXPECT_GT(seconds("1GiB", 1e6) / seconds("0", 1e6), 1.5);
  EXPECT_EQ(seconds("64KiB", 1e6), seconds("0", 1e6));
  // Of few bytes the fourteen messages of a ring take longer than three.
  EXPECT_LT(seconds("64KiB", 1e3) / seconds("0", 1e3), 0.5);
}

TEST(Movement, more_bytes_and_more_ranks_never_cost_less) {
  for (ExchangeKind kind : {ExchangeKind::kHash, ExchangeKind::kBroadcast, ExchangeKind::kGather}) {
    double before = 0;
    for (double bytes = 1; bytes < 1e11; bytes *= 3) {
      topology::Topology topology = p5(2);
      std::vector<NodeRun> runs = nodeRuns(topology, 16);
      double seconds =
          exchangeMovement(RankGroups(runs), topology.collectives, kind, bytes).seconds();
      EXPECT_GE(seconds, before);
      before = seconds;
    }
    before = 0;
    for (int64_t nodes : {2, 8, 32, 128}) {
      topology::Topology topology = p5(nodes);
      std::vector<NodeRun> runs = nodeRuns(topology, 8 * nodes);
      double seconds =
          exchangeMovement(RankGroups(runs), topology.collectives, kind, 1e8).seconds();
      EXPECT_GE(seconds, before);
      before = seconds;
    }
  }
}

TEST(Movement, a_million_ranks_take_no_time_to_price) {
  double seconds[2];
  for (int i : {0, 1}) {
    topology::Topology topology = p5(i == 0 ? 125 : 125000);
    topology.collectives.clear(); // routes alone: the slowest way to a price
    auto started = std::chrono::steady_clock::now();
    Mesh mesh{"m", {{"node", topology.nodeCount()}, {"gpu", 8}}};
    int64_t ranks = mesh.rankCount();
    CostModel model = *CostModel::create(std::move(topology), std::move(mesh));
    double shuffle = model.exchange(ExchangeKind::kHash, 0b11, 1e9).seconds;
    // Almost all bytes leave through the rank's NIC.
    EXPECT_GT(shuffle, 1e9 * (1 - 8.0 / static_cast<double>(ranks)) / (5e10 * 0.84));
    EXPECT_GT(model.collective(CollectiveKind::kAllReduce, 0b10, 1e9).seconds, 0);
    seconds[i] = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  }
  EXPECT_LT(seconds[1], 0.5);
}

} // namespace
} // namespace headrace::cost
