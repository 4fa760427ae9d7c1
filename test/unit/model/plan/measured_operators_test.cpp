// What a run says of its operators, put together from the counters of tasks; profiles as JSON and
// back.
#include "model/plan/measured_operators.h"
#include "model/plan/profile.h"

#include <gtest/gtest.h>

namespace headrace::plan {
namespace {

/// load -> run: scan (0), filter (1) -> exchange (2) -> run: aggregate (3), of which all ranks have
/// the result.
Plan smallPlan() {
  Plan plan;
  plan.explanation.operators.resize(4);
  plan.explanation.operators[3].replicated = true;
  plan.tasks.resize(4);
  plan.tasks[0].work = LoadTask{.slot = 0, .split = {0}, .outputStream = 0};
  plan.tasks[0].steps = {{0, kStepSource}};
  plan.tasks[1].work = RunTask{.kernel = 0, .inputStream = 0, .outputStream = 1};
  plan.tasks[1].steps = {{0, kStepSource}, {1, 0}};
  plan.tasks[2].work = ExchangeTask{ExchangeKind::kHash, 0, {0}, 1, 2};
  plan.tasks[2].steps = {{2, kStepSource}};
  plan.tasks[3].work = RunTask{.kernel = 1, .inputStream = 2};
  plan.tasks[3].steps = {{2, kStepSource}, {3, 0}};
  return plan;
}

TaskProfile measured(int rank, int32_t task, int64_t rowsIn, std::vector<int64_t> stageRows,
                     int64_t bytes = 0) {
  TaskProfile profile;
  profile.rank = rank;
  profile.task = task;
  profile.rowsIn = rowsIn;
  profile.stageRows = std::move(stageRows);
  profile.bytes = bytes;
  return profile;
}

TEST(MeasuredOperators, rows_of_all_ranks_or_of_one_that_has_all) {
  Profile profile;
  profile.ranks = 2;
  profile.tasks = {measured(0, 1, 100, {30}),  measured(1, 1, 200, {40}),
                   measured(0, 2, 0, {}, 500), measured(1, 2, 0, {}, 700),
                   measured(0, 3, 35, {7}),    measured(1, 3, 35, {7}),
                   measured(0, 9, 1, {1})}; // of no task of this plan
  const std::vector<MeasuredOperator> all = measuredOperators(smallPlan(), profile);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].rows, 300);
  EXPECT_EQ(all[1].rows, 70);
  EXPECT_EQ(all[2].rows, 70);
  EXPECT_EQ(all[3].rows, 7);
  EXPECT_EQ(all[2].movedBytes, 1200);
  EXPECT_EQ(all[0].movedBytes, -1);
  EXPECT_EQ(measuredOperators(smallPlan(), {})[1].rows, -1);
}

TEST(MeasuredOperators, a_collective_sends_a_share_of_what_it_counts) {
  for (auto [operation, bytes] : {std::pair(CollectiveKind::kAllGather, 300.0),
                                  {CollectiveKind::kAllReduce, 150.0},
                                  {CollectiveKind::kReduceScatter, 75.0},
                                  {CollectiveKind::kAllToAll, 75.0}}) {
    Plan plan = smallPlan();
    CollectiveTask collective{.axes = {0}, .input = 0, .output = 1};
    collective.operation = operation;
    plan.tasks[2].work = collective;
    Profile profile;
    profile.ranks = 4;
    profile.tasks = {measured(0, 2, 0, {}, 100)};
    EXPECT_EQ(measuredOperators(plan, profile)[2].movedBytes, bytes);
  }
}

TEST(MeasuredOperators, each_works_in_the_task_that_is_its_own) {
  // The run over a file scans it; what an exchange gave is the exchange's work, not the reader's.
  EXPECT_EQ(tasksOfOperators(smallPlan()), (std::vector<int32_t>{0, 1, 2, 3}));
  Plan plan = smallPlan();
  plan.tasks[0].steps.clear();
  EXPECT_EQ(tasksOfOperators(plan)[0], 1);
  plan.tasks[2].steps.clear();
  EXPECT_EQ(tasksOfOperators(plan)[2], kNone);
}

