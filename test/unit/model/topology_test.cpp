// Topology files: shipped ones load, every class of mistake is refused with its JSON path.
// Sources: model/topology/parse.cpp, model/topology/parse_device.cpp,
//   model/topology/parse_node.cpp, model/topology/validate.cpp,
//   model/topology/validate_node.cpp, model/topology/json_reader.cpp,
//   model/topology/route_text.cpp, model/topology/open.cpp, model/topology/placement.cpp
#include "model/topology/topology.h"
#include "test/unit/model/small_topology.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

namespace headrace::topology {
namespace {

std::string errorOf(const nlohmann::json &document) {
  Expected<Topology> topology = parseTopology(document.dump());
  EXPECT_FALSE(topology.ok());
  return topology.ok() ? "" : topology.status().message();
}

TEST(Topology, reads_what_the_file_says) {
  Expected<Topology> topology = parseTopology(smallTopology().dump());
  ASSERT_TRUE(topology.ok()) << topology.status().toString();
  EXPECT_EQ(topology->nodeCount(), 2);
  EXPECT_EQ(topology->rankCount(), 4);
  EXPECT_DOUBLE_EQ(topology->deviceTypes.at("cpu-a").memoryBandwidth.value, 5e9);
  EXPECT_DOUBLE_EQ(topology->deviceTypes.at("cpu-a").memoryBandwidth.relativeError, 0.1);
  EXPECT_TRUE(topology->nodeTypes.at("n").findResource("nic")->fullDuplex);
}

TEST(Topology, hash_follows_content_not_layout_of_the_text) {
  nlohmann::json document = smallTopology();
  std::string hash = parseTopology(document.dump())->hash;
  EXPECT_EQ(hash.size(), 32u);
  EXPECT_EQ(parseTopology(document.dump(4))->hash, hash);
  document["fabric"]["tiers"][0]["bw"] = 2e9;
  EXPECT_NE(parseTopology(document.dump())->hash, hash);
}

TEST(Topology, shipped_files_load) {
  std::vector<std::string> names = {"dgx-a100",          "dgx-h100-superpod", "dgx-h100",
                                    "dgx-h200-superpod", "dgx-h200",          "ethernet-fast",
                                    "ethernet-slow",     "gb200-100k",        "gb200-nvl72",
                                    "l40s-pcie",         "mixed-generation",  "p5-2node"};
  EXPECT_EQ(shippedTopologyNames(), names);
  for (const std::string &name : shippedTopologyNames()) {
    Expected<Topology> topology = shippedTopology(name);
    ASSERT_TRUE(topology.ok()) << name << ": " << topology.status().toString();
    EXPECT_EQ(topology->name, name);
  }
  EXPECT_EQ(shippedTopology("p5-2node")->rankCount(), 16);
  EXPECT_EQ(shippedTopology("gb200-nvl72")->rankCount(), 144);
  EXPECT_EQ(shippedTopology("dgx-h200-superpod")->rankCount(), 1024);
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

TEST(Topology, calibrated_figures_are_divided_among_the_ranks_as_assumed_ones_are) {
  Topology calibrated = machineTopology(thisMachine(), thisMachine().cores);
  DeviceType &core = calibrated.deviceTypes.at("slot");
  core.workSeconds["probe"] = 7e-9;
  core.compute["f32"] = Quantity(1e11, 0.1); // of one core
  std::string file = testing::TempDir() + "calibrated-machine.json";
  std::ofstream(file) << formatTopology(calibrated);
  setenv("HEADRACE_CALIBRATION", file.c_str(), 1);
  Expected<Topology> host = hostTopology(2, 8e9);
  setenv("HEADRACE_CALIBRATION", "off", 1);
  ASSERT_TRUE(host.ok()) << host.status().toString();
  const DeviceType &slot = host->deviceTypes.at("slot");
  EXPECT_EQ(slot.workSeconds.at("probe"), 7e-9);
  EXPECT_NEAR(slot.compute.at("f32").value, 1e11 * static_cast<double>(thisMachine().cores) / 2, 1);
  EXPECT_DOUBLE_EQ(slot.capacityBytes, 4e9);
  EXPECT_EQ(host->name, "machine, calibrated");
  EXPECT_NE(host->hash, hostTopology(2, 8e9)->hash);
  EXPECT_EQ(calibrationFile(), "");
}

struct Mistake {
  const char *pointer; ///< what to overwrite (JSON pointer)
  const char *value;   ///< with what; null removes it
  const char *message;
};

class TopologyMistake : public testing::TestWithParam<Mistake> {};

TEST_P(TopologyMistake, is_refused_with_its_path) {
  nlohmann::json document = smallTopology();
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
                "$.schema: unsupported schema: expected topology/1, got topology/9"},
        Mistake{"/units", "\"GiB\"",
                "$.units: unknown units: expected SI (bytes, seconds, bytes per second), got GiB"},
        Mistake{"/colour", "1",
                "$: unknown key: colour; known here: collectives, defaults, device_types, fabric, "
                "groups, instances, name, node_types, schema, sources, units"},
        Mistake{"/name", nullptr, "$: missing key: name"},
        Mistake{"/instances", "[]", "$.instances: a topology needs at least one instance"},
        Mistake{"/instances/0/type", "\"m\"", "$.instances[0].type: unknown node type or group: m"},
        Mistake{"/instances/0/count", "-1",
                "$.instances[0].count: expected an integer from 0 to 2147483648, got -1"},
        Mistake{"/device_types/cpu-a/class", "\"abacus\"",
                "$.device_types.cpu-a.class: class must be cpu, gpu or storage, got abacus"},
        Mistake{"/device_types/cpu-a/mem/capacity", "-5",
                "$.device_types.cpu-a.mem.capacity: must be positive, got -5"},
        Mistake{"/device_types/cpu-a/mem/bw", "\"10 GB/s\"",
                "$.device_types.cpu-a.mem.bw: expected a number in SI units without suffix, got "
                "\"10 GB/s\""},
        Mistake{"/device_types/cpu-a/mem/bw", R"({"v": 1, "unit": "GB/s"})",
                "$.device_types.cpu-a.mem.bw: unknown key: unit; known here: date, eff, kind, "
                "rel_err, src, v"},
        Mistake{"/node_types/n/resources/nic/bw", "0",
                "$.node_types.n.resources.nic.bw: must be positive, got 0"},
        Mistake{
            "/node_types/n/resources/nic/count", "2147483647",
            "$.node_types.n.resources.nic.count: count must be from 1 to 65536, got 2147483647"},
        Mistake{"/node_types/n/resources/nic/bw", "1e300",
                "$.node_types.n.resources.nic.bw: must be at most 1e+24, got 1e+300"},
        Mistake{"/node_types/n/resources/nic/alpha", "-1e-6",
                "$.node_types.n.resources.nic.alpha: must not be negative, got -1e-06"},
        Mistake{"/node_types/n/resources/nic/per", "\"cpu\"",
                "$.node_types.n.resources.nic.count: per cpu/1 there are 2, got 1"},
        Mistake{"/node_types/n/resources/nic/members", "[\"disk\"]",
                "$.node_types.n.resources.nic.members[0]: unknown resource or device group: disk"},
        Mistake{"/node_types/n/resources/bus/bidir_total", "1e9",
                "$.node_types.n.resources.bus.bidir_total: bidir_total needs duplex full"},
        Mistake{
            "/node_types/n/resources/nic/sharing", "\"maybe\"",
            "$.node_types.n.resources.nic.sharing: sharing must be shared or fatpipe, got maybe"},
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
        Mistake{"/node_types/n/routes/1/via/1", "\"bus\"",
                "$.node_types.n.routes[1].via[1]: cycle: the route was here already: bus"},
        Mistake{"/node_types/n/routes/1/to", "\"cpu[j].host\"",
                "$.node_types.n.routes[1]: route appears twice: from cpu[i].host to cpu[j].host"},
        Mistake{"/node_types/n/tiers", R"([{"tier": "host", "of": "gpu"}])",
                "$.node_types.n.tiers[0].of: unknown device group: gpu"},
        Mistake{"/node_types/n/tiers", R"([{"tier": "host", "of": "cpu", "capacity": 1e12}])",
                "$.node_types.n.tiers[0].capacity: more than the devices have: cpu"},
        Mistake{"/node_types/n/tiers",
                R"([{"tier": "host", "of": "cpu"}, {"tier": "pinned", "of": "cpu"}])",
                "$.node_types.n.tiers[1]: tiers go from device over pinned and host to file, once "
                "each, got pinned"},
        Mistake{"/node_types/n/tiers", R"([{"tier": "file", "of": "cpu"}])",
                "$.node_types.n.tiers[0]: only storage holds files, got file of cpu"},
        Mistake{"/groups", R"({"a": {"members": [["b", 1]]}, "b": {"members": [["a", 1]]}})",
                "$.groups.b.members[0]: cycle: the group contains itself: a"},
        Mistake{"/groups", R"({"n": {"members": [["n", 1]]}})",
                "$.groups.n: a node type has this name already"},
        Mistake{"/groups", R"({"a": {"members": [["n", 1048576], ["n", 1]]}})",
                "$.groups.a.members[1]: more than 1048576 nodes are not supported"},
        Mistake{"/instances/0/count", "1048576",
                "$.instances: more than 1048576 ranks are not supported"},
        Mistake{"/groups", R"({"a": {"members": []}})",
                "$.groups.a.members: a group needs at least one member"},
        Mistake{"/groups", R"({"a": {"members": [["n", 1]], "failure_domain": "town"}})",
                "$.groups.a.failure_domain: failure_domain must be rack or power, got town"},
        Mistake{"/instances/1", R"({"type": "n"})", "$.instances[1].name: name appears twice: n"},
        Mistake{"/defaults", R"({"rel_err": -1})",
                "$.defaults.rel_err: rel_err must be from 0 to 2 (0.05 is 5 %), got -1"},
        Mistake{"/device_types/cpu-a/mem/bw", R"({"v": 1e10, "kind": "rumour"})",
                "$.device_types.cpu-a.mem.bw.kind: kind must be assumed, datasheet, measured or "
                "fitted, "
                "got rumour"},
        Mistake{"/device_types/cpu-a/mem/bw", R"({"v": 1e10, "src": "book"})",
                "$.device_types.cpu-a.mem.bw.src: unknown source, add it to $.sources: book"},
        Mistake{"/device_types/cpu-a/mem/bw", R"({"v": 1e10, "date": "today"})",
                "$.device_types.cpu-a.mem.bw.date: date must be a year, month or day such as "
                "2025-08-21, got today"},
        Mistake{"/device_types/cpu-a/mem/bw", R"({"v": 1e10, "eff": 1.5})",
                "$.device_types.cpu-a.mem.bw.eff: eff must be above 0 and at most 1.2, got 1.5"},
        Mistake{"/device_types/cpu-a/codecs", R"({"lz4": {"ratio": 0.5, "enc": 1, "dec": 1}})",
                "$.device_types.cpu-a.codecs.lz4.ratio: ratio must be at least 1 (bytes before / "
                "after), "
                "got 0.5"},
        Mistake{
            "/fabric/kind", "\"string\"",
            "$.fabric.kind: kind must be switch, fat-tree, rail-optimized, dragonfly or torus, got "
            "string"},
        Mistake{"/node_types/n/routes/0/to", "\"cpu[j].hbm\"",
                "$.node_types.n.routes[0].to: unknown memory space: cpu-a has host, got hbm"},
        Mistake{
            "/node_types/n/routes/0/to", "\"cpu\"",
            "$.node_types.n.routes[0].to: expected an endpoint such as gpu[i].hbm, host or net, "
            "got cpu"},
        Mistake{"/node_types/n/routes/0/to", "\"gpu[i].hbm\"",
                "$.node_types.n.routes[0].to: unknown device group: gpu"},
        Mistake{"/node_types/n/routes/0/to", "\"cpu[x].host\"",
                "$.node_types.n.routes[0].to: expected an index i, j or a number, got x"},
        Mistake{"/node_types/n/routes/0/via/0", "\"bus[\"",
                "$.node_types.n.routes[0].via[0]: expected a hop such as nvl[i].out or dram, got "
                "bus["},
        Mistake{"/node_types/n/routes/0/via/0", "\"bus.left\"",
                "$.node_types.n.routes[0].via[0]: expected a direction in, out, up, down, read or "
                "write, got left"},
        Mistake{"/node_types/n/routes/0/via/0", "\"cpu\"",
                "$.node_types.n.routes[0].via[0]: only a storage device can be a hop, got cpu"},
        Mistake{"/node_types/n/routes/0/via/0", "\"bus.read\"",
                "$.node_types.n.routes[0].via[0]: .read and .write are for storage, got bus"},
        Mistake{"/node_types/n/resources/cpu", R"({"bw": 1})",
                "$.node_types.n.resources.cpu: a device group has this name already"},
        Mistake{"/node_types/n/resources/bus/per", "\"cpu/none\"",
                "$.node_types.n.resources.bus.per: expected a device group, as gpu or gpu/2, got "
                "cpu/none"},
        Mistake{"/device_types/cpu-a/mem/random_gather", "[7]",
                "$.device_types.cpu-a.mem.random_gather[0]: expected [working set bytes, bytes per "
                "second]"},
        Mistake{"/device_types/cpu-a/mem/random_gather", "[[100, 1e9], [50, 1e9]]",
                "$.device_types.cpu-a.mem.random_gather[1]: expected ascending working sets of at "
                "least "
                "1 byte, got 50"},
        Mistake{"/device_types/cpu-a/mem/space", "\"host.far\"",
                "$.device_types.cpu-a.mem: a name has letters, digits, - and _ only, got "
                "host.far"},
        Mistake{
            "/groups", R"({"a": {"members": [["n", 0]]}})",
            "$.groups.a.members[0]: expected [node type or group, count from 1 to 1048576], got "
            "an array of 2"},
        Mistake{"/fabric/tiers", "[]",
                "$.fabric: a fabric needs 1 to 16 tiers and at least one rail"},
        Mistake{"/fabric", nullptr, "$: several nodes need a fabric"},
        Mistake{"/fabric/tiers/0/oversub", "0.5",
                "$.fabric.tiers[0].oversub: oversub must be at least 1, got 0.5"},
        Mistake{"/collectives", R"([{"op": "all_smile", "level": "net", "B": 1}])",
                "$.collectives[0].op: unknown collective: all_smile"},
        Mistake{"/collectives", R"([{"op": "all_reduce", "level": "net"}])",
                "$.collectives[0]: needs one of B, B_alg and B_tree"},
        Mistake{"/collectives", R"([{"op": "all_reduce", "level": "attic", "B": 1}])",
                "$.collectives[0].level: level must be node, net or a domain of a node type, got "
                "attic"}));

std::string nestedGroups(int64_t count) {
  std::string text = R"({"schema": "topology/1", "name": "deep", "device_types": {"c": {"class":
      "cpu", "mem": {"space": "host", "capacity": 1e9, "bw": 1e9}}}, "node_types": {"g0":
      {"devices": {"cpu": ["c", 1]}}}, "groups": {)";
  for (int64_t i = 1; i <= count; ++i) {
    std::string inner = std::to_string(i - 1);
    text += (i == 1 ? "" : ",") + ("\"g" + std::to_string(i) + "\":{\"members\":[[\"g") + inner +
            "\",1]]}";
  }
  return text + R"(}, "instances": [{"type": "g)" + std::to_string(count) + "\"}]}";
}

