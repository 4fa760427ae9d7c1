// Which links a path takes: by the pattern of a route, or by the route of one pair.
#include "model/cost/network.h"
#include "test/unit/model/small_topology.h"

#include <gtest/gtest.h>

namespace headrace::cost {
namespace {

std::vector<std::string> linksOf(const Network &network, int64_t source, int64_t target) {
  std::vector<std::string> names;
  for (int32_t link : network.path(source, target).links) {
    names.push_back(network.links()[link].name());
  }
  return names;
}

using Names = std::vector<std::string>;

/// Three CPUs on a bus; the first two have links of their own, and the last its own way out.
topology::Topology withRoutesOfPairs() {
  nlohmann::json document = topology::smallTopology();
  nlohmann::json &node = document["node_types"]["n"];
  node["devices"]["cpu"][1] = 3;
  node["resources"]["link"] = {{"count", 2}, {"bw", 1e10}, {"alpha", 1e-6}, {"duplex", "full"}};
  node["resources"]["exit"] = {{"bw", 1e9}};
  node["routes"].push_back(
      {{"from", "cpu[0].host"}, {"to", "cpu[1].host"}, {"via", {"link[i].out", "link[j].in"}}});
  node["routes"].push_back({{"from", "cpu[2].host"}, {"to", "net"}, {"via", {"exit"}}});
  Expected<topology::Topology> read = topology::parseTopology(document.dump());
  EXPECT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(topology::parseTopology(topology::formatTopology(*read))->hash, read->hash);
  return *read;
}

TEST(Network, the_route_of_one_pair_goes_before_the_pattern_and_serves_both_ways) {
  topology::Topology topology = withRoutesOfPairs();
  Network network(topology, 6);
  EXPECT_EQ(linksOf(network, 0, 1), (Names{"link[0].out", "link[1].in"}));
  EXPECT_EQ(linksOf(network, 1, 0), (Names{"link[1].out", "link[0].in"}));
  EXPECT_DOUBLE_EQ(network.path(1, 0).latencySeconds, 2e-6);
  EXPECT_EQ(linksOf(network, 0, 2), (Names{"bus[0]"}));
  EXPECT_EQ(linksOf(network, 2, 1), (Names{"bus[0]"}));
}

TEST(Network, one_device_may_leave_its_node_another_way) {
  topology::Topology topology = withRoutesOfPairs();
  Network network(topology, 6);
  EXPECT_EQ(linksOf(network, 0, 3),
            (Names{"bus[0]", "nic[0].out", "fabric.out", "fabric.in", "bus[0]", "nic[0].in"}));
  EXPECT_EQ(linksOf(network, 2, 5), (Names{"exit[0]", "fabric.out", "fabric.in", "exit[0]"}));
}

} // namespace
} // namespace headrace::cost
