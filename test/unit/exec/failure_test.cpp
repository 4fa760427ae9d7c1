// Failures: typed, with their place, on every rank, and never a hang.
// Sources: runtime/exec/kernel/kernel_call.cpp
#include "test/unit/exec/test_plans.h"

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <thread>

namespace headrace::exec {
namespace {

using plan::ExchangeKind;
using plan::StateKind;
using plan::StateUse;

TestTable keys(size_t rows) {
  TestTable table(2);
  for (size_t i = 0; i < rows; ++i) {
    table[0].push_back(static_cast<int64_t>(i) + 100);
    table[1].push_back(1);
  }
  return table;
}

PlanBuilder failPlan() {
  PlanBuilder b;
  b.chunkRows = 100;
  int32_t checked = b.stream();
  b.run("fail", b.load("t"), {}, checked);
  int32_t parts = b.stream();
  b.run("partition", checked, {}, parts);
  int32_t mine = b.exchange(ExchangeKind::kHash, parts);
  int32_t state = b.state(StateKind::kGroupTable, 24, "merge_group");
  int32_t filled = b.run("group", mine, {{state, StateUse::kPerWorker}});
  int32_t out = b.stream();
  b.runState("emit_group", state, out, {filled});
  b.result(b.exchange(ExchangeKind::kGather, out));
  return b;
}

TEST(Failure, KernelErrorStopsAllRanks) {
  for (uint32_t ranks : {1u, 2u, 4u}) {
    for (size_t where : {0, 4999, 9999}) {
      TestTable table = keys(10000);
      table[0][where] = 13;
      auto result = runPlan(failPlan(), {{{"t", table}}, 100}, {.ranks = ranks});
      ASSERT_FALSE(result.ok());
      EXPECT_EQ(result.status().kind(), ErrorKind::kData);
      EXPECT_EQ(result.status().message(), "division by zero");
      EXPECT_EQ(result.status().place(), "a / b");
    }
  }
}

TEST(Failure, KernelsThatBreakTheirContract) {
  auto messageOf = [](int64_t how) {
    PlanBuilder b;
    int32_t out = b.stream();
    b.run("misbehave", b.load("t"), {}, out);
    b.result(out);
    return runPlan(b, {{{"t", {{how}, {0}}}}, 100}).status().message();
  };
#if !defined(__has_feature) || !__has_feature(undefined_behavior_sanitizer)
  // The sanitizer ends the process for a number that the enumeration does not have.
  EXPECT_EQ(messageOf(1), "unexpected result of a kernel: 77");
#endif
  EXPECT_EQ(messageOf(2), "kernel wants room in an output that is empty or absent: 9");
  EXPECT_EQ(messageOf(3), "kernel failed without an error: misbehave");
}

TEST(Failure, MemoryLimitNamesOperatorAndSetting) {
  PlanBuilder b;
  int32_t state = b.state(StateKind::kGroupTable, 24, "merge_group");
  b.plan.places[0] = {"sum(x) group by k", "aggregate"};
  int32_t filled = b.run("group", b.load("t"), {{state, StateUse::kPerWorker}});
  int32_t out = b.stream();
  b.runState("emit_group", state, out, {filled});
  b.result(out);
  auto result =
      runPlan(b, {{{"t", keys(2000000)}}, 50000}, {.threads = 2, .memoryBytes = 24 << 20});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().kind(), ErrorKind::kMemory);
  EXPECT_NE(result.status().message().find("host"), std::string::npos) << result.status().message();
  EXPECT_NE(result.status().message().find("aggregate"), std::string::npos)
      << result.status().message();
  EXPECT_NE(result.status().message().find("--memory"), std::string::npos)
      << result.status().message();
}

TEST(Failure, EveryMemoryLimitEitherSufficesOrIsNamed) {
  PlanBuilder b;
  b.chunkRows = 1000;
  int32_t parts = b.stream();
  b.run("partition", b.load("t"), {}, parts);
  int32_t state = b.state(StateKind::kGroupTable, 24, "merge_group");
  int32_t filled =
      b.run("group", b.exchange(ExchangeKind::kHash, parts), {{state, StateUse::kPerWorker}});
  int32_t out = b.stream();
  b.runState("emit_group", state, out, {filled});
  b.result(b.exchange(ExchangeKind::kGather, out));
  int failed = 0;
  int succeeded = 0;
  for (int64_t limit = 256 << 10; succeeded < 2 && limit < 256 << 20; limit += limit / 4) {
    auto result = runPlan(b, {{{"t", keys(50000)}}, 5000},
                          {.ranks = 2, .memoryBytes = limit, .bufferBytes = 1 << 16});
    if (result.ok()) {
      ++succeeded;
      EXPECT_EQ(result->table->rowCount(), 50000);
      continue;
    }
    ++failed;
    const std::string &message = result.status().message();
    EXPECT_EQ(result.status().kind(), ErrorKind::kMemory) << message;
    EXPECT_NE(message.find("--memory"), std::string::npos) << message;
    EXPECT_NE(message.find("host"), std::string::npos) << message;
    EXPECT_TRUE(message.find("out of host memory: a block") != 0 && message.find(":") != 0)
        << message;
  }
  EXPECT_GT(failed, 3);
  EXPECT_EQ(succeeded, 2);
}

TEST(Failure, MemoryIsGivenBackAfterRuns) {
  PlanBuilder b = failPlan();
  auto program = Program::load(b.plan, testKernels());
  ASSERT_TRUE(program.ok());
  Session session({.threads = 2, .memoryBytes = 256 << 20});
  for (int trial = 0; trial < 20; ++trial) {
    TestTable table = keys(5000);
    if (trial % 2 == 0) {
      table[0][2500] = 13;
    }
    Bindings bindings;
    bindings.tables["t"] = openTable(table, 100);
    RunOptions options;
    options.ranks = 2;
    EXPECT_EQ((*program)->run(session, bindings, options).ok(), trial % 2 == 1);
  }
  EXPECT_EQ(session.blocks()->liveBytes(), 0);
}

TEST(Failure, SourceErrorsReachTheCaller) {
  auto program = Program::load(failPlan().plan, testKernels());
  ASSERT_TRUE(program.ok());
  Session session({.threads = 2});
  for (uint32_t ranks : {1u, 3u}) {
    Bindings bindings;
    bindings.tables["t"] =
        [](const plan::Slot &,
           storage::Share share) -> Expected<std::unique_ptr<storage::MorselSource>> {
      if (share.rank + 1 == share.size) {
        return makeError(ErrorKind::kIo, "no such file: t.parquet");
      }
      return openTable(keys(1000), 100)({}, share);
    };
    RunOptions options;
    options.ranks = ranks;
    auto result = (*program)->run(session, bindings, options);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.status().kind(), ErrorKind::kIo);
    EXPECT_EQ(result.status().message(), "no such file: t.parquet");
  }
}

