// Exchanges on one to four ranks: hash, broadcast, gather; small buffers; uneven sides.
// Sources: runtime/exec/task/exchange_task.cpp, runtime/exec/chunk/chunk_stream.cpp
#include "test/unit/exec/test_plans.h"

#include <gtest/gtest.h>
#include <map>

namespace headrace::exec {
namespace {

using plan::ExchangeKind;
using plan::StateKind;
using plan::StateUse;

TestTable pairs(size_t rows, int64_t keys) {
  TestTable table(2);
  for (size_t i = 0; i < rows; ++i) {
    table[0].push_back(static_cast<int64_t>(i) % keys);
    table[1].push_back(static_cast<int64_t>(i));
  }
  return table;
}

/// Hash exchange, aggregate by key on each rank, gather.
PlanBuilder distributedGroups(uint32_t chunkRows) {
  PlanBuilder b;
  b.chunkRows = chunkRows;
  int32_t parts = b.stream();
  b.run("partition", b.load("t"), {}, parts);
  int32_t mine = b.exchange(ExchangeKind::kHash, parts);
  int32_t state = b.state(StateKind::kGroupTable, 24, "merge_group");
  int32_t filled = b.run("group", mine, {{state, StateUse::kPerWorker}});
  int32_t out = b.stream();
  b.runState("emit_group", state, out, {filled});
  b.result(b.exchange(ExchangeKind::kGather, out));
  return b;
}

TEST(ExchangeTask, HashThenGather) {
  for (size_t rows : {0, 1, 100000}) {
    TestTable table = pairs(rows, 997);
    std::map<int64_t, int64_t> sums;
    for (size_t i = 0; i < rows; ++i) {
      sums[table[0][i]] += table[1][i];
    }
    for (uint32_t ranks : {1u, 2u, 3u, 4u}) {
      for (int threads : {0, 1, 2}) {
        for (uint32_t chunkRows : {64u, 65536u}) {
          EXPECT_EQ(sorted(runRows(distributedGroups(chunkRows), {{{"t", table}}, 3000},
                                   {.threads = threads, .ranks = ranks, .bufferBytes = 1 << 16})),
                    Rows(sums.begin(), sums.end()));
        }
      }
    }
  }
}

TEST(ExchangeTask, RanksHaveTheirSharesOfTheKeys) {
  TestTable table = pairs(100000, 997);
  std::map<int64_t, int64_t> sums;
  for (size_t i = 0; i < table[0].size(); ++i) {
    sums[table[0][i]] += table[1][i];
  }
  const Rows expected(sums.begin(), sums.end());
  PlanBuilder b = distributedGroups(256);
  RunShape shape{.ranks = 4, .bufferBytes = 1 << 16, .keyShares = {256, 64, 256, 128}};
  auto sharesOf = [&] {
    Expected<RunResult> result = runPlan(b, {{{"t", table}}, 3000}, shape);
    EXPECT_TRUE(result.ok());
    return result->profile.keyShares;
  };
  EXPECT_TRUE(sharesOf().empty()); // the plan does not allow it
  b.plan.movableKeys = true;
  EXPECT_NEAR(sharesOf()[1], 4 * 64.0 / (256 + 64 + 256 + 128), 1e-6);
  for (int threads : {0, 1, 2}) {
    shape.threads = threads;
    EXPECT_EQ(sorted(runRows(b, {{{"t", table}}, 3000}, shape)), expected);
  }
  for (uint64_t seed = 0; seed < 20; ++seed) {
    shape.threads = 0;
    shape.bufferBytes = 4096;
    shape.simulation = SimOptions{.seed = seed};
    EXPECT_EQ(sorted(runRows(b, {{{"t", table}}, 3000}, shape)), expected) << seed;
  }
}

TEST(ExchangeTask, ChunksLargerThanMessagesAreCut) {
  TestTable table = pairs(50000, 50000);
  std::map<int64_t, int64_t> expected;
  for (size_t i = 0; i < 50000; ++i) {
    expected[table[0][i]] = table[1][i];
  }
  EXPECT_EQ(sorted(runRows(distributedGroups(65536), {{{"t", table}}, 50000},
                           {.ranks = 3, .bufferBytes = 4096})),
            Rows(expected.begin(), expected.end()));
}

TEST(ExchangeTask, BroadcastJoin) {
  PlanBuilder b;
  b.chunkRows = 100;
  int32_t copied = b.stream();
  b.run("copy", b.load("u"), {}, copied);
  int32_t everywhere = b.exchange(ExchangeKind::kBroadcast, copied);
  int32_t state = b.state(StateKind::kJoinTable, 32);
  int32_t built = b.run("build", everywhere, {{state, StateUse::kPerWorker}});
  int32_t out = b.stream();
  b.run("probe", b.load("t", 1), {{state, StateUse::kShared}}, out, {built});
  b.result(b.exchange(ExchangeKind::kGather, out));
  TestTable u = pairs(1000, 1000);
  TestTable t(1);
  Rows expected;
  for (int64_t i = 0; i < 5000; ++i) {
    t[0].push_back(i % 2000);
    if (i % 2000 < 1000) {
      expected.emplace_back(i % 2000, i % 2000);
    }
  }
  for (uint32_t ranks : {1u, 2u, 3u, 4u}) {
    EXPECT_EQ(
        sorted(runRows(b, {{{"u", u}, {"t", t}}, 333}, {.ranks = ranks, .bufferBytes = 4096})),
        sorted(expected));
  }
}

TEST(ExchangeTask, StringsAndNullsTravel) {
  PlanBuilder b;
  b.chunkRows = 500;
  int32_t described = b.stream(plan::Schema{{{"key", HR_I64, {LogicalKind::kI64}, false},
                                             {"text", HR_STRING, {LogicalKind::kString}, true},
                                             {"odd", HR_BOOL, {LogicalKind::kBool}, false}}});
  b.run("describe", b.load("t"), {}, described);
  int32_t gathered = b.exchange(ExchangeKind::kGather, described);
  int32_t out = b.stream();
  b.run("undescribe", gathered, {}, out);
  b.result(out);
  TestTable table = pairs(4000, 4000);
  Rows expected;
  for (int64_t key = 0; key < 4000; ++key) {
    expected.emplace_back(key, (key % 3 == 0 ? -1 : key) * 2 + (key & 1));
  }
  for (uint32_t ranks : {1u, 2u, 4u}) {
    EXPECT_EQ(sorted(runRows(b, {{{"t", table}}, 777}, {.ranks = ranks, .bufferBytes = 4096})),
              expected);
  }
}

TEST(ExchangeTask, ChooseIsAgreedOverRanks) {
  // Rank 0 alone would see few rows; the sum over ranks is above the threshold on all.
  PlanBuilder b;
  int32_t state = b.state(StateKind::kGroupTable, 24, "merge_group");
  int32_t filled = b.run("group", b.load("t"), {{state, StateUse::kPerWorker}});
  b.plan.holes = {{"groups", {}, filled, true}};
  int32_t out = b.stream();
  int32_t few = b.runState("emit_sort", state, out, {filled});
  int32_t many = b.runState("emit_group", state, out, {filled});
  b.plan.tasks.emplace_back();
  b.plan.tasks.back().after = {filled};
  b.plan.tasks.back().work = plan::ChooseTask{0, 300, {few}, {many}};
  b.result(b.exchange(ExchangeKind::kGather, out));
  TestTable table = pairs(1000, 1000);
  Rows expected;
  for (int64_t key = 0; key < 1000; ++key) {
    expected.emplace_back(key, key);
  }
  for (uint32_t ranks : {1u, 2u, 4u}) {
    EXPECT_EQ(sorted(runRows(b, {{{"t", table}}, 100}, {.ranks = ranks})), expected);
  }
}

/// By range of the first column, then once more by range of the second, whose rows come in
/// messages.
PlanBuilder ranged(bool descending) {
  PlanBuilder b;
  b.chunkRows = 64;
  int32_t copied = b.stream(), again = b.stream();
  b.run("copy", b.load("t"), {}, copied);
  int32_t first = b.exchange(ExchangeKind::kRange, copied, {{0, descending, false}});
  b.run("copy", b.exchange(ExchangeKind::kRange, first, {{1, false, false}}), {}, again);
  b.result(b.exchange(ExchangeKind::kGather, again));
  return b;
}

TEST(ExchangeTask, RangeThenGather) {
  for (size_t rows : {0, 1, 5000}) {
    TestTable table = pairs(rows, 97);
    Rows expected;
    for (size_t i = 0; i < rows; ++i) {
      expected.emplace_back(table[0][i], table[1][i]);
    }
    for (uint32_t ranks : {1u, 2u, 3u, 4u}) {
      for (int threads : {0, 2}) {
        EXPECT_EQ(sorted(runRows(ranged(threads == 0), {{{"t", table}}, 300},
                                 {.threads = threads, .ranks = ranks, .bufferBytes = 4096})),
                  sorted(expected));
      }
    }
  }
}

TEST(ExchangeTask, SimulatedRunsByRangeGiveTheSame) {
  TestTable table = pairs(3000, 500);
  Rows expected = sorted(runRows(ranged(false), {{{"t", table}}, 100}));
  ASSERT_EQ(expected.size(), 3000u);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    RunShape shape{.threads = 0, .ranks = static_cast<uint32_t>(2 + seed % 3), .bufferBytes = 4096};
    shape.simulation = SimOptions{.seed = seed};
    EXPECT_EQ(sorted(runRows(ranged(true), {{{"t", table}}, 100}, shape)), expected) << seed;
  }
}

TEST(ExchangeTask, SimulatedRunsGiveTheSame) {
  PlanBuilder b;
  int32_t parts = b.stream();
  b.run("partition", b.load("t"), {}, parts);
  b.result(b.exchange(ExchangeKind::kGather, b.exchange(ExchangeKind::kHash, parts)));
  TestTable table = pairs(2000, 2000);
  Rows expected = sorted(runRows(b, {{{"t", table}}, 100}));
  ASSERT_EQ(expected.size(), 2000u);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    RunShape shape{.threads = 0, .ranks = static_cast<uint32_t>(2 + seed % 3), .bufferBytes = 4096};
    shape.simulation = SimOptions{.seed = seed};
    EXPECT_EQ(sorted(runRows(b, {{{"t", table}}, 100}, shape)), expected) << seed;
  }
}

TEST(ExchangeTask, ALostMessageOfASimulationIsAHangThatIsTold) {
  PlanBuilder b;
  int32_t parts = b.stream();
  b.run("partition", b.load("t"), {}, parts);
  b.result(b.exchange(ExchangeKind::kGather, b.exchange(ExchangeKind::kHash, parts)));
  RunShape shape{.threads = 0, .ranks = 2};
  shape.simulation = SimOptions{.seed = 1, .vanishProbability = 1};
  auto result = runPlan(b, {{{"t", pairs(2000, 2000)}}, 100}, shape);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(
      result.status().message().find("hang: ranks wait, and no morsel and no message is under way"),
      std::string::npos)
      << result.status().toString();
}

TEST(ExchangeTask, SimulationsTakeNoThreads) {
  PlanBuilder b;
  int32_t out = b.stream();
  b.run("undescribe", b.load("t"), {}, out);
  b.result(out);
  auto result =
      runPlan(b, {{{"t", pairs(1, 1)}}}, {.threads = 1, .simulation = SimOptions{.seed = 1}});
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status().message().find("a simulation needs a session without threads, got 1"),
            std::string::npos);
}

} // namespace
} // namespace headrace::exec