TEST(Topology, templates_nest_sixteen_deep_and_no_deeper) {
  Expected<Topology> deep = parseTopology(nestedGroups(16));
  ASSERT_TRUE(deep.ok()) << deep.status().message();
  EXPECT_EQ(deep->nodeCount(), 1);
  EXPECT_EQ(parseTopology(nestedGroups(17)).status().message(),
            "$.groups.g17: groups nest more than 16 deep: g17");
}

// A million of them are refused while the text is read, before anything is kept of them.
TEST(Topology, a_million_templates_are_refused) {
  EXPECT_EQ(parseTopology(nestedGroups(1000000)).status().message(),
            "$: more than 16777216 bytes are not supported; use templates (groups), which nest at "
            "most 16 deep, got 37778037");
  EXPECT_EQ(parseTopology(nestedGroups(100000)).status().message(),
            "$.groups.g52426.members[0]: more than 262144 values are not supported; use templates "
            "(groups), which nest at most 16 deep");
  EXPECT_EQ(parseTopology(nestedGroups(1025)).status().message(),
            "$.groups: more than 1024 groups are not supported, got 1025");
}

// 2^40 nodes in 40 lines; and alternating types, whose runs double with every level.
TEST(Topology, templates_that_explode_are_refused) {
  nlohmann::json document = smallTopology();
  document["node_types"]["m"] = document["node_types"]["n"];
  for (bool alternating : {false, true}) {
    nlohmann::json &groups = document["groups"] = nlohmann::json::object();
    for (char level = 'A'; level < 'P'; ++level) {
      std::string inner = level == 'A' ? "n" : std::string(1, static_cast<char>(level - 1));
      std::string other = alternating ? "m" : inner;
      groups[std::string(1, level)]["members"] =
          nlohmann::json::array({nlohmann::json::array({inner, alternating ? 2 : 16}),
                                 nlohmann::json::array({other, 16})});
    }
    std::string message = errorOf(document);
    ASSERT_NE(message.find(": more"), std::string::npos) << message;
    EXPECT_EQ(message.substr(message.find(": more")),
              alternating ? ": more than 4096 changes of node type are not supported"
                          : ": more than 1048576 nodes are not supported");
  }
}

