// Round trips are exact; anything malformed is refused with its JSON path and without a crash.
#include "model/plan/json.h"
#include "test/unit/model/plan/sample_plan.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace headrace::plan {
namespace {

std::string refusal(const std::string &text) {
  Expected<Plan> plan = fromJson(text);
  return plan.ok() ? "accepted" : plan.status().message();
}

TEST(PlanJson, RoundTripIsTheSameText) {
  for (JsonLayout layout : {JsonLayout::kCompact, JsonLayout::kIndented}) {
    std::string text = toJson(samplePlan(), layout);
    Expected<Plan> plan = fromJson(text);
    ASSERT_TRUE(plan.ok()) << plan.status().toString();
    EXPECT_EQ(toJson(*plan, layout), text);
  }
}

TEST(PlanJson, ExtremesAreExact) {
  Plan plan = samplePlan();
  Literal &literal = plan.kernels[1].literals[0];
  literal.integer = INT64_MIN;
  literal.high = INT64_MAX;
  literal.text = std::string("\xff\x00\xc3", 3);
  plan.states[0].rows = {1, 2, 3, UINT64_MAX - 1};
  plan.states[1].identity = {0, 255, 16, 1};
  std::vector<double> reals = {0.1, -0.0, 5e-324, std::numeric_limits<double>::infinity()};
  for (double real : reals) {
    plan.slots[0].bounds.push_back({"a", BoundKind::kEq, 0, real, "ü"});
  }
  plan.slots[0].bounds.push_back({"a", BoundKind::kEq, 0, NAN, ""});
  Expected<Plan> again = fromJson(toJson(plan));
  ASSERT_TRUE(again.ok()) << again.status().toString();
  EXPECT_EQ(again->kernels[1].literals[0].integer, INT64_MIN);
  EXPECT_EQ(again->kernels[1].literals[0].high, INT64_MAX);
  EXPECT_EQ(again->kernels[1].literals[0].text, literal.text);
  EXPECT_EQ(again->states[0].rows.max, UINT64_MAX - 1);
  EXPECT_EQ(again->states[1].identity, plan.states[1].identity);
  for (size_t i = 0; i < reals.size(); ++i) {
    EXPECT_EQ(again->slots[0].bounds[i].real, reals[i]);
    EXPECT_EQ(std::signbit(again->slots[0].bounds[i].real), std::signbit(reals[i]));
  }
  EXPECT_TRUE(std::isnan(again->slots[0].bounds.back().real));
  EXPECT_EQ(again->slots[0].bounds[0].text, "ü");
}

TEST(PlanJson, VersionDecidesFirst) {
  EXPECT_EQ(refusal(R"({"schemaMajor": 1, "tasks": "another shape"})"),
            "plan.schemaMajor: this build reads version 11, recompile the program; got 1");
  EXPECT_EQ(fromJson(R"({"schemaMajor": 1})").status().kind(), ErrorKind::kMismatch);
  EXPECT_EQ(refusal("{}"), "plan.schemaMajor: missing; is this a plan?");
  EXPECT_EQ(refusal(R"({"schemaMajor": 11, "novelty": 1})"), "plan.novelty: unknown field");
  EXPECT_EQ(refusal(R"({"schemaMajor": 11, "schemaMinor": 99, "novelty": 1})"), "accepted");
}

TEST(PlanJson, TasksHaveTheFieldsOfTheirKind) {
  Plan plan;
  for (TaskWork work :
       {TaskWork(LoadTask{1, {0}, 2}), TaskWork(InputTask{1, 2}),
        TaskWork(RunTask{1, 2, 3, {{4, StateUse::kShared}}, 5, true}),
        TaskWork(ExchangeTask{ExchangeKind::kRange, 1, {0}, 2, 3, {{1, true, false}}}),
        TaskWork(CollectiveTask{CollectiveKind::kReduceScatter, Reduction::kMin, {0}, 1, 2}),
        TaskWork(ComputeTask{ComputeKind::kSlice, 1, {2}, {3}, {4}}),
        TaskWork(ToTensorTask{1, {2, 3}, {4}}), TaskWork(ReserveTask{1, {2, 3, 4, 5}}),
        TaskWork(ReleaseTask{1}), TaskWork(ChooseTask{1, 2, {3}, {4}}),
        TaskWork(RepeatTask{{1, 2}, 3}), TaskWork(ResultTask{1}), TaskWork(TensorResultTask{1})}) {
    plan.tasks.emplace_back().work = work;
  }
  ASSERT_EQ(plan.tasks.size(), std::variant_size_v<TaskWork>);
  plan.tasks[0].device = Device::kGpu;
  std::string text = toJson(plan, JsonLayout::kCompact);
  for (const char *task :
       {R"({"kind": "load", "device": "gpu", "slot": 1, "split": [0], "outputStream": 2})",
        R"({"kind": "collective", "operation": "reduce_scatter", "combine": "min", "axes": [0])",
        R"({"kind": "reserve", "state": 1, "bytes": {"min": 2, "expected": 3, "p95": 4)"}) {
    std::string dense = task;
    std::erase(dense, ' ');
    EXPECT_NE(text.find(dense), std::string::npos) << dense << "\n" << text;
  }
  Expected<Plan> again = fromJson(text);
  ASSERT_TRUE(again.ok()) << again.status().toString();
  EXPECT_EQ(toJson(*again, JsonLayout::kCompact), text);
}

TEST(PlanJson, ErrorsNameTheirPath) {
  auto in = [](const std::string &fields) {
    return refusal(R"({"schemaMajor": 11, )" + fields + "}");
  };
  EXPECT_EQ(in(R"("tasks": {})"), "plan.tasks: expected an array, got an object");
  EXPECT_EQ(in(R"("tasks": [{"kind": "jump"}])"), "plan.tasks[0].kind: unknown name: \"jump\"");
  EXPECT_EQ(in(R"("tasks": [{"name": "run"}])"), "plan.tasks[0].kind: missing");
  EXPECT_EQ(in(R"("tasks": [{"kind": "load", "kernel": 1}])"),
            "plan.tasks[0].kernel: unknown field");
  EXPECT_EQ(in(R"("tasks": [{"kind": "run"}, {"kind": "run", "after": [1.5]}])"),
            "plan.tasks[1].after[0]: expected an integer, got 1.5");
  EXPECT_EQ(in(R"("tasks": [{"kind": "run", "after": [4294967296]}])"),
            "plan.tasks[0].after[0]: integer out of range, got 4294967296");
  EXPECT_EQ(in(R"("streams": [{"chunkRows": -1}])"),
            "plan.streams[0].chunkRows: integer out of range, got -1");
  EXPECT_EQ(in(R"("states": [{"identity": "0g"}])"),
            "plan.states[0].identity: expected hex digits, two a byte, got \"0g\"");
  EXPECT_EQ(in(R"("ordered": 1)"), "plan.ordered: expected true or false, got 1");
  EXPECT_EQ(in(R"("isa": null)"), "plan.isa: expected a string, got null");
  EXPECT_EQ(in(R"("slots": [{"bounds": [{"real": "big"}]}])"),
            "plan.slots[0].bounds[0].real: expected a number, got \"big\"");
  EXPECT_EQ(in(R"("places": [7])"), "plan.places[0]: expected an object, got 7");
  EXPECT_EQ(refusal("[1]"), "plan: expected an object, got an array");
  EXPECT_NE(refusal(R"({"schemaMajor": 11,)").find("plan: not JSON: "), std::string::npos);
}

TEST(PlanJson, SurvivesDeepNesting) {
  std::string text = R"({"schemaMajor": 11, "tasks": )" + std::string(200000, '[') +
                     std::string(200000, ']') + "}";
  EXPECT_EQ(refusal(text), "plan.tasks[0]: expected an object, got an array");
}

TEST(PlanJson, SurvivesDamage) {
  const std::string text = toJson(samplePlan());
  unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int trial = 0; trial < 500; ++trial) {
    std::string damaged = text;
    for (unsigned i = 0; i <= random() % 3; ++i) {
      damaged[random() % damaged.size()] = "{}[]\",:-019aZ\xff"[random() % 14];
    }
    Expected<Plan> plan = fromJson(damaged);
    if (!plan.ok()) {
      EXPECT_EQ(plan.status().message().rfind("plan", 0), 0u) << plan.status().message();
    }
  }
}

} // namespace
} // namespace headrace::plan
