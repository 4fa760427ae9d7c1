// What no topology may say: text that is not JSON, numbers and names that mean nothing, routes that
// lead nowhere. Each is refused with its place.
// Sources: model/topology/json_text.cpp, model/topology/figure.cpp
#include "model/topology/topology.h"
#include "test/unit/model/small_topology.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace headrace::topology {
namespace {

std::string errorOf(const std::string &text) {
  Expected<Topology> topology = parseTopology(text);
  EXPECT_FALSE(topology.ok()) << text;
  return topology.ok() ? "" : topology.status().message();
}

/// The small topology with one value replaced.
std::string errorWith(const char *pointer, const nlohmann::json &value) {
  nlohmann::json document = smallTopology();
  document[nlohmann::json::json_pointer(pointer)] = value;
  return errorOf(document.dump());
}

TEST(TopologyText, syntax_errors_name_line_column_and_word) {
  EXPECT_EQ(errorOf(""), "line 1, column 1: not valid JSON: the text ends too early");
  EXPECT_EQ(errorOf("{\"schema\": "), "line 1, column 12: not valid JSON: the text ends too early");
  EXPECT_EQ(errorOf("{\"a\": 1,\n  \"b\": NaN}"), "line 2, column 8: not valid JSON, got \"NaN\"");
  EXPECT_EQ(errorOf("{\n\n \"a\": 1e999}"), "line 3, column 7: not valid JSON, got \"1e999\"");
  EXPECT_EQ(errorOf("{\"a\": }"), "line 1, column 7: not valid JSON, got \"}\"");
  EXPECT_EQ(errorOf("{\"a\": 1\n,}"), "line 2, column 2: not valid JSON, got \"}\"");
  EXPECT_EQ(errorOf("{\"a\": \xfe}"), "line 1, column 7: not valid JSON, got \"\\ufffd\"");
  EXPECT_EQ(errorOf("[]"), "$: expected an object, got array");
}

TEST(TopologyText, figures_dates_and_names_that_mean_nothing_are_refused) {
  const char *const kBandwidth = "/device_types/cpu-a/mem/bw";
  const std::string date = "$.device_types.cpu-a.mem.bw.date: date must be a year, month or day "
                           "such as 2025-08-21, got ";
  for (const char *wrong : {"2025-13-45", "2025-00", "2025-12-32", "2025-1-1"}) {
    EXPECT_EQ(errorWith(kBandwidth, {{"v", 1}, {"date", wrong}}), date + wrong);
  }
  EXPECT_EQ(
      errorWith(kBandwidth, {{"v", 1}, {"rel_err", 50}}),
      "$.device_types.cpu-a.mem.bw.rel_err: rel_err must be from 0 to 2 (0.05 is 5 %), got 50");
  EXPECT_EQ(errorWith(kBandwidth, 1e-300),
            "$.device_types.cpu-a.mem.bw: must be at least 1e-24, got 1e-300");
  EXPECT_EQ(errorWith("/name", ""), "$.name: a topology needs a name");
  EXPECT_EQ(errorWith("/instances/0/name", ""), "$.instances[0].name: an instance needs a name");
  EXPECT_EQ(errorWith("/name", "\x1b[31mred"),
            "$.name: control characters are not supported, got \"\\u001b[31mred\"");
  EXPECT_EQ(errorWith("/groups", {{"\x1b[2J", {{"members", {{"n", 1}}}}}}),
            "$.groups: a name needs letters, and no control characters, got \"\\u001b[2J\"");
  EXPECT_EQ(errorWith("/groups", {{"", {{"members", {{"n", 1}}}}}}),
            "$.groups: a name needs letters, and no control characters, got \"\"");
}

TEST(TopologyText, counts_may_be_written_as_json_schema_allows) {
  nlohmann::json document = smallTopology();
  document["device_types"]["cpu-a"]["cores"] = 16.0;
  document["instances"][0]["count"] = 2.0;
  document["node_types"]["n"]["devices"]["cpu"][1] = 2.0;
  Expected<Topology> topology = parseTopology(document.dump());
  ASSERT_TRUE(topology.ok()) << topology.status().message();
  EXPECT_EQ(topology->deviceTypes.at("cpu-a").cores, 16);
  EXPECT_EQ(topology->rankCount(), 4);
  EXPECT_EQ(errorWith("/device_types/cpu-a/cores", 1.5),
            "$.device_types.cpu-a.cores: expected an integer from 0 to 2147483648, got 1.5");
  EXPECT_EQ(errorWith("/device_types/cpu-a/cores", 0),
            "$.device_types.cpu-a.cores: cores must be at least 1, got 0");
}

TEST(TopologyText, routes_that_lead_nowhere_are_refused) {
  EXPECT_EQ(errorWith("/node_types/n/routes/1/via", nlohmann::json::array()),
            "$.node_types.n.routes[1].via: a route passes at least one resource, got none");
  EXPECT_EQ(errorWith("/node_types/n/routes/1/via/1", "nic[0].in"),
            "$.node_types.n.routes[1].via[1]: the way to net goes .out (or .up), got nic.in");
  EXPECT_EQ(errorWith("/node_types/n/routes/2",
                      {{"from", "net"}, {"to", "cpu[i].host"}, {"via", {"nic.in"}}}),
            "$.node_types.n.routes[2].from: a route begins at a memory, write it the other way "
            "round: net");
  EXPECT_EQ(errorWith("/node_types/n/routes/0/from", "cpu[x].host"),
            "$.node_types.n.routes[0].from: expected an index i, j or a number, got x");
  EXPECT_EQ(errorWith("/node_types/n/routes/2",
                      {{"from", "cpu[2].host"}, {"to", "cpu[0].host"}, {"via", {"bus"}}}),
            "$.node_types.n.routes[2].from: index out of range: cpu has 2");
}

TEST(TopologyText, a_name_that_is_none_lists_those_that_are) {
  std::string message = openTopology("gb200", 1).status().message();
  EXPECT_NE(message.find("no such topology: expected a file, or one of dgx-a100, "),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("gb200-nvl72, "), std::string::npos) << message;
  EXPECT_NE(message.find(", machine; got gb200"), std::string::npos) << message;
}

} // namespace
} // namespace headrace::topology