TEST(Topology, more_resources_than_a_model_can_hold_are_refused) {
  nlohmann::json document = smallTopology();
  document["instances"][0]["count"] = 500000;
  document["node_types"]["n"]["resources"]["nic"]["count"] = 9;
  EXPECT_EQ(errorOf(document), "$.instances: more than 4194304 resources are not supported");
}

TEST(Topology, lists_have_bounds) {
  nlohmann::json hops = smallTopology();
  hops["node_types"]["n"]["routes"][0]["via"] = std::vector<std::string>(1000, "bus");
  EXPECT_EQ(errorOf(hops), "$.node_types.n.routes[0].via[64]: more than 64 hops are not supported");
  nlohmann::json routes = smallTopology();
  for (int i = 0; i < 5000; ++i) {
    routes["node_types"]["n"]["routes"].push_back(routes["node_types"]["n"]["routes"][0]);
  }
  EXPECT_EQ(errorOf(routes),
            "$.node_types.n.routes[4096]: more than 4096 routes are not supported");
  for (const char *kind : {"device_types", "node_types"}) {
    nlohmann::json types = smallTopology();
    nlohmann::json first = *types[kind].begin();
    for (int i = 0; i < 1024; ++i) {
      types[kind]["t" + std::to_string(i)] = first;
    }
    EXPECT_EQ(errorOf(types), std::string("$.") + kind + ": more than 1024 are not supported");
  }
}

