// The tree of operators: order, branches, shared rows, numbers with units, lines that fit.
#include "model/plan/explain.h"

#include "model/plan/json.h"
#include "runtime/base/readable.h"

#include <gtest/gtest.h>
#include <sstream>

namespace headrace::plan {
namespace {

Operator op(std::string name, std::vector<int32_t> inputs, double rows = 10) {
  Operator made;
  made.name = std::move(name);
  made.inputs = std::move(inputs);
  made.where = "every rank";
  made.rows = rows;
  made.bytes = 8 * rows;
  made.seconds = 1e-3;
  return made;
}

/// scan a, filter | scan b, exchange -> join -> aggregate
Plan joinPlan() {
  Plan plan;
  plan.explanation.topology = "machine";
  plan.explanation.ranks = 2;
  plan.explanation.totalSeconds = plan.explanation.boundSeconds = 5e-3;
  plan.explanation.memoryBytesMax = 1 << 30;
  auto &operators = plan.explanation.operators;
  operators = {op("scan a", {}, 6001215),     op("filter", {0}),        op("scan b", {}),
               op("exchange broadcast", {2}), op("join inner", {1, 3}), op("aggregate", {4})};
  operators[1].detail = "x < 24";
  operators[3].movedBytes = 3 << 20;
  operators[4].way = "broadcast right";
  operators[4].runnerUp = "shuffle on k";
  operators[4].runnerUpSeconds = 0.25;
  return plan;
}

std::vector<std::string> linesOf(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

std::string labelOf(const std::string &line) { return line.substr(0, line.find("  ", 6)); }

TEST(Explain, AnInputIsBelowAndTheOthersAreBranches) {
  std::vector<std::string> labels;
  for (const std::string &line : linesOf(explain(joinPlan(), {}))) {
    labels.push_back(labelOf(line));
  }
  EXPECT_EQ(labels, (std::vector<std::string>{
                        "2 ranks of topology machine: estimated 5 ms, proven the "
                        "least (solved in 0 s)",
                        "a rank holds 0 B of 1 GiB at most", "", "operator", "aggregate",
                        "join inner [broadcast right]", "├─ exchange broadcast", "│  scan b",
                        "filter x < 24", "scan a"}));
}

TEST(Explain, NumbersHaveUnits) {
  std::string text = explain(joinPlan(), {});
  for (const char *shown : {"6,001,215", "45.79 MiB", "1 ms", "3 MiB"}) {
    EXPECT_NE(text.find(shown), std::string::npos) << shown << "\n" << text;
  }
}

TEST(Explain, RunnersUpOnDemand) {
  EXPECT_EQ(explain(joinPlan(), {}).find("next best"), std::string::npos);
  std::string text = explain(joinPlan(), {.runnersUp = ExplainOptions::RunnersUp::kShown});
  EXPECT_NE(text.find("next best: shuffle on k, 250 ms in all\n"), std::string::npos) << text;
}

TEST(Explain, RowsUsedTwiceAreShownOnce) {
  Plan plan = joinPlan();
  plan.explanation.operators[4].inputs = {1, 1};
  plan.explanation.operators.push_back(op("union", {5, 1}));
  std::string text = explain(plan, {});
  size_t shown = 0;
  for (const std::string &line : linesOf(text)) {
    shown += line.find("scan a") != std::string::npos;
  }
  EXPECT_EQ(shown, 1u) << text;
  EXPECT_NE(text.find("rows of #1 above"), std::string::npos) << text;
}

TEST(Explain, AloneAsJsonAndBack) {
  Explanation told = joinPlan().explanation;
  Expected<Explanation> read = explanationFromJson(explanationJson(told));
  ASSERT_TRUE(read.ok()) << read.status().toString();
  EXPECT_EQ(explanationJson(*read), explanationJson(told));
  EXPECT_EQ(explanationFromJson("{").status().kind(), ErrorKind::kCorrupt);
}

TEST(Explain, LinesFit) {
  Plan plan = joinPlan();
  auto &operators = plan.explanation.operators;
  for (Operator &each : operators) {
    each.detail = std::string(300, 'x') + "µ";
    each.where = "by " + std::string(100, 'k');
  }
  for (int depth = 0; depth < 200; ++depth) { // branches within branches
    auto last = static_cast<int32_t>(operators.size()) - 1;
    operators.push_back(op("scan c", {}));
    operators.push_back(op("join inner", {last + 1, last}));
  }
  Profile measured;
  for (const ExplainOptions &options :
       {ExplainOptions{}, ExplainOptions{ExplainOptions::RunnersUp::kShown, &measured}}) {
    for (const std::string &line : linesOf(explain(plan, options))) {
      EXPECT_LE(displayWidth(line), 120u) << line;
    }
  }
}

TEST(Explain, OperatorsThatDoNotExistAreLeftOut) {
  Plan plan = joinPlan();
  plan.explanation.operators[0].inputs = {0, 7, -3};
  plan.explanation.operators[2].inputs = {5};
  Profile measured;
  measured.tasks.resize(1);
  measured.tasks[0].task = 12;
  EXPECT_FALSE(explain(plan, {.measured = &measured}).empty());
}

/// One task: load, filter and join in one kernel; its counters stand beside the estimates.
TEST(Explain, MeasuredRowsAndSeconds) {
  Plan plan = joinPlan();
  plan.streams.resize(1);
  Task load;
  load.work = LoadTask{.outputStream = 0};
  Task run;
  run.work = RunTask{.inputStream = 0};
  run.steps = {{0, kStepSource}, {1, 0}, {4, 1}, {5, kStepSink}};
  Task exchange;
  exchange.name = "groups of m";
  exchange.work = ExchangeTask();
  exchange.steps = {{3, kStepSource}};
  plan.tasks = {load, run, exchange};
  Profile measured;
  measured.wallSeconds = 0.5;
  measured.ranks = 2;
  measured.threads = 2;
  for (int rank : {0, 1}) {
    TaskProfile ran;
    ran.rank = rank;
    ran.task = 1;
    ran.rowsIn = 3000;
    ran.stageRows = {70 + rank, 5};
    ran.busySeconds = 0.25 + 0.05 * rank;
    measured.tasks.push_back(ran);
    TaskProfile sent;
    sent.rank = rank;
    sent.task = 2;
    sent.bytes = 1 << 20;
    measured.tasks.push_back(sent);
  }
  plan.explanation.operators[4].replicated = true;
  std::string text = explain(plan, {.measured = &measured});
  auto lineWith = [&](const std::string &label) {
    for (const std::string &line : linesOf(text)) {
      if (line.find(label) != std::string::npos) {
        return line;
      }
    }
    return std::string();
  };
  EXPECT_NE(lineWith("measured 500 ms on 2 ranks with 2 workers"), "");
  EXPECT_NE(lineWith("scan a").find(" 6,000 "), std::string::npos) << text;
  EXPECT_NE(lineWith("filter").find(" 141 "), std::string::npos) << text;
  EXPECT_NE(lineWith("join inner").find(" 5 "), std::string::npos) << text; // not 10: replicated
  EXPECT_EQ(lineWith("fewer keys"), "");
  measured.keyShares = {0.5, 1.5};
  EXPECT_NE(explain(plan, {.measured = &measured})
                .find("slow ranks had fewer keys, of an equal part: rank 0 50 %\n"),
            std::string::npos);
  measured.keyShares.assign(10, 0.25);
  EXPECT_NE(explain(plan, {.measured = &measured}).find("rank 7 25 % and 2 more\n"),
            std::string::npos);
  EXPECT_NE(lineWith("exchange broadcast").find("2 MiB"), std::string::npos) << text;
  // The kernel's time is with the uppermost of its operators; the estimate is of them all.
  EXPECT_NE(lineWith("aggregate").find("300 ms"), std::string::npos) << text;
  EXPECT_NE(lineWith("aggregate").find("4 ms"), std::string::npos) << text;
  EXPECT_NE(lineWith("filter").find("\""), std::string::npos) << text;
  EXPECT_NE(lineWith("\" in one kernel with an operator above"), "") << text;
}

TEST(Profile, other_texts_are_refused) {
  for (const char *text : {"no JSON", "[]", R"({"tasks": 3})"}) {
    Expected<Profile> profile = Profile::fromJson(text);
    EXPECT_EQ(profile.status().kind(), ErrorKind::kCorrupt) << text;
    EXPECT_EQ(profile.status().message().find("not the profile of a run: "), 0u) << text;
  }
}

} // namespace
} // namespace headrace::plan
