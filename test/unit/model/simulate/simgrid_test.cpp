// The simulator against SimGrid: the same random platforms and task graphs, makespans within 0.1 %.
// All trials run in one engine on links of their own, as it can be made only once a process.
#include "model/simulate/simulate.h"
#include "test/unit/model/simulate/random_graph.h"

#include <gtest/gtest.h>
#include <map>
#include <simgrid/s4u.hpp>

namespace headrace::simulate {
namespace {

namespace s4u = simgrid::s4u;

constexpr int kTrialCount = 100;

/// Every transfer gets two hosts of its own with a route over its links and one that has the
/// latency.
std::vector<s4u::CommPtr> transfersOf(const Graph &graph, int trial, s4u::NetZone *zone) {
  auto name = [trial](const char *what, size_t i) {
    return std::string(what) + std::to_string(trial) + "_" + std::to_string(i);
  };
  std::vector<s4u::Link *> links;
  for (size_t i = 0; i < graph.resources.size(); ++i) {
    s4u::Link *link = zone->create_link(name("l", i), graph.resources[i].capacity);
    link->set_latency(0);
    if (graph.resources[i].sharing == topology::Sharing::kFatpipe) {
      link->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE);
    }
    links.push_back(link->seal());
  }
  std::vector<s4u::CommPtr> transfers;
  for (size_t i = 0; i < graph.activities.size(); ++i) {
    const Activity &activity = graph.activities[i];
    s4u::Link *wire = zone->create_link(name("w", i), 1e18);
    wire->set_latency(activity.latencySeconds);
    wire->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE);
    std::vector<s4u::LinkInRoute> route = {s4u::LinkInRoute(wire->seal())};
    for (const Use &use : activity.uses) {
      route.emplace_back(links[use.resource]);
    }
    s4u::Host *source = zone->create_host(name("s", i), 1e9)->seal();
    s4u::Host *target = zone->create_host(name("t", i), 1e9)->seal();
    zone->add_route(source->get_netpoint(), target->get_netpoint(), nullptr, nullptr, route);
    s4u::CommPtr transfer = s4u::Comm::sendto_init(source, target);
    transfer->set_payload_size(static_cast<uint64_t>(activity.work));
    transfers.push_back(transfer);
  }
  for (size_t i = 0; i < graph.activities.size(); ++i) {
    for (int32_t before : graph.activities[i].after) {
      transfers[before]->add_successor(transfers[i]);
    }
  }
  return transfers;
}

TEST(SimGrid, random_graphs_take_the_same_time) {
  int argc = 1;
  char program[] = "test";
  char *arguments[] = {program, nullptr};
  char **argv = arguments;
  s4u::Engine engine(&argc, argv);
  s4u::Engine::set_config("network/model:CM02");
  s4u::Engine::set_config("network/TCP-gamma:0");
  s4u::Engine::set_config("network/crosstraffic:0");
  s4u::Engine::set_config("network/weight-S:0");
  s4u::Engine::set_config("network/latency-factor:1");
  s4u::Engine::set_config("network/bandwidth-factor:1");
  s4u::NetZone *zone = s4u::create_full_zone("all");
  std::vector<std::vector<s4u::CommPtr>> trials;
  for (int trial = 0; trial < kTrialCount; ++trial) {
    s4u::NetZone *part = s4u::create_full_zone("trial " + std::to_string(trial));
    part->set_parent(zone);
    trials.push_back(transfersOf(randomGraph(trial), trial, part));
    part->seal();
  }
  zone->seal();
  for (std::vector<s4u::CommPtr> &transfers : trials) {
    for (s4u::CommPtr &transfer : transfers) {
      transfer->vetoable_start();
    }
  }
  engine.run();
  for (int trial = 0; trial < kTrialCount; ++trial) {
    double theirs = 0;
    for (const s4u::CommPtr &transfer : trials[trial]) {
      theirs = std::max(theirs, transfer->get_finish_time());
    }
    Expected<Outcome> ours = simulate(randomGraph(trial));
    ASSERT_TRUE(ours.ok()) << ours.status().toString();
    EXPECT_GT(theirs, 0);
    EXPECT_NEAR(ours->seconds / theirs, 1, 1e-3) << "seed " << trial;
  }
}

} // namespace
} // namespace headrace::simulate