TEST(Topology, a_node_needs_a_processor) {
  nlohmann::json document = smallTopology();
  document["node_types"]["n"] = {{"devices", nlohmann::json::object()}};
  EXPECT_EQ(errorOf(document), "$.node_types.n.devices: a node needs at least one cpu or gpu");
}

TEST(Topology, a_file_that_is_not_there) {
  EXPECT_EQ(readTopologyFile("/no/such.json").status().message(),
            "cannot open topology file: /no/such.json");
}

TEST(Topology, deep_brackets_are_refused) {
  std::string deep = std::string(1000000, '[') + std::string(1000000, ']');
  std::string path = "$";
  for (int i = 0; i < 32; ++i) {
    path += "[0]";
  }
  EXPECT_EQ(parseTopology(deep).status().message(),
            path + ": more than 32 levels of brackets are not supported");
  nlohmann::json document = smallTopology();
  document["device_types"]["cpu-a"]["mem"]["capacity"] = nlohmann::json::parse("[[[[1]]]]");
  EXPECT_EQ(errorOf(document), "$.device_types.cpu-a.mem.capacity: expected a number in SI units "
                               "without suffix, got an array of 1");
}

TEST(Topology, names_that_stand_twice_are_refused) {
  EXPECT_EQ(
      parseTopology(R"({"schema": "topology/1", "name": "a", "name": "b"})").status().message(),
      "$: name appears twice: name");
  EXPECT_EQ(
      parseTopology(R"({"instances": [{}, {"a": {"b": 1, "c": 2, "b": 3}}]})").status().message(),
      "$.instances[1].a: name appears twice: b");
  EXPECT_EQ(parseTopology("{\"" + std::string(129, 'x') + "\": 1}").status().message(),
            "$: names of more than 128 bytes are not supported, got 129");
}

