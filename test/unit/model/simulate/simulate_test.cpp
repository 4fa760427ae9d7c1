// The simulator against closed forms, and what must hold for every graph: bytes are conserved,
// nothing beats the longest chain or the fullest resource, more bandwidth of a lone resource never
// costs time.
#include "model/simulate/simulate.h"
#include "test/unit/model/simulate/random_graph.h"

#include <cmath>
#include <gtest/gtest.h>

namespace headrace::simulate {
namespace {

using topology::Sharing;

constexpr uint64_t kSeedCount = 200;

Activity transfer(std::string name, double bytes, std::vector<int32_t> links,
                  std::vector<int32_t> after = {}) {
  Activity activity;
  activity.name = std::move(name);
  activity.work = bytes;
  for (int32_t link : links) {
    activity.uses.push_back({link, 1});
  }
  activity.after = std::move(after);
  return activity;
}

Outcome run(const Graph &graph) {
  Expected<Outcome> outcome = simulate(graph);
  EXPECT_TRUE(outcome.ok()) << outcome.status().toString();
  return *outcome;
}

TEST(Simulate, private_links_share_an_uplink) {
  // Three transfers of 1 GB over 55 GB/s each and one uplink of 64 GB/s; the third starts at 20 ms.
  Graph graph;
  graph.resources = {{"a", 55e9}, {"b", 55e9}, {"c", 55e9}, {"uplink", 64e9}};
  graph.activities = {transfer("first", 1e9, {0, 3}), transfer("second", 1e9, {1, 3}),
                      transfer("third", 1e9, {2, 3})};
  graph.activities[2].latencySeconds = 0.02;
  Outcome outcome = run(graph);
  // Alone they have 32 GB/s each until 20 ms: 0.36 GB are left, at 64/3 GB/s.
  EXPECT_NEAR(outcome.spans[0].finish, 0.02 + 0.36e9 / (64e9 / 3), 1e-12);
  EXPECT_NEAR(outcome.spans[1].finish, 0.036875, 1e-12);
  EXPECT_NEAR(outcome.spans[2].finish, 0.036875 + (1e9 - 0.36e9) / 55e9, 1e-12);
  EXPECT_EQ(outcome.spans[0].bottleneck, 3);
}

TEST(Simulate, lower_precedence_takes_what_it_needs_first) {
  Graph graph;
  graph.resources = {{"device", 1e9}, {"link", 1e9}};
  graph.activities = {transfer("second", 2e9, {0}), transfer("first", 1e9, {0}),
                      transfer("bounded", 1e9, {0}), transfer("beside", 3e9, {1})};
  graph.activities[0].precedence = 1;
  graph.activities[1].precedence = 0;
  graph.activities[1].latencySeconds = 1;
  graph.activities[2].precedence = 0;
  graph.activities[2].rateMax = 0.25e9;
  Outcome outcome = run(graph);
  // "bounded" has its quarter for four seconds; from 1 s on "first" has the rest of it.
  EXPECT_NEAR(outcome.spans[2].finish, 4, 1e-9);
  EXPECT_NEAR(outcome.spans[1].finish, 1 + 1 / 0.75, 1e-9);
  // "second" had three quarters for a second, and has them again when "first" has ended.
  EXPECT_NEAR(outcome.spans[0].finish, 1 + 1 / 0.75 + 1.25 / 0.75, 1e-9);
  EXPECT_NEAR(outcome.spans[3].finish, 3, 1e-9);
  EXPECT_EQ(outcome.spans[0].bottleneck, 0);
}

TEST(Simulate, fatpipes_bound_each_alone) {
  Graph graph;
  graph.resources = {{"switch", 1e9, Sharing::kFatpipe}};
  graph.activities = {transfer("a", 1e9, {0}), transfer("b", 2e9, {0})};
  Outcome outcome = run(graph);
  EXPECT_NEAR(outcome.spans[0].finish, 1, 1e-12);
  EXPECT_NEAR(outcome.spans[1].finish, 2, 1e-12);
  EXPECT_NEAR(outcome.uses[0].busySeconds, 2, 1e-12);
}

TEST(Simulate, max_min_gives_what_a_slow_one_leaves) {
  Graph graph;
  graph.resources = {{"wide", 10}, {"narrow", 2}};
  graph.activities = {transfer("both", 20, {0, 1}), transfer("wide only", 80, {0})};
  graph.activities.push_back(transfer("bound", 0.5, {0}));
  graph.activities[2].rateMax = 0.05;
  Outcome outcome = run(graph);
  // narrow gives 2, the bound one takes 0.05, the rest is 7.95.
  EXPECT_NEAR(outcome.spans[0].finish, 10, 1e-9);
  EXPECT_NEAR(outcome.spans[2].finish, 10, 1e-9);
  EXPECT_NEAR(outcome.spans[1].finish, 10 + (80 - 79.5) / 10, 1e-9);
  EXPECT_EQ(outcome.spans[2].bottleneck, kNone);
}

TEST(Simulate, a_use_can_take_more_than_a_byte) {
  Graph graph;
  graph.resources = {{"bus", 10}};
  graph.activities = {transfer("copy", 10, {})};
  graph.activities[0].uses = {{0, 2}}; // read and written on the same bus
  Outcome outcome = run(graph);
  EXPECT_NEAR(outcome.seconds, 2, 1e-12);
  EXPECT_NEAR(outcome.uses[0].bytes, 20, 1e-9);
}

TEST(Simulate, a_pipeline_fills_and_then_runs_at_its_slowest_stage) {
  // Two stages, five chunks: stage times 1 and 2, so 1 + 5·2; the credit of two chunks does not
  // slow it.
  Graph graph;
  graph.resources = {{"one", 1}, {"two", 0.5}};
  for (int chunk = 0; chunk < 5; ++chunk) {
    int32_t base = 2 * chunk;
    std::vector<int32_t> first, second = {base};
    if (chunk > 0) {
      first.push_back(base - 2);
      second.push_back(base - 1);
    }
    if (chunk > 1) {
      first.push_back(base - 3);
    }
    graph.activities.push_back(transfer("load #" + std::to_string(chunk), 1, {0}, first));
    graph.activities.push_back(transfer("run #" + std::to_string(chunk), 1, {1}, second));
  }
  Outcome outcome = run(graph);
  EXPECT_NEAR(outcome.seconds, 11, 1e-12);
  ASSERT_EQ(outcome.criticalPath.size(), 6u);
  EXPECT_EQ(outcome.criticalPath.front(), 0);
  EXPECT_EQ(outcome.criticalPath.back(), 9);
}

TEST(Simulate, tiers_make_activities_wait_in_order) {
  Graph graph;
  graph.tiers = {{"host", 10}};
  for (int i = 0; i < 3; ++i) {
    Activity activity;
    activity.name = "hold " + std::to_string(i);
    activity.latencySeconds = 1 + i;
    activity.acquires = {{0, 6}};
    activity.releases = {{0, 6}};
    graph.activities.push_back(activity);
  }
  Outcome outcome = run(graph);
  EXPECT_EQ(outcome.spans[1].start, 1);
  EXPECT_EQ(outcome.spans[1].cause, 0);
  EXPECT_EQ(outcome.spans[2].start, 3);
  EXPECT_EQ(outcome.seconds, 6);
  EXPECT_EQ(outcome.tierPeakBytes[0], 6);
}

TEST(Simulate, refuses_what_cannot_run) {
  auto message = [](const Graph &graph) { return simulate(graph).status().message(); };
  Graph graph;
  graph.resources = {{"nic", 0}};
  EXPECT_EQ(message(graph), "resource nic: capacity must be positive, got 0");
  graph.resources = {{"nic", 1}};
  graph.activities = {transfer("a", -1, {0})};
  EXPECT_EQ(message(graph), "activity a: work must be finite and not negative, got -1");
  graph.activities = {transfer("a", 1, {4})};
  EXPECT_EQ(message(graph), "activity a: unknown resource: 4");
  graph.activities = {transfer("a", 1, {0}, {7})};
  EXPECT_EQ(message(graph), "activity a: waits for an unknown activity: 7");
  graph.activities = {transfer("a", 1, {0}, {1}), transfer("b", 1, {0}, {0})};
  EXPECT_EQ(message(graph), "activities wait for each other in a cycle; one of them: a");
  graph.activities = {transfer("a", 1, {0})};
  graph.activities[0].acquires = {{0, 2}};
  EXPECT_EQ(message(graph), "activity a: unknown tier: 0");
  graph.tiers = {{"host", 1}};
  EXPECT_EQ(message(graph), "no room in host: a needs 2 bytes beside 0 that are held, of 1; give "
                            "ranks more memory, or take more of them");
}

TEST(Simulate, errors_of_one_resource_add_and_of_two_cancel) {
  Graph graph;
  graph.resources = {{"a", 1, Sharing::kShared, 0.1}, {"b", 1, Sharing::kShared, 0.1}};
  graph.activities = {transfer("x", 1, {0}), transfer("y", 1, {0}, {0})};
  EXPECT_NEAR(run(graph).relativeError, 0.1, 1e-12);
  graph.activities[1].uses = {{1, 1}};
  Outcome outcome = run(graph);
  EXPECT_NEAR(outcome.relativeError, 0.1 / std::sqrt(2), 1e-12);
  EXPECT_NEAR(outcome.secondsHigh(), 2 * (1 + 0.2 / std::sqrt(2)), 1e-12);
}

TEST(Simulate, invariants_of_random_graphs) {
  for (uint64_t seed = 0; seed < kSeedCount; ++seed) {
    SCOPED_TRACE(seed);
    Graph graph = randomGraph(seed);
    Outcome outcome = run(graph);
    std::vector<double> bytes(graph.resources.size(), 0);
    for (size_t i = 0; i < graph.activities.size(); ++i) {
      for (const Use &use : graph.activities[i].uses) {
        bytes[use.resource] += use.amount * graph.activities[i].work;
      }
      for (int32_t before : graph.activities[i].after) {
        EXPECT_GE(outcome.spans[i].start, outcome.spans[before].finish);
      }
    }
    for (size_t resource = 0; resource < bytes.size(); ++resource) {
      EXPECT_NEAR(outcome.uses[resource].bytes, bytes[resource], 1e-6 * bytes[resource]);
      EXPECT_LE(outcome.uses[resource].busySeconds, outcome.seconds * (1 + 1e-9));
    }
    EXPECT_GE(outcome.seconds, lowerBoundSeconds(graph) * (1 - 1e-9));
    // Twice the bandwidth everywhere halves what is not latency; with none, everything.
    Graph faster = graph;
    for (Resource &resource : faster.resources) {
      resource.capacity *= 2;
    }
    EXPECT_LE(run(faster).seconds, outcome.seconds * (1 + 1e-9));
    for (Activity &activity : graph.activities) {
      activity.latencySeconds = 0;
    }
    for (Activity &activity : faster.activities) {
      activity.latencySeconds = 0;
    }
    EXPECT_NEAR(run(faster).seconds * 2, run(graph).seconds, 1e-6 * run(graph).seconds);
  }
}

TEST(Simulate, a_lone_resource_is_monotone_in_its_bandwidth) {
  Graph graph;
  graph.resources = {{"link", 1}};
  for (int i = 0; i < 8; ++i) {
    graph.activities.push_back(
        transfer("t" + std::to_string(i), 1 + i, {0},
                 i > 2 ? std::vector<int32_t>{i - 3} : std::vector<int32_t>{}));
  }
  double previous = 1e300;
  for (double bandwidth = 1; bandwidth < 100; bandwidth *= 1.3) {
    graph.resources[0].capacity = bandwidth;
    double seconds = run(graph).seconds;
    EXPECT_LT(seconds, previous);
    previous = seconds;
  }
}

} // namespace
} // namespace headrace::simulate
