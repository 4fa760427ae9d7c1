// Ranks fill the nodes of a topology one after the other.
#include "model/topology/rank_nodes.h"

#include "model/cost/node_run.h"
#include "test/unit/model/small_topology.h"

#include <gtest/gtest.h>

namespace headrace::topology {
namespace {

/// Two nodes of two ranks, one of three, and two of two again.
Topology mixed() {
  nlohmann::json document = smallTopology();
  document["node_types"]["m"] = document["node_types"]["n"];
  document["node_types"]["m"]["devices"]["cpu"][1] = 3;
  document["instances"] = {{{"type", "n"}, {"count", 2}},
                           {{"type", "m"}, {"count", 1}},
                           {{"type", "n"}, {"name", "more"}, {"count", 2}}};
  return *parseTopology(document.dump());
}

TEST(RankNodes, the_last_node_may_have_fewer) {
  const Topology topology = mixed();
  using Counts = std::vector<int64_t>;
  EXPECT_EQ(ranksOfNodes(topology, 11), (Counts{2, 2, 3, 2, 2}));
  EXPECT_EQ(ranksOfNodes(topology, 6), (Counts{2, 2, 2}));
  EXPECT_EQ(ranksOfNodes(topology, 1), (Counts{1}));
  EXPECT_EQ(ranksOfNodes(topology, 0), (Counts{}));
}

TEST(NodeRun, runs_of_equal_nodes_are_those_nodes) {
  const Topology topology = mixed();
  for (int64_t ranks = 1; ranks <= topology.rankCount(); ++ranks) {
    std::vector<int64_t> nodes;
    int64_t first = 0;
    for (const cost::NodeRun &run : cost::nodeRuns(topology, ranks)) {
      EXPECT_EQ(run.firstRank, first);
      nodes.insert(nodes.end(), static_cast<size_t>(run.nodes), run.ranks);
      first += run.rankCount();
    }
    EXPECT_EQ(nodes, ranksOfNodes(topology, ranks)) << ranks;
  }
}

TEST(NodeRun, weights_are_of_a_rank_and_of_the_fullest) {
  cost::NodeRun run = cost::nodeRuns(mixed(), 2).front();
  EXPECT_EQ(run.weight(cost::Weight::kKeys, 1), 1);
  run.keys = {0.5, 1.5};
  EXPECT_EQ(run.weight(cost::Weight::kKeys, 0), 0.5);
  EXPECT_EQ(run.fullest(cost::Weight::kKeys), 1.5);
  EXPECT_EQ(run.fullest(cost::Weight::kRows), 1);
  EXPECT_EQ(run.fullest(cost::Weight::kEven), 1);
  // Of the links of the pair the first half are a node's: bus, two ways of the card, and the
  // fabric.
  EXPECT_EQ(run.linkCount() * 2, run.network->links().size());
}

} // namespace
} // namespace headrace::topology