TEST(Topology, a_tier_needs_a_route_to_the_next) {
  nlohmann::json document = smallTopology();
  document["device_types"]["disk"] = nlohmann::json::parse(
      R"({"class": "storage", "space": "nvme", "capacity": 1e12, "read": {"bw": 1e9}, "write":
          {"bw": 1e9}})");
  nlohmann::json &node = document["node_types"]["n"];
  node["devices"]["ssd"] = {"disk", 1};
  node["tiers"] = nlohmann::json::parse(
      R"([{"tier": "host", "of": "cpu"}, {"tier": "file", "of": "ssd", "capacity": 5e11}])");
  EXPECT_EQ(errorOf(document), "$.node_types.n.routes: no route from cpu[i].host to ssd[j].nvme");
  node["routes"].push_back(nlohmann::json::parse(
      R"({"from": "host", "to": "ssd[j].nvme", "via": ["bus", "ssd[j].write"]})"));
  Expected<Topology> topology = parseTopology(document.dump());
  ASSERT_TRUE(topology.ok()) << topology.status().message();
  std::vector<MemoryTier> tiers = memoryTiers(*topology, topology->nodeTypes.at("n"));
  ASSERT_EQ(tiers.size(), 2u);
  EXPECT_DOUBLE_EQ(tiers[0].capacityBytes, 2e9);
  EXPECT_EQ(tiers[1].space, "nvme");
  EXPECT_DOUBLE_EQ(tiers[1].capacityBytes, 5e11);
}

