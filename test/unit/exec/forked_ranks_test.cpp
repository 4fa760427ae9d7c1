// Ranks as processes over sockets: the same plan gives what it gives on ranks of one process.
#include "runtime/transport/fork.h"
#include "test/unit/exec/test_plans.h"

#include <chrono>
#include <csignal>
#include <gtest/gtest.h>
#include <unistd.h>

namespace headrace::exec {
namespace {

using plan::ExchangeKind;
using plan::StateKind;
using plan::StateUse;

TestTable pairs(size_t rows, int64_t keys) {
  TestTable table(2);
  for (size_t i = 0; i < rows; ++i) {
    table[0].push_back(static_cast<int64_t>(i) % keys + 100);
    table[1].push_back(static_cast<int64_t>(i));
  }
  return table;
}

/// A broadcast join, a hash exchange, groups per rank, a gather; `first` sees the rows of "t"
/// first.
PlanBuilder joinedGroups(const std::string &first) {
  PlanBuilder b;
  b.chunkRows = 500;
  int32_t copied = b.stream();
  b.run("copy", b.load("u"), {}, copied);
  int32_t table = b.state(StateKind::kJoinTable, 32);
  int32_t built =
      b.run("build", b.exchange(ExchangeKind::kBroadcast, copied), {{table, StateUse::kPerWorker}});
  int32_t seen = b.stream();
  b.run(first, b.load("t"), {}, seen);
  int32_t joined = b.stream();
  b.run("probe", seen, {{table, StateUse::kShared}}, joined, {built});
  int32_t parts = b.stream();
  b.run("partition", joined, {}, parts);
  int32_t groups = b.state(StateKind::kGroupTable, 24, "merge_group");
  int32_t filled =
      b.run("group", b.exchange(ExchangeKind::kHash, parts), {{groups, StateUse::kPerWorker}});
  int32_t out = b.stream();
  b.runState("emit_group", groups, out, {filled});
  b.result(b.exchange(ExchangeKind::kGather, out));
  return b;
}

/// Runs it with each rank a process; the result of rank 0, or why it failed.
Expected<RunResult> runForked(const PlanBuilder &builder, const Tables &tables, int ranks) {
  Expected<RunResult> result = makeError(ErrorKind::kInternal, "rank 0 did not run");
  Status status =
      forkRanks(ranks,
                [&](Transport &transport) -> Status {
                  Session session({.threads = 2, .memoryBytes = 256 << 20});
                  Bindings bindings;
                  for (const auto &[name, table] : tables.tables) {
                    bindings.tables[name] = openTable(table, tables.morselRows);
                  }
                  HR_ASSIGN_OR_RETURN(auto program, Program::load(builder.plan, testKernels()));
                  RunOptions options;
                  options.exchange.bufferBytes = 1 << 14;
                  Expected<RunResult> ran = program->runRank(session, bindings, options, transport);
                  if (transport.rank() == 0) {
                    result = ran;
                  } else if (ran.ok() && ran->table) {
                    return makeError(ErrorKind::kInternal, "a result on rank ", transport.rank());
                  }
                  return ran.status();
                },
                {.timeoutSeconds = 60});
  return status.ok() ? std::move(result) : status;
}

TEST(ForkedRanks, EqualRanksOfOneProcess) {
  for (size_t rows : {0, 1, 40000}) {
    Tables tables{{{"t", pairs(rows, 5000)}, {"u", pairs(3000, 3000)}}, 700};
    Rows expected = sorted(runRows(joinedGroups("copy"), tables, {.ranks = 3}));
    EXPECT_EQ(expected.size(), std::min<size_t>(rows, 3000));
    for (int ranks : {1, 2, 4}) {
      Expected<RunResult> result = runForked(joinedGroups("copy"), tables, ranks);
      ASSERT_TRUE(result.ok()) << result.status().toString();
      EXPECT_EQ(sorted(rowsOf(*result->table)), expected) << ranks;
      EXPECT_EQ(result->profile.ranks, static_cast<uint32_t>(ranks));
    }
  }
}

TEST(ForkedRanks, AreNotSimulated) {
  auto program = Program::load(joinedGroups("copy").plan, testKernels());
  ASSERT_TRUE(program.ok());
  Status status = forkRanks(1, [&](Transport &transport) {
    Session session({.threads = 1});
    RunOptions options;
    options.simulation = SimOptions{};
    return (*program)->runRank(session, {}, options, transport).status();
  });
  EXPECT_EQ(status.message(), "a simulation runs all its ranks in one process");
}

TEST(ForkedRanks, AFailureAnywhereHasItsPlaceOnRankZero) {
  for (size_t where : {0, 39999}) { // the first and the last rank
    Tables tables{{{"t", pairs(40000, 5000)}, {"u", pairs(3000, 3000)}}, 700};
    tables.tables["t"][0][where] = 13;
    Expected<RunResult> result = runForked(joinedGroups("fail"), tables, 4);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.status().kind(), ErrorKind::kData);
    EXPECT_EQ(result.status().message(), "division by zero");
    EXPECT_EQ(result.status().place(), "a / b");
  }
}

TEST(ForkedRanks, ARankThatDiesStopsTheOthers) {
  Tables tables{{{"t", pairs(40000, 5000)}, {"u", pairs(3000, 3000)}}, 700};
  Status status = forkRanks(
      3,
      [&](Transport &transport) -> Status {
        Session session({.threads = 1, .memoryBytes = 256 << 20});
        Bindings bindings;
        for (const auto &[name, table] : tables.tables) {
          bindings.tables[name] = openTable(table, tables.morselRows);
        }
        if (transport.rank() == 2) {
          bindings.tables["t"] =
              [](const plan::Slot &,
                 storage::Share) -> Expected<std::unique_ptr<storage::MorselSource>> { _exit(3); };
        }
        HR_ASSIGN_OR_RETURN(auto program, Program::load(joinedGroups("copy").plan, testKernels()));
        return program->runRank(session, bindings, {}, transport).status();
      },
      {.timeoutSeconds = 60});
  EXPECT_EQ(status.kind(), ErrorKind::kIo);
  EXPECT_NE(status.message().find("rank 2"), std::string::npos) << status.message();
}

/// Rank 2 stops itself, as by a debugger or a batch system, when it opens its table.
Status runWithStoppedRank(RunOptions options, ForkOptions forkOptions) {
  Tables tables{{{"t", pairs(40000, 5000)}, {"u", pairs(3000, 3000)}}, 700};
  return forkRanks(
      3,
      [&](Transport &transport) -> Status {
        Session session({.threads = 1, .memoryBytes = 256 << 20});
        Bindings bindings;
        for (const auto &[name, table] : tables.tables) {
          OpenSource open = openTable(table, tables.morselRows);
          bindings.tables[name] = [open, &transport](const plan::Slot &slot, storage::Share share) {
            if (transport.rank() == 2) {
              raise(SIGSTOP);
            }
            return open(slot, share);
          };
        }
        HR_ASSIGN_OR_RETURN(auto program, Program::load(joinedGroups("copy").plan, testKernels()));
        return program->runRank(session, bindings, options, transport).status();
      },
      forkOptions);
}

TEST(ForkedRanks, ARankThatIsStoppedIsGivenUp) {
  Status status = runWithStoppedRank({.peerSilenceSecondsMax = 0.5}, {.graceSeconds = 0.5});
  EXPECT_EQ(status.kind(), ErrorKind::kIo);
  EXPECT_NE(status.message().find("no sign of life"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("rank 2"), std::string::npos) << status.message();
}

TEST(ForkedRanks, AfterACancelAStoppedRankIsNotWaitedForLong) {
  auto start = std::chrono::steady_clock::now();
  RunOptions options{.peerSilenceSecondsMax = 3600};
  options.interrupted = [&] {
    return std::chrono::steady_clock::now() - start > std::chrono::milliseconds(300);
  };
  Status status = runWithStoppedRank(options, {.graceSeconds = 0.5});
  EXPECT_FALSE(status.ok());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

TEST(ForkedRanks, RanksThatWorkForLongGiveSignsOfLife) {
  Tables tables{{{"t", pairs(20, 5000)}, {"u", pairs(3, 3000)}}, 700};
  Status status = forkRanks(3, [&](Transport &transport) -> Status {
    Session session({.threads = 1, .memoryBytes = 256 << 20});
    Bindings bindings;
    for (const auto &[name, table] : tables.tables) {
      bindings.tables[name] = openTable(table, tables.morselRows);
    }
    PlanBuilder builder = joinedGroups("slow");
    HR_ASSIGN_OR_RETURN(auto program, Program::load(builder.plan, testKernels()));
    return program->runRank(session, bindings, {.peerSilenceSecondsMax = 0.4}, transport).status();
  });
  EXPECT_TRUE(status.ok()) << status.toString();
}

} // namespace
} // namespace headrace::exec
