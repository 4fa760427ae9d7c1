// The readable dump shows edges, names and places, and survives any plan.
#include "model/plan/text.h"

#include "runtime/base/readable.h"
#include "test/unit/model/plan/sample_plan.h"

#include <sstream>

#include <gtest/gtest.h>

namespace headrace::plan {
namespace {

TEST(PlanText, ShowsTasksWithEdgesAndPlaces) {
  std::string text = toText(samplePlan());
  EXPECT_NE(
      text.find("3 run 'probe' probe from stream 1 't rows' read state 0 'u table' to stream 2 "
                "'joined' after [1]  // join: t join u"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("a: i64 as i64 in [-5, 5]"), std::string::npos) << text;
}

TEST(PlanText, ShowsWindows) {
  Plan plan = samplePlan();
  State &state = plan.states[0];
  state.fields = {{.name = "x"}, {.name = "n"}, {.name = "w"}};
  state.order = {{0, true, false}, {1, false, true}};
  WindowColumn lag{.function = WindowFunction::kLag, .result = 2, .input = 0, .otherwise = 1};
  lag.count.number = 3;
  WindowColumn fold{.function = WindowFunction::kFold, .result = 9, .input = 0, .distinct = true};
  fold.start = {FrameEdge::kPreceding, {1, 0}};
  fold.end = {FrameEdge::kCurrentRow, {}};
  fold.exclude = FrameExclusion::kTies;
  WindowColumn rank{.function = WindowFunction::kRank, .result = 2};
  rank.end.edge = FrameEdge::kCurrentRow;
  rank.order = {{1, true, false}};
  state.windows = {lag, fold, rank};
  std::string text = toText(plan);
  EXPECT_NE(
      text.find("  in order of x desc, n nulls first\n  w = lag of x by 3 else n\n"
                "  9 = fold of distinct x over rows preceding n to current_row exclude ties\n"
                "  w = rank over rows unbounded_preceding to current_row in order of n desc\n"),
      std::string::npos)
      << text;
}

TEST(PlanText, NumbersAreReadable) {
  Plan plan = samplePlan();
  plan.states[0].rows = {0, 11999, 28079, 225000150000};
  std::string text = toText(plan);
  EXPECT_NE(text.find("about 11,999 (0..225 G, p95 28,079) in host"), std::string::npos) << text;
}

TEST(PlanText, LinesThatAreTooWideGoOnBelow) {
  Plan plan = samplePlan();
  plan.places[plan.tasks[3].place].text = std::string(130, 'x') + " and what follows ";
  std::string text = toText(plan);
  EXPECT_NE(text.find("to stream 2 'joined' after [1]\n      // join:\n      xxx"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("…\n      and what follows\n"), std::string::npos) << text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(displayWidth(line), 120) << line;
  }
}

TEST(PlanText, PrintsIdsThatAreOutOfRange) {
  Plan plan;
  plan.tasks.resize(1);
  plan.tasks[0].work = RunTask{.kernel = 77, .inputStream = -9};
  std::string text = toText(plan);
  EXPECT_NE(text.find("77"), std::string::npos);
  EXPECT_NE(text.find("stream -9"), std::string::npos);
  ExchangeTask exchange{.inputStream = -9, .outputStream = 8};
  exchange.keys = {3};
  exchange.order = {{.field = 4}};
  plan.tasks[0].work = exchange;
  text = toText(plan);
  EXPECT_NE(text.find(" of 4 by 3 from stream -9 to stream 8"), std::string::npos) << text;
}

} // namespace
} // namespace headrace::plan
