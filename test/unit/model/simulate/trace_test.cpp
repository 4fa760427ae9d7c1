// The trace for Perfetto and the report: a line for everything, ranks that differ apart.
#include "model/simulate/plan_graph.h"
#include "model/simulate/trace.h"
#include "test/unit/model/simulate/shuffle_plan.h"

#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

namespace headrace::simulate {
namespace {

Activity transfer(std::string name, double bytes, std::vector<int32_t> after = {}) {
  Activity activity;
  activity.name = std::move(name);
  activity.work = bytes;
  activity.uses = {{0, 1}};
  activity.after = std::move(after);
  return activity;
}

Outcome run(const Graph &graph) {
  Expected<Outcome> outcome = simulate(graph);
  EXPECT_TRUE(outcome.ok()) << outcome.status().toString();
  return *outcome;
}

/// Events of a phase, in order.
std::vector<nlohmann::json> eventsOf(const nlohmann::json &trace, const std::string &phase) {
  std::vector<nlohmann::json> found;
  for (const nlohmann::json &event : trace["traceEvents"]) {
    if (event["ph"] == phase) {
      found.push_back(event);
    }
  }
  return found;
}

TEST(Trace, is_json_and_the_report_names_the_users_program) {
  Graph graph;
  std::string place = "query.sql:3, in a part of it with a name that is longer than a line";
  graph.resources = {{"nic", 2}, {"gpu compute", 8}};
  graph.places = {place};
  graph.activities = {transfer("exchange \"o\" #0", 4), transfer("exchange \"o\" #1", 4, {0})};
  graph.activities[0].place = graph.activities[1].place = 0;
  graph.activities[1].uses.push_back({1, 1});
  Outcome outcome = run(graph);
  nlohmann::json trace = nlohmann::json::parse(perfettoTrace(graph, outcome));
  std::vector<nlohmann::json> slices = eventsOf(trace, "X");
  ASSERT_EQ(slices.size(), 2u);
  EXPECT_EQ(slices[1]["ts"], 2e6);
  EXPECT_EQ(slices[1]["tid"], slices[0]["tid"]);
  EXPECT_EQ(slices[1]["args"]["bottleneck"], "nic");
  EXPECT_EQ(slices[1]["args"]["place"], place);
  EXPECT_EQ(slices[1]["args"]["ranks"], "all");
  std::string text = report(graph, outcome);
  EXPECT_NE(text.find("4000.000 ms 100.0 %  exchange \"o\" (nic) at " + place + "\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("4000.000 ms 100.0 %  nic, 8 B\n"), std::string::npos) << text;
  // Operations are not bytes.
  EXPECT_NE(text.find("500.000 ms  12.5 %  gpu compute\n"), std::string::npos) << text;
}

TEST(Trace, draws_the_use_of_resources) {
  Graph graph;
  graph.resources = {{"nic", 4}, {"idle", 1}};
  graph.activities = {transfer("first", 4), transfer("last", 4, {0})};
  graph.activities[1].rateMax = 1;
  nlohmann::json trace = nlohmann::json::parse(perfettoTrace(graph, run(graph)));
  std::vector<nlohmann::json> curve = eventsOf(trace, "C");
  ASSERT_EQ(curve.size(), 3u);
  const double kExpected[3][2] = {{0, 100}, {1e6, 25}, {5e6, 0}};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(curve[i]["name"], "nic");
    EXPECT_EQ(curve[i]["ts"], kExpected[i][0]);
    EXPECT_EQ(curve[i]["args"]["percent"], kExpected[i][1]);
  }
}

TEST(Trace, of_one_kind_at_one_time_takes_lines_of_its_own) {
  Graph graph;
  graph.resources = {{"nic", 2}};
  graph.activities = {transfer("copy #0", 4), transfer("copy #1", 4)};
  std::vector<nlohmann::json> slices =
      eventsOf(nlohmann::json::parse(perfettoTrace(graph, run(graph))), "X");
  ASSERT_EQ(slices.size(), 2u);
  EXPECT_NE(slices[0]["tid"], slices[1]["tid"]);
}

/// Of slices by process and line: that none begins before the one before it has ended.
void expectNoOverlap(const std::vector<nlohmann::json> &slices) {
  std::map<std::pair<int, int>, double> ends;
  for (const nlohmann::json &slice : slices) {
    double &end = ends[{slice["pid"], slice["tid"]}];
    double start = slice["ts"];
    EXPECT_GE(start, end) << slice.dump();
    end = start + slice["dur"].get<double>();
  }
}

TEST(Trace, ranks_that_differ_are_processes_of_their_own) {
  Workload load;
  load.ranks = 16;
  load.rows = {{"t", 64e6}};
  load.skews = {{3, 1, 0.1, 1, 1}};
  topology::Topology topology = *topology::shippedTopology("p5-2node");
  Expected<Graph> graph = planGraph(shufflePlan(), topology, load);
  ASSERT_TRUE(graph.ok()) << graph.status().toString();
  nlohmann::json trace = nlohmann::json::parse(perfettoTrace(*graph, run(*graph)));
  std::map<int, std::string> processes;
  for (const nlohmann::json &event : eventsOf(trace, "M")) {
    if (event["name"] == "process_name") {
      processes[event["pid"]] = event["args"]["name"];
    }
  }
  EXPECT_EQ(processes, (std::map<int, std::string>{{0, "all ranks"},
                                                   {1, "ranks 0-2,4-7"},
                                                   {2, "rank 3"},
                                                   {3, "ranks 8-15"},
                                                   {4, "resources"}}));
  std::vector<nlohmann::json> slices = eventsOf(trace, "X");
  expectNoOverlap(slices);
  std::map<std::string, std::set<int>> processesOf;
  for (const nlohmann::json &slice : slices) {
    std::string name = slice["name"];
    processesOf[name.substr(0, name.find(" #"))].insert(slice["pid"].get<int>());
    int process = slice["pid"];
    EXPECT_EQ(slice["args"]["ranks"], process == 0 ? "all" : processes[process]);
  }
  EXPECT_EQ(processesOf["divide"], (std::set<int>{1, 2, 3}));
  EXPECT_EQ(processesOf["shuffle"], (std::set<int>{0}));
}

TEST(Trace, equal_nodes_are_counted) {
  Workload load;
  load.ranks = 100000;
  load.rows = {{"t", 1e12}};
  topology::Topology topology = *topology::shippedTopology("gb200-100k");
  Expected<Graph> graph = planGraph(shufflePlan(), topology, load);
  ASSERT_TRUE(graph.ok()) << graph.status().toString();
  EXPECT_EQ(graph->rankClasses,
            (std::vector<std::string>{"ranks 0-71 ×1388", "ranks 99936-99999"}));
}

} // namespace
} // namespace headrace::simulate