TEST(Topology, a_figure_keeps_where_it_comes_from) {
  nlohmann::json document = smallTopology();
  document["sources"]["book"] = {{"ref", "a book"}, {"date", "2024-05"}};
  document["defaults"] = {{"rel_err", 0.3}, {"kind", "datasheet"}, {"src", "book"}};
  document["device_types"]["cpu-a"]["mem"]["bw"] = {
      {"v", 4e10}, {"eff", 0.5}, {"kind", "measured"}, {"date", "2026-11-21"}, {"rel_err", 0.02}};
  Expected<Topology> topology = parseTopology(document.dump());
  ASSERT_TRUE(topology.ok()) << topology.status().message();
  const DeviceType &type = topology->deviceTypes.at("cpu-a");
  EXPECT_DOUBLE_EQ(type.memoryBandwidth, 2e10);
  EXPECT_DOUBLE_EQ(type.memoryBandwidth.nominal, 4e10);
  EXPECT_EQ(type.memoryBandwidth.provenance, (Provenance{Origin::kMeasured, "book", "2026-11-21"}));
  EXPECT_DOUBLE_EQ(type.totalBytes.relativeError, 0.3);
  EXPECT_EQ(type.totalBytes.provenance, (Provenance{Origin::kDatasheet, "book", ""}));
}

