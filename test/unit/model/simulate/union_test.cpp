// Streams that several tasks write: their rows add up, who reads waits for all of them, and none of
// them runs ahead of it.
// Sources: model/simulate/plan_streams.cpp
#include "model/simulate/plan_graph.h"
#include "model/simulate/simulate.h"

#include <gtest/gtest.h>

namespace headrace::simulate {
namespace {

plan::Schema twoColumns() {
  return {{{"k", HR_I64, {LogicalKind::kI64}, false}, {"v", HR_I64, {LogicalKind::kI64}, false}}};
}

/// Each slot is loaded and passed on to one stream, which a group table takes in.
plan::Plan unionPlan(const std::vector<std::string> &slots) {
  plan::Plan plan;
  plan.states.resize(1);
  plan.states[0].kind = plan::StateKind::kGroupTable;
  plan.states[0].rowBytes = 32;
  plan.states[0].rows.expected = 1000;
  plan.kernels.resize(2);
  plan.streams = {{"united", twoColumns(), 4, 65536}};
  plan.streams[0].writers = static_cast<uint32_t>(slots.size());
  plan::Task aggregate;
  aggregate.name = "aggregate";
  aggregate.work =
      plan::RunTask{.kernel = 1, .inputStream = 0, .states = {{0, plan::StateUse::kPerWorker}}};
  plan.tasks.push_back(aggregate); // before its writers: the order of tasks means nothing
  for (const std::string &name : slots) {
    plan::Slot slot;
    slot.name = name;
    slot.columns = {{"k", {LogicalKind::kI64}, HR_I64, false, false, 0, 0},
                    {"v", {LogicalKind::kI64}, HR_I64, false, false, 0, 0}};
    plan.slots.push_back(slot);
    plan.streams.push_back({name + " rows", twoColumns(), 4, 65536});
    auto stream = static_cast<int32_t>(plan.streams.size()) - 1;
    plan::Task load;
    load.name = "load " + name;
    load.work = plan::LoadTask{static_cast<int32_t>(plan.slots.size()) - 1, {0}, stream};
    plan.tasks.push_back(load);
    plan::Task pass;
    pass.name = "pass " + name;
    pass.work = plan::RunTask{.kernel = 0, .inputStream = stream, .outputStream = 0};
    plan.tasks.push_back(pass);
  }
  return plan;
}

/// A machine whose kernels take all of the time.
topology::Topology slowMemory() {
  topology::Topology topology = *topology::shippedTopology("ethernet-fast");
  for (auto &[name, type] : topology.deviceTypes) {
    type.memoryBandwidth.value = 1e8;
  }
  return topology;
}

struct Simulated {
  Graph graph;
  Outcome outcome;

