// Topology files: shipped ones load, every class of mistake is refused with its JSON path.
#include "runtime/model/topology/topology.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace headrace::topology {
namespace {

nlohmann::json smallDocument() {
  return nlohmann::json::parse(R"({
    "schema": "topology/1", "name": "small", "units": "SI",
    "device_types": {"cpu-a": {"class": "cpu", "cores": 4,
        "mem": {"space": "host", "capacity": 1e9, "bw": {"v": 1e10, "eff": 0.5, "rel_err": 0.1}}}},
    "node_types": {"n": {"devices": {"cpu": ["cpu-a", 2]},
        "resources": {"nic": {"bw": 1e9, "alpha": 1e-5, "duplex": "full"}, "bus": {"bw": 2e9}},
        "routes": [{"from": "cpu[i].host", "to": "cpu[j].host", "via": ["bus"]},
                   {"from": "cpu[i].host", "to": "net", "via": ["bus", "nic[0].out"]}]}},
    "fabric": {"kind": "switch", "tiers": [{"bw": 1e9}]},
    "instances": [{"type": "n", "count": 2}]
  })");
}

std::string errorOf(const nlohmann::json &document) {
  Expected<Topology> topology = parseTopology(document.dump());
  EXPECT_FALSE(topology.ok());
  return topology.ok() ? "" : topology.status().message();
}

TEST(Topology, reads_what_the_file_says) {
  Expected<Topology> topology = parseTopology(smallDocument().dump());
  ASSERT_TRUE(topology.ok()) << topology.status().toString();
  EXPECT_EQ(topology->nodeCount(), 2);
  EXPECT_EQ(topology->rankCount(), 4);
  EXPECT_DOUBLE_EQ(topology->deviceTypes.at("cpu-a").memoryBandwidth.value, 5e9);
  EXPECT_DOUBLE_EQ(topology->deviceTypes.at("cpu-a").memoryBandwidth.relativeError, 0.1);
  EXPECT_TRUE(topology->nodeTypes.at("n").findResource("nic")->fullDuplex);
}

TEST(Topology, hash_follows_content_not_layout_of_the_text) {
  nlohmann::json document = smallDocument();
  std::string hash = parseTopology(document.dump())->hash;
  EXPECT_EQ(hash.size(), 32u);
  EXPECT_EQ(parseTopology(document.dump(4))->hash, hash);
  document["fabric"]["tiers"][0]["bw"] = 2e9;
  EXPECT_NE(parseTopology(document.dump())->hash, hash);
}

TEST(Topology, shipped_files_load) {
  std::vector<std::string> names = {"dgx-a100",      "dgx-h100",         "dgx-h200",
                                    "ethernet-fast", "ethernet-slow",    "gb200-nvl72",
                                    "l40s-pcie",     "mixed-generation", "p5-2node"};
  EXPECT_EQ(shippedTopologyNames(), names);
  for (const std::string &name : shippedTopologyNames()) {
    Expected<Topology> topology = shippedTopology(name);
    ASSERT_TRUE(topology.ok()) << name << ": " << topology.status().toString();
    EXPECT_EQ(topology->name, name);
  }
  EXPECT_EQ(shippedTopology("p5-2node")->rankCount(), 16);
  EXPECT_EQ(shippedTopology("gb200-nvl72")->rankCount(), 144);
  EXPECT_EQ(shippedTopology("nowhere").status().message(), "unknown shipped topology: nowhere");
}

TEST(Topology, machine_divides_cores_and_memory) {
  Topology topology = machineTopology({8, 64e9}, 4);
  EXPECT_EQ(topology.rankCount(), 4);
  EXPECT_EQ(topology.deviceTypes.at("slot").cores, 2);
  EXPECT_DOUBLE_EQ(topology.deviceTypes.at("slot").capacityBytes, 16e9);
  EXPECT_NE(topology.hash, machineTopology({8, 64e9}, 2).hash);
  EXPECT_GE(thisMachine().cores, 1);
  EXPECT_GT(thisMachine().memoryBytes, 1e8);
}

struct Mistake {
  const char *pointer; ///< what to overwrite (JSON pointer)
  const char *value;   ///< with what; null removes it
  const char *message;
};

class TopologyMistake : public testing::TestWithParam<Mistake> {};