TEST(Topology, codecs_count_cores) {
  nlohmann::json document = smallTopology();
  document["device_types"]["cpu-a"]["codecs"] = nlohmann::json::parse(
      R"({"lz4": {"ratio": 2, "enc": 5e8, "dec": 2e9, "per": "core"},
          "engine": {"enc": 1e9, "dec": 3e9}})");
  Expected<Topology> topology = parseTopology(document.dump());
  ASSERT_TRUE(topology.ok()) << topology.status().message();
  const DeviceType &type = topology->deviceTypes.at("cpu-a");
  ASSERT_EQ(type.codecs.size(), 2u);
  EXPECT_EQ(type.codecs[0].name, "engine");
  EXPECT_DOUBLE_EQ(type.codecs[0].decompressBytesPerSecond, 3e9);
  EXPECT_DOUBLE_EQ(type.codecs[0].ratio, 2);
  EXPECT_DOUBLE_EQ(type.codecs[1].compressBytesPerSecond, 2e9);
  EXPECT_DOUBLE_EQ(type.codecs[1].decompressBytesPerSecond, 8e9);
}

TEST(Topology, a_hundred_thousand_gpus_take_a_few_kilobytes) {
  Expected<Topology> topology = shippedTopology("gb200-100k");
  ASSERT_TRUE(topology.ok()) << topology.status().message();
  EXPECT_EQ(topology->rankCount(), 100800);
  EXPECT_EQ(topology->instances.size(), 1u);
  EXPECT_LT(formatTopology(*topology).size(), 8192u);
}

TEST(Topology, failure_domains_follow_the_templates) {
  nlohmann::json document = smallTopology();
  document["node_types"]["m"] = document["node_types"]["n"];
  document["groups"] = nlohmann::json::parse(
      R"({"rack": {"members": [["n", 2], ["m", 1]], "failure_domain": "rack"},
          "row": {"members": [["rack", 3], ["n", 1]], "failure_domain": "power"}})");
  document["instances"] =
      nlohmann::json::parse(R"([{"type": "row", "count": 2}, {"type": "n", "count": 3}])");
  Expected<Topology> read = parseTopology(document.dump());
  ASSERT_TRUE(read.ok()) << read.status().message();
  const Topology &topology = *read;
  EXPECT_EQ(topology.nodeCount(), 2 * 10 + 3);
  EXPECT_EQ(failureDomainCount(topology, FailureLevel::kDevice), 2 * 23);
  EXPECT_EQ(failureDomainCount(topology, FailureLevel::kNode), 23);
  EXPECT_EQ(failureDomainCount(topology, FailureLevel::kRack), 2 * 4 + 3);
  EXPECT_EQ(failureDomainCount(topology, FailureLevel::kPower), 2 + 3);
  std::vector<int64_t> racks;
  std::vector<int64_t> rows;
  for (int64_t node = 0; node < topology.nodeCount(); ++node) {
    racks.push_back(failureDomainOf(topology, FailureLevel::kRack, node));
    rows.push_back(failureDomainOf(topology, FailureLevel::kPower, node));
  }
  EXPECT_EQ(racks, (std::vector<int64_t>{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 4, 4,
                                         4, 5, 5, 5, 6, 6, 6, 7, 8, 9, 10}));
  EXPECT_EQ(rows, (std::vector<int64_t>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1,
                                        1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 4}));
}

// Whatever a file says is in the struct, and whatever is in the struct is written.
TEST(Topology, what_is_written_reads_back_the_same) {
  std::vector<Topology> topologies = {machineTopology({8, 64e9}, 4)};
  for (const std::string &name : shippedTopologyNames()) {
    topologies.push_back(*shippedTopology(name));
  }
  for (const Topology &topology : topologies) {
    std::string text = formatTopology(topology);
    Expected<Topology> again = parseTopology(text);
    ASSERT_TRUE(again.ok()) << topology.name << ": " << again.status().message() << "\n" << text;
    EXPECT_EQ(formatTopology(*again), text);
    EXPECT_EQ(again->hash, topology.hash);
    EXPECT_EQ(again->rankCount(), topology.rankCount());
  }
}

} // namespace
} // namespace headrace::topology
