// Run tasks on one rank: states of every kind, merging, sorting, resumption, empty inputs.
// Sources: runtime/exec/task/run_task.cpp, runtime/exec/source/morsel_queue.cpp,
// runtime/exec/rows/row_store.cpp,
//   runtime/exec/rank_state_finish.cpp, runtime/exec/task/result_task.cpp,
//   runtime/exec/task/finishing.cpp, runtime/exec/task/run_source.cpp
#include "test/unit/exec/test_plans.h"

#include <gtest/gtest.h>
#include <map>
#include <numeric>

namespace headrace::exec {
namespace {

using plan::StateKind;
using plan::StateUse;

TestTable pairs(size_t rows, int64_t keys) {
  TestTable table(2);
  for (size_t i = 0; i < rows; ++i) {
    table[0].push_back(static_cast<int64_t>(testHash(i) % static_cast<uint64_t>(keys)));
    table[1].push_back(static_cast<int64_t>(i));
  }
  return table;
}

PlanBuilder sumPlan() {
  PlanBuilder b;
  int32_t input = b.load("t");
  int32_t state = b.state(StateKind::kScalar, 16, "merge_sum");
  int32_t filled = b.run("sum", input, {{state, StateUse::kPerWorker}});
  int32_t out = b.stream();
  b.runState("emit_sum", state, out, {filled});
  b.result(out);
  return b;
}

PlanBuilder groupPlan(uint32_t chunkRows = 65536, uint32_t capacity = 4) {
  PlanBuilder b;
  b.chunkRows = chunkRows;
  b.capacityChunks = capacity;
  int32_t input = b.load("t");
  int32_t state = b.state(StateKind::kGroupTable, 24, "merge_group");
  int32_t filled = b.run("group", input, {{state, StateUse::kPerWorker}});
  int32_t out = b.stream();
  b.runState("emit_group", state, out, {filled});
  int32_t copied = b.stream();
  b.run("copy", out, {}, copied);
  b.result(copied);
  return b;
}

Rows expectedGroups(const TestTable &table) {
  std::map<int64_t, int64_t> sums;
  for (size_t i = 0; i < table[0].size(); ++i) {
    sums[table[0][i]] += table[1][i];
  }
  return Rows(sums.begin(), sums.end());
}

TEST(Run, ScalarSumOfAllWorkers) {
  TestTable table = pairs(100000, 1 << 30);
  int64_t sum = std::accumulate(table[0].begin(), table[0].end(), int64_t(0));
  for (int threads : {0, 1, 2, 4}) {
    EXPECT_EQ(runRows(sumPlan(), {{{"t", table}}}, {.threads = threads}), (Rows{{sum, 100000}}));
  }
}

TEST(Run, ScalarSumOfNothingIsTheIdentity) {
  EXPECT_EQ(runRows(sumPlan(), {{{"t", pairs(0, 1)}}}), (Rows{{0, 0}}));
}

TEST(Run, GroupsAreMerged) {
  for (int64_t keys : {1, 10, 50000}) {
    TestTable table = pairs(200000, keys);
    for (int threads : {1, 2, 4}) {
      EXPECT_EQ(sorted(runRows(groupPlan(), {{{"t", table}}, 5000}, {.threads = threads})),
                expectedGroups(table));
    }
  }
}

TEST(Run, GroupsOfNothing) { EXPECT_EQ(runRows(groupPlan(), {{{"t", pairs(0, 1)}}}), Rows{}); }

TEST(Run, TinyChunksResumeTheKernel) {
  TestTable table = pairs(3000, 1000);
  for (uint32_t chunkRows : {1u, 3u, 7u}) {
    for (uint32_t capacity : {1u, 4u}) {
      for (int threads : {0, 1, 3}) {
        EXPECT_EQ(sorted(runRows(groupPlan(chunkRows, capacity), {{{"t", table}}, 100},
                                 {.threads = threads})),
                  expectedGroups(table));
      }
    }
  }
}

TEST(Run, StatesWithoutMergeKernelUseOneLane) {
  PlanBuilder b = groupPlan();
  b.plan.states[0].mergeKernel = plan::kNone;
  TestTable table = pairs(20000, 100);
  EXPECT_EQ(sorted(runRows(b, {{{"t", table}}, 500}, {.threads = 4})), expectedGroups(table));
}

constexpr plan::Directory kDirectories[] = {plan::Directory::kHash, plan::Directory::kArray,
                                            plan::Directory::kRanks};

PlanBuilder joinPlan(plan::Directory directory, uint32_t chunkRows = 65536) {
  PlanBuilder b;
  b.chunkRows = chunkRows;
  int32_t buildInput = b.load("u");
  int32_t state = b.state(StateKind::kJoinTable, 32);
  if (directory != plan::Directory::kHash) {
    b.plan.states[0].directory = directory;
    b.plan.states[0].directKeyOffset = 16;
    b.plan.states[0].base = -10;
    b.plan.states[0].extent = 5000;
  }
  int32_t built = b.run("build", buildInput, {{state, StateUse::kPerWorker}});
  int32_t out = b.stream();
  b.run("probe", b.load("t", 1), {{state, StateUse::kShared}}, out, {built});
  b.result(out);
  return b;
}

/// Keys -10..4989, every third one three times; probed by keys that partly match.
std::pair<TestTable, TestTable> joinTables() {
  TestTable build(2);
  for (int64_t key = -10; key < 4990; ++key) {
    for (int copies = key % 3 == 0 ? 3 : 1; copies > 0; --copies) {
      build[0].push_back(key);
      build[1].push_back(key * 10 + copies);
    }
  }
  TestTable probes(1);
  for (int64_t i = 0; i < 20000; ++i) {
    probes[0].push_back(i * 7 % 10000 - 2000);
  }
  return {build, probes};
}

Rows expectedJoin(const TestTable &build, const TestTable &probes) {
  std::multimap<int64_t, int64_t> rows;
  for (size_t i = 0; i < build[0].size(); ++i) {
    rows.emplace(build[0][i], build[1][i]);
  }
  Rows expected;
  for (int64_t key : probes[0]) {
    auto [first, last] = rows.equal_range(key);
    expected.insert(expected.end(), first, last);
  }
  return sorted(expected);
}

TEST(Run, JoinsBuildAndProbe) {
  auto [build, probes] = joinTables();
  for (plan::Directory directory : kDirectories) {
    for (int threads : {1, 2, 4}) {
      for (uint32_t chunkRows : {5u, 65536u}) {
        EXPECT_EQ(sorted(runRows(joinPlan(directory, chunkRows),
                                 {{{"u", build}, {"t", probes}}, 500}, {.threads = threads})),
                  expectedJoin(build, probes));
      }
    }
  }
}

TEST(Run, JoinsWithAnEmptySide) {
  auto [build, probes] = joinTables();
  for (plan::Directory directory : kDirectories) {
    EXPECT_EQ(runRows(joinPlan(directory), {{{"u", TestTable(2)}, {"t", probes}}}), Rows{});
    EXPECT_EQ(runRows(joinPlan(directory), {{{"u", build}, {"t", TestTable(1)}}}), Rows{});
  }
}

/// Lanes may see the end of their input before the rank does, which once left the load open for
/// ever: one run in some hundreds.
TEST(Run, TheEndOfAnInputIsNeverMissed) {
  auto [build, probes] = joinTables();
  for (int run = 0; run < 400; ++run) {
    ASSERT_EQ(runRows(joinPlan(plan::Directory::kHash), {{{"u", TestTable(2)}, {"t", probes}}}),
              Rows{});
  }
}

TEST(Run, DirectJoinRefusesKeysThatStatisticsRuledOut) {
  for (plan::Directory directory : {plan::Directory::kArray, plan::Directory::kRanks}) {
    auto result = runPlan(joinPlan(directory), {{{"u", {{4990}, {0}}}, {"t", TestTable(1)}}});
    EXPECT_EQ(result.status().kind(), ErrorKind::kMismatch);
    EXPECT_EQ(result.status().message(),
              "join key outside the range that the statistics promised; recompile with fresh "
              "statistics, got 4990");
  }
}

TEST(Run, SortKeepsItsOrderThroughLaterTasks) {
  for (uint64_t limit : {0, 1, 1000, 1000000}) {
    for (int threads : {1, 2, 4}) {
      PlanBuilder b;
      b.chunkRows = 700;
      int32_t input = b.load("t");
      int32_t state = b.state(StateKind::kSortBuffer, 8);
      b.plan.states[0].limit = limit;
      int32_t filled = b.run("sort", input, {{state, StateUse::kPerWorker}});
      int32_t out = b.stream();
      b.runState("emit_sort", state, out, {filled});
      int32_t copied = b.stream();
      b.run("copy", out, {}, copied);
      b.plan.ordered = true;
      b.result(copied);
      TestTable table = pairs(50000, 1 << 20);
      std::vector<int64_t> keys = table[0];
      std::sort(keys.begin(), keys.end());
      if (limit != 0 && limit < keys.size()) {
        keys.resize(limit);
      }
      Rows expected;
      for (int64_t key : keys) {
        expected.emplace_back(key, key);
      }
      EXPECT_EQ(runRows(b, {{{"t", table}}}, {.threads = threads}), expected) << limit;
    }
  }
}

TEST(Run, SeveralTasksFillOneState) {
  // A union: both inputs go to one table, which is finished after the second.
  PlanBuilder b;
  int32_t state = b.state(StateKind::kGroupTable, 24, "merge_group");
  int32_t first = b.run("group", b.load("t"), {{state, StateUse::kPerWorker}});
  int32_t second = b.run("group", b.load("u"), {{state, StateUse::kPerWorker}});
  int32_t out = b.stream();
  b.runState("emit_group", state, out, {first, second});
  b.result(out);
  TestTable t = pairs(10000, 100);
  TestTable u = pairs(3000, 200);
  TestTable both = t;
  for (size_t c = 0; c < 2; ++c) {
    both[c].insert(both[c].end(), u[c].begin(), u[c].end());
  }
  EXPECT_EQ(sorted(runRows(b, {{{"t", t}, {"u", u}}})), expectedGroups(both));
}

plan::Schema describedSchema() {
  return {{{"key", HR_I64, {LogicalKind::kI64}, false},
           {"text", HR_STRING, {LogicalKind::kString}, true},
           {"odd", HR_BOOL, {LogicalKind::kBool}, false}}};
}

TEST(Run, StringsBoolsAndNullsInChunks) {
  for (uint32_t chunkRows : {9u, 4096u}) {
    PlanBuilder b;
    b.chunkRows = chunkRows;
    int32_t described = b.stream(describedSchema());
    b.run("describe", b.load("t"), {}, described);
    int32_t out = b.stream();
    b.run("undescribe", described, {}, out);
    b.result(out);
    TestTable table(2);
    Rows expected;
    for (int64_t key = 0; key < 5000; ++key) {
      table[0].push_back(key);
      table[1].push_back(0);
      expected.emplace_back(key, (key % 3 == 0 ? -1 : key) * 2 + (key & 1));
    }
    EXPECT_EQ(sorted(runRows(b, {{{"t", table}}})), expected);
  }
}

TEST(Run, ChooseRunsOneBranch) {
  for (uint64_t threshold : {5u, 5000000u}) {
    PlanBuilder b;
    int32_t state = b.state(StateKind::kGroupTable, 24, "merge_group");
    int32_t filled = b.run("group", b.load("t"), {{state, StateUse::kPerWorker}});
    b.plan.holes = {{"groups", {}, filled, false}};
    int32_t out = b.stream();
    int32_t sums = b.runState("emit_group", state, out, {filled});
    int32_t keys = b.runState("emit_pairs_of_keys", state, out, {filled});
    b.plan.kernels[b.plan.tasks[keys].kernel()].symbol =
        "emit_sort"; // another kernel: {hash, hash}
    b.plan.tasks.emplace_back();
    b.plan.tasks.back().after = {filled};
    b.plan.tasks.back().work = plan::ChooseTask{0, threshold, {sums}, {keys}};
    b.result(out);
    TestTable table = pairs(1000, 10);
    Rows rows = sorted(runRows(b, {{{"t", table}}}));
    EXPECT_EQ(rows == expectedGroups(table), threshold > 10);
    EXPECT_EQ(rows.size(), 10u);
  }
}

TEST(Run, ProfileCountsRows) {
  auto result = runPlan(groupPlan(), {{{"t", pairs(10000, 50)}}});
  ASSERT_TRUE(result.ok());
  ASSERT_EQ(result->profile.tasks.size(), 5u);
  const TaskProfile &group = result->profile.tasks[1];
  EXPECT_EQ(group.name, "group");
  EXPECT_EQ(group.rowsIn, 10000);
  EXPECT_EQ(group.morsels, 10);
  EXPECT_EQ(result->profile.tasks[2].rowsOut, 50);
  EXPECT_GT(group.busySeconds, 0);
  EXPECT_GE(group.endSeconds, group.startSeconds);
  EXPECT_NE(result->profile.toJson().find("\"rows_in\": 10000"), std::string::npos);
}

} // namespace
} // namespace headrace::exec