TEST(Failure, MissingBindingIsAUserError) {
  auto result = runPlan(failPlan(), {});
  EXPECT_EQ(result.status().kind(), ErrorKind::kUser);
  EXPECT_EQ(result.status().message(), "no input is bound to table: t");
}

TEST(Failure, InterruptionCancels) {
  // A source that never gets far: only the interruption ends the run.
  class SlowSource final : public storage::MorselSource {
  public:
    size_t morselCount() const override { return 1000000; }
    uint64_t rows(size_t) const override { return 0; }
    uint64_t rows() const override { return 0; }
    Expected<storage::MorselHandle> load(size_t, Reservation &) const override {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      auto morsel = std::make_shared<storage::LoadedMorsel>();
      return storage::MorselHandle(std::move(morsel));
    }
  };
  auto program = Program::load(failPlan().plan, testKernels());
  ASSERT_TRUE(program.ok());
  Session session({.threads = 2});
  Bindings bindings;
  bindings.tables["t"] = [](const plan::Slot &,
                            storage::Share) -> Expected<std::unique_ptr<storage::MorselSource>> {
    return std::unique_ptr<storage::MorselSource>(std::make_unique<SlowSource>());
  };
  RunOptions options;
  options.ranks = 2;
  std::atomic<int> asked{0};
  options.interrupted = [&] { return ++asked >= 2; };
  auto result = (*program)->run(session, bindings, options);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().kind(), ErrorKind::kCancelled);
}

TEST(Failure, PlansThatDoNotFitAreRefusedAtLoad) {
  PlanBuilder unknown = failPlan();
  unknown.plan.kernels[0].symbol = "nothing";
  EXPECT_EQ(Program::load(unknown.plan, testKernels()).status().message(),
            "kernels lack a symbol of the plan: nothing");
  PlanBuilder broken = failPlan();
  broken.plan.tasks[1].as<plan::RunTask>()->kernel = 99;
  EXPECT_EQ(Program::load(broken.plan, testKernels()).status().kind(), ErrorKind::kCorrupt);
  PlanBuilder device = failPlan();
  device.plan.tasks[0].device = plan::Device::kGpu;
  for (plan::Stream &stream : device.plan.streams) {
    stream.tier = Tier::kPinned; // which both reach
  }
  EXPECT_EQ(Program::load(device.plan, testKernels()).status().message(),
            "this runtime runs only kernels over rows on GPUs, got: task 0 'load t' (load)");
  PlanBuilder group;
  group.plan.mesh = {{"node", 2}, {"device", 2}};
  int32_t copied = group.stream();
  group.run("copy", group.load("t"), {}, copied);
  group.result(group.exchange(plan::ExchangeKind::kGather, copied));
  EXPECT_EQ(runPlan(group, {}, {.ranks = 3}).status().message(),
            "the plan was compiled for a mesh of 4 ranks, run it on as many or compile it again; "
            "got 3");
  auto result = runPlan(failPlan(), {}, {.ranks = 0});
  EXPECT_EQ(result.status().message(), "ranks: 1 to 1024 expected, got 0");
}

} // namespace
} // namespace headrace::exec