TEST(MeasuredOperators, seconds_are_of_the_busiest_rank_or_of_all_that_share_workers) {
  Profile profile;
  profile.ranks = 2;
  profile.threads = 4;
  profile.tasks = {measured(0, 1, 0, {}), measured(1, 1, 0, {})};
  profile.tasks[0].busySeconds = 6;
  profile.tasks[1].busySeconds = 1;
  profile.tasks[1].finishBusySeconds = 1;
  EXPECT_EQ(measuredTaskSeconds(smallPlan(), profile), (std::vector<double>{-1, 3, -1, -1}));
  profile.threads = 1; // 8 seconds of one worker
  EXPECT_EQ(measuredTaskSeconds(smallPlan(), profile)[1], 8);
}

TEST(Profile, is_read_as_it_was_written) {
  Profile profile;
  profile.wallSeconds = 1.5;
  profile.ranks = 2;
  profile.threads = 3;
  profile.peakBytes = {10, 20};
  profile.spilledBytes = {0, 5};
  profile.keyShares = {0.5, 1.5};
  TaskProfile exchange = measured(1, 2, 100, {7, 8}, 1 << 20);
  exchange.name = "shuffle";
  exchange.kind = "exchange";
  exchange.startSeconds = 0.25;
  exchange.endSeconds = 0.5;
  exchange.receivedBytes = 9;
  exchange.heavyKeys = 1;
  exchange.heavyRows = 2;
  TaskProfile run = measured(0, 3, 50, {});
  run.kind = "run";
  run.orderWords = 4;
  run.morselsTaken = 5;
  run.morselsGiven = 6;
  run.sharingMessages = 7;
  TaskProfile choose = measured(0, 1, 0, {});
  choose.kind = "choose";
  choose.way = "few";
  choose.chosenBy = 12;
  choose.atMost = UINT64_MAX;
  profile.tasks = {exchange, run, choose};
  const std::string text = profile.toJson();
  const Expected<Profile> again = Profile::fromJson(text);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(again->toJson(), text);
  EXPECT_EQ(again->peakBytes, profile.peakBytes);
  EXPECT_EQ(again->tasks[0].stageRows, exchange.stageRows);
  EXPECT_EQ(again->keyShares, profile.keyShares);
  EXPECT_EQ(again->tasks[1].morselsGiven, 6);
  EXPECT_EQ(again->tasks[1].orderWords, 4);
  EXPECT_EQ(again->tasks[2].atMost, UINT64_MAX);
  EXPECT_EQ(again->tasks[2].way, "few");
}

TEST(Profile, of_other_processes_is_added) {
  Profile profile;
  profile.wallSeconds = 2;
  profile.threads = 2;
  profile.peakBytes = {10};
  Profile other;
  other.wallSeconds = 3;
  other.threads = 4;
  other.peakBytes = {20};
  other.spilledBytes = {1};
  other.tasks.resize(1);
  profile.add(other);
  EXPECT_EQ(profile.wallSeconds, 3); // at the same time
  EXPECT_EQ(profile.threads, 6u);
  EXPECT_EQ(profile.peakBytes, (std::vector<int64_t>{10, 20}));
  EXPECT_EQ(profile.spilledBytes, (std::vector<int64_t>{1}));
  EXPECT_EQ(profile.tasks.size(), 1u);
}

TEST(Profile, other_texts_are_corrupt) {
  for (const char *text : {"", "{}", "[]", R"({"wall_seconds": "x"})"}) {
    const Status status = Profile::fromJson(text).status();
    EXPECT_EQ(status.kind(), ErrorKind::kCorrupt) << text;
    EXPECT_EQ(status.message().find("not the profile of a run: "), 0u) << status.message();
  }
}

} // namespace
} // namespace headrace::plan
