// The calendar in bodies is that of the runtime, on all days of four centuries and far from them.
#include "passes/form/calendar.h"

#include "runtime/base/civil.h"
#include "test/passes/folding.h"

namespace headrace::form {
namespace {

class GeneratedCalendar : public Folding {
protected:
  Calendar calendar{builder, location()};
};

TEST_F(GeneratedCalendar, DaysOfDates) {
  llvm::SmallVector<mlir::Value> generated;
  std::vector<int64_t> expected;
  for (int64_t year : {-290'000, -401, -400, -4, 0, 1, 1600, 1800, 1899, 1900, 1970, 2000, 2023,
                       2024, 2100, 290'000}) {
    for (int64_t month = 1; month <= 12; ++month) {
      const int64_t days = daysOfMonth(year, month);
      generated.push_back(calendar.daysOfMonth(integer(year), integer(month)));
      expected.push_back(days);
      for (int64_t day : {int64_t{1}, days}) {
        generated.push_back(calendar.daysOf(integer(year), integer(month), integer(day)));
        expected.push_back(daysFromCivil(year, month, day));
      }
    }
  }
  const auto found = foldedIntegers(generated);
  ASSERT_EQ(std::vector<int64_t>(found.begin(), found.end()), expected);
}

TEST_F(GeneratedCalendar, QuotientsTowardsThePast) {
  const auto found = foldedIntegers(
      {calendar.floorDivide(integer(7), 3), calendar.floorDivide(integer(-7), 3),
       calendar.floorDivide(integer(-6), 3), calendar.floorDivide(integer(-1), 400)});
  EXPECT_EQ(found, (llvm::SmallVector<int64_t>{2, -3, -2, -1}));
}

} // namespace
} // namespace headrace::form
