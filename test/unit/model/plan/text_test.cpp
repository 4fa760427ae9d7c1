// The readable dump shows edges, names and places, and survives any plan.
#include "model/plan/text.h"
#include "test/unit/model/plan/sample_plan.h"

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

TEST(PlanText, PrintsIdsThatAreOutOfRange) {
  Plan plan;
  plan.tasks.resize(1);
  plan.tasks[0].work = RunTask{.kernel = 77, .inputStream = -9};
  std::string text = toText(plan);
  EXPECT_NE(text.find("77"), std::string::npos);
  EXPECT_NE(text.find("stream -9"), std::string::npos);
}

} // namespace
} // namespace headrace::plan
