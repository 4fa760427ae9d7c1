// The kinds of work of plans and of sched have the same names.
#include "passes/schedule/plan_enums.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

TEST(WorkKinds, HaveTheSameNamesInPlansAndInSched) {
  unsigned count = 0;
  for (const plan::EnumName<plan::WorkKind> &entry : plan::EnumNames<plan::WorkKind>::kTable) {
    std::optional<sched::WorkKind> kind = sched::symbolizeWorkKind(entry.name);
    ASSERT_TRUE(kind) << entry.name;
    EXPECT_EQ(schedule::planKind(*kind), entry.value) << entry.name;
    ++count;
  }
  EXPECT_EQ(count, sched::getMaxEnumValForWorkKind() + 1);
}

} // namespace
} // namespace headrace
