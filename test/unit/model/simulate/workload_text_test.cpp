// Workloads in words, and what is none.
#include "model/simulate/workload_text.h"

#include "test/unit/model/simulate/shuffle_plan.h"

#include <gtest/gtest.h>

namespace headrace::simulate {
namespace {

TEST(WorkloadText, rows_of_a_name) {
  Workload workload;
  EXPECT_TRUE(addRows(workload, "lineitem=1e9").ok());
  EXPECT_TRUE(addRows(workload, "a=b=2").ok()); // the name may have the sign, the number not
  EXPECT_EQ(workload.rows, (std::map<std::string, double>{{"lineitem", 1e9}, {"a=b", 2}}));
  auto error = [&](const char *text) { return addRows(workload, text).message(); };
  EXPECT_EQ(error("lineitem"), "expected rows such as lineitem=1e9, got lineitem");
  EXPECT_EQ(error("=5"), "expected rows such as lineitem=1e9, got =5");
  EXPECT_EQ(error("t=-1"), "rows of t needs a number from 0 to 1e+18, got -1");
}

TEST(WorkloadText, skews) {
  Workload workload;
  EXPECT_TRUE(addSkew(workload, "3:1:speed=0.5").ok());
  EXPECT_TRUE(addSkew(workload, "8:4:rows=2,keys=3").ok());
  ASSERT_EQ(workload.skews.size(), 2u);
  EXPECT_EQ(workload.skews[0].first, 3);
  EXPECT_EQ(workload.skews[0].count, 1);
  EXPECT_EQ(workload.skews[0].speed, 0.5);
  EXPECT_EQ(workload.skews[0].rows, 1);
  EXPECT_EQ(workload.skews[1].first, 8);
  EXPECT_EQ(workload.skews[1].count, 4);
  EXPECT_EQ(workload.skews[1].rows, 2);
  EXPECT_EQ(workload.skews[1].keys, 3);
  auto error = [&](const char *text) { return addSkew(workload, text).message(); };
  EXPECT_EQ(error("3:1"), "expected a skew such as 3:1:speed=0.5, got 3:1");
  EXPECT_EQ(error("3:1:"), "expected a skew such as 3:1:speed=0.5, got 3:1:");
  EXPECT_EQ(error("x:1:speed=1"), "a skew's first rank needs a number from 0 to 1e+18, got x");
  EXPECT_EQ(error("3:0:speed=1"), "a skew's count of ranks needs a number from 1 to 1e+18, got 0");
  EXPECT_EQ(error("3:1.5:speed=1"), "a skew's count of ranks needs a whole number, got 1.5");
  EXPECT_EQ(error("3:1:colour=1"), "a skew has speed, rows and keys, got colour=1");
  EXPECT_EQ(error("3:1:speed"), "a skew has speed, rows and keys, got speed");
  EXPECT_EQ(error("3:1:rows=-1"), "a skew's rows needs a number from 0 to 1e+18, got -1");
  EXPECT_EQ(workload.skews.size(), 2u); // of an error nothing is added
}

TEST(WorkloadText, rows_are_of_slots_and_streams) {
  const plan::Plan plan = shufflePlan();
  EXPECT_TRUE(checkRows(plan, {{"t", 1}, {"divided", 0}}).ok());
  EXPECT_EQ(checkRows(plan, {{"u", 1}}).message(),
            "rows are of the plan's slots and streams (divided, mine, rows, t), got u");
  EXPECT_EQ(checkRows(plan, {{"t", -1}}).message(),
            "rows of t need a number from 0 to 1e+18, got -1");
}

} // namespace
} // namespace headrace::simulate
