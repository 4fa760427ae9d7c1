// Which tasks go first: those listed first, with all that streams connect to them.
#include "model/plan/precedence.h"
#include "test/unit/model/plan/sample_plan.h"

#include <gtest/gtest.h>

namespace headrace::plan {
namespace {

Task run(int32_t input, int32_t output) {
  Task task;
  task.work = RunTask{.inputStream = input, .outputStream = output};
  return task;
}

TEST(Precedence, TasksThatStreamsConnectHaveOne) {
  Plan plan;
  plan.streams.resize(4);
  // Two chains, of which the second begins before the first has ended.
  plan.tasks = {run(kNone, 0), run(kNone, 2), run(2, 3), run(0, 1), run(1, kNone), run(3, kNone)};
  EXPECT_EQ(precedences(plan), (std::vector<int32_t>{0, 1, 1, 0, 0, 1}));
}

TEST(Precedence, SeveralWritersOfAStreamAndBranchesGoTogether) {
  Plan plan;
  plan.streams.resize(2);
  plan.tasks = {run(kNone, kNone), run(kNone, 0), run(kNone, 0),
                run(0, kNone),     run(kNone, 1), Task()};
  plan.tasks[5].work = ChooseTask{.hole = 0, .thenTasks = {4}, .elseTasks = {0}};
  EXPECT_EQ(precedences(plan), (std::vector<int32_t>{0, 1, 1, 1, 0, 0}));
}

TEST(Precedence, NumbersHaveNoGaps) {
  std::vector<int32_t> numbers = precedences(samplePlan());
  int32_t most = -1;
  for (int32_t number : numbers) {
    EXPECT_LE(number, most + 1);
    most = std::max(most, number);
  }
}

} // namespace
} // namespace headrace::plan