TEST_P(TopologyMistake, is_refused_with_its_path) {
  nlohmann::json document = smallDocument();
  nlohmann::json::json_pointer pointer(GetParam().pointer);
  if (GetParam().value) {
    document[pointer] = nlohmann::json::parse(GetParam().value);
  } else {
    nlohmann::json &parent = document[pointer.parent_pointer()];
    if (parent.is_array()) {
      parent.erase(std::stoul(pointer.back()));
    } else {
      parent.erase(pointer.back());
    }
  }
  EXPECT_EQ(errorOf(document), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    all, TopologyMistake,
    testing::Values(
        Mistake{"/schema", "\"topology/9\"",
                "$: unsupported schema: expected topology/1, got topology/9"},
        Mistake{"/units", "\"GiB\"",
                "$: unknown units: expected SI (bytes, seconds, bytes per second), got GiB"},
        Mistake{"/colour", "1", "$: unknown key: colour"},
        Mistake{"/name", nullptr, "$: missing key: name"},
        Mistake{"/instances", "[]", "$.instances: a topology needs at least one instance"},
        Mistake{"/instances/0/type", "\"m\"", "$.instances[0].type: unknown node type: m"},
        Mistake{"/instances/0/count", "-1",
                "$.instances[0].count: expected an integer from 0 to 2147483648, got -1"},
        Mistake{"/device_types/cpu-a/class", "\"abacus\"",
                "$.device_types.cpu-a: class must be cpu, gpu or storage, got abacus"},
        Mistake{"/device_types/cpu-a/mem/capacity", "-5",
                "$.device_types.cpu-a.mem: capacity must not be negative, got -5"},
        Mistake{"/device_types/cpu-a/mem/bw", "\"10 GB/s\"",
                "$.device_types.cpu-a.mem.bw: expected a number in SI units without suffix, got "
                "\"10 GB/s\""},
        Mistake{"/device_types/cpu-a/mem/bw", R"({"v": 1, "unit": "GB/s"})",
                "$.device_types.cpu-a.mem.bw: unknown key: unit"},
        Mistake{"/node_types/n/resources/nic/bw", "0",
                "$.node_types.n.resources.nic.bw: bandwidth must be positive, got 0"},
        Mistake{"/node_types/n/resources/nic/count", "2147483647",
                "$.node_types.n.resources.nic: count must be from 1 to 65536, got 2147483647"},
        Mistake{"/node_types/n/resources/nic/sharing", "\"maybe\"",
                "$.node_types.n.resources.nic: sharing must be shared or fatpipe, got maybe"},
        Mistake{"/node_types/n/devices/cpu", R"(["cpu-b", 2])",
                "$.node_types.n.devices.cpu: unknown device type: cpu-b"},
        Mistake{"/node_types/n/devices/cpu", "3",
                "$.node_types.n.devices.cpu: expected [device type, count from 1 to 65536], got 3"},
        Mistake{"/node_types/n/routes/0", nullptr,
                "$.node_types.n.routes: no route from cpu[i].host to cpu[j].host"},
        Mistake{"/node_types/n/routes/1", nullptr,
                "$.node_types.n.routes: no route from cpu[i].host to net"},
        Mistake{"/node_types/n/routes/1/via/1", "\"nic[0]\"",
                "$.node_types.n.routes[1].via[1]: a full duplex resource needs .in or .out: nic"},
        Mistake{"/node_types/n/routes/1/via/1", "\"nic[i].out\"",
                "$.node_types.n.routes[1].via[1]: index out of range: nic has 1"},
        Mistake{"/node_types/n/routes/1/via/0", "\"train\"",
                "$.node_types.n.routes[1].via[0]: unknown resource: train"},
        Mistake{"/node_types/n/routes/1/via/0", "\"bus[x]\"",
                "$.node_types.n.routes[1].via[0]: expected an index i, j, i/2 or a number, got x"},
        Mistake{"/node_types/n/routes/0/to", "\"cpu[j].hbm\"",
                "$.node_types.n.routes[0]: unknown memory space: cpu-a has host, got hbm"},
        Mistake{"/fabric", nullptr, "$: several nodes need a fabric"},
        Mistake{"/fabric/tiers/0/oversub", "0.5",
                "$.fabric.tiers[0]: oversub must be at least 1, got 0.5"},
        Mistake{"/collectives", R"([{"op": "all_smile", "level": "net", "B": 1}])",
                "$.collectives[0]: unknown collective: all_smile"}));

TEST(Topology, syntax_errors_name_the_byte) {
  EXPECT_EQ(parseTopology("{\"schema\": ").status().message(), "not valid JSON near byte 12");
  EXPECT_FALSE(parseTopology("").ok());
  EXPECT_FALSE(parseTopology("[]").ok());
  EXPECT_FALSE(parseTopology("{\"schema\": 1e999}").ok());
}

} // namespace
} // namespace headrace::topology