  std::vector<Span> spansOf(const std::string &task) const {
    std::vector<Span> spans;
    for (size_t i = 0; i < graph.activities.size(); ++i) {
      const std::string &name = graph.activities[i].name;
      if (name.substr(0, name.find(" #")) == task) {
        spans.push_back(outcome.spans[i]);
      }
    }
    return spans;
  }
};

Simulated simulated(const plan::Plan &plan, const topology::Topology &topology,
                    const Workload &load) {
  Simulated run;
  Expected<Graph> graph = planGraph(plan, topology, load);
  EXPECT_TRUE(graph.ok()) << graph.status().toString();
  Expected<Outcome> outcome = simulate(*graph);
  EXPECT_TRUE(outcome.ok()) << outcome.status().toString();
  run.graph = *graph;
  run.outcome = *outcome;
  return run;
}

Workload rowsOf(std::map<std::string, double> rows) {
  Workload load;
  load.ranks = 2;
  load.rows = std::move(rows);
  return load;
}

TEST(Union, rows_of_all_writers_add_up) {
  double whole = simulated(unionPlan({"t"}), slowMemory(), rowsOf({{"t", 8e6}})).outcome.seconds;
  Workload parts = rowsOf({{"a", 1e6}, {"b", 5e6}, {"c", 2e6}});
  double united = simulated(unionPlan({"a", "b", "c"}), slowMemory(), parts).outcome.seconds;
  EXPECT_NEAR(united / whole, 1, 0.05);
  // The rows of the whole stream, if they are known, are divided among its writers.
  parts.rows["united"] = 16e6;
  Workload more = rowsOf({{"t", 8e6}, {"united", 16e6}});
  EXPECT_NEAR(simulated(unionPlan({"a", "b", "c"}), slowMemory(), parts).outcome.seconds /
                  simulated(unionPlan({"t"}), slowMemory(), more).outcome.seconds,
              1, 0.05);
}

TEST(Union, the_reader_ends_after_every_writer) {
  for (bool firstIsLarge : {true, false}) {
    Simulated run =
        simulated(unionPlan({"a", "b"}), slowMemory(),
                  rowsOf({{"a", firstIsLarge ? 8e6 : 1e3}, {"b", firstIsLarge ? 1e3 : 8e6}}));
    double end = run.spansOf("aggregate").back().start;
    EXPECT_GE(end, run.spansOf("pass a").back().finish);
    EXPECT_GE(end, run.spansOf("pass b").back().finish);
  }
}

TEST(Union, no_writer_runs_ahead_of_the_reader) {
  Workload load = rowsOf({{"a", 8e6}, {"b", 8e6}});
  Simulated run = simulated(unionPlan({"a", "b"}), slowMemory(), load);
  std::vector<Span> written = run.spansOf("pass a");
  std::vector<Span> second = run.spansOf("pass b");
  std::vector<Span> taken = run.spansOf("aggregate");
  EXPECT_EQ(written.size(), 32u);
  EXPECT_EQ(second.size(), 32u);
  EXPECT_EQ(taken.size(), 32u); // chunksMax: each takes two of the 64
  written.insert(written.end(), second.begin(), second.end());
  for (size_t chunk = 0; chunk < written.size(); ++chunk) {
    auto ended = std::count_if(taken.begin(), taken.end(), [&](const Span &span) {
      return span.finish <= written[chunk].start * (1 + 1e-12);
    });
    EXPECT_LE(chunk, 2 * static_cast<size_t>(ended) + 4)
        << chunk; // two that are being taken, and a credit of two
  }
}

TEST(Union, a_writer_may_wait_for_the_end_of_another) {
  plan::Plan plan = unionPlan({"a", "b"});
  Workload load = rowsOf({{"a", 8e6}, {"b", 8e6}});
  plan.tasks[1].after = {4}; // the load of a for the pass of b: the later writer has the lower id
  Simulated run = simulated(plan, slowMemory(), load);
  EXPECT_GE(run.spansOf("load a").front().start, run.spansOf("pass b").back().finish);
  double together = simulated(unionPlan({"a", "b"}), slowMemory(), load).outcome.seconds;
  EXPECT_GE(run.outcome.seconds, together * 0.99);
  EXPECT_LE(run.outcome.seconds, together * 1.2); // the reader is at work meanwhile
}

TEST(Union, workers_take_in_the_rows_of_all_writers) {
  Workload whole = rowsOf({{"t", 8e6}});
  Workload parts = rowsOf({{"a", 3e6}, {"b", 5e6}});
  whole.threads = parts.threads = 2;
  auto costed = [](plan::Plan plan) {
    plan.kernels[0].work = {{plan::WorkKind::kEmit, 0, 1}};
    plan.kernels[1].work = {{plan::WorkKind::kGroup, 0, 1, 0}};
    return plan;
  };
  topology::Topology machine = *topology::shippedTopology("ethernet-fast");
  double united = simulated(costed(unionPlan({"a", "b"})), machine, parts).outcome.seconds;
  double one = simulated(costed(unionPlan({"t"})), machine, whole).outcome.seconds;
  EXPECT_NEAR(united / one, 1, 0.1);
}

TEST(Union, literal_rows_are_counted) {
  plan::Plan plan = unionPlan({"a", "b"});
  plan.slots[1].kind = plan::SlotKind::kValues;
  plan.slots[1].cells.resize(2 * 5);
  Simulated run = simulated(plan, slowMemory(), rowsOf({{"a", 8e6}}));
  EXPECT_EQ(run.spansOf("pass b").size(), 1u);
}

} // namespace
} // namespace headrace::simulate
