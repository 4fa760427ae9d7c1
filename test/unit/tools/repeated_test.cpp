// The error of a measurement is the spread of its runs.
#include "tools/headrace-topo/repeated.h"

#include <gtest/gtest.h>

namespace headrace::topo {
namespace {

TEST(Repeated, the_error_is_the_spread_around_the_median) {
  Measured measured = medianOf({30, 20, 25});
  EXPECT_DOUBLE_EQ(measured, 25);
  EXPECT_DOUBLE_EQ(measured.relativeError, 0.4);
  EXPECT_DOUBLE_EQ(medianOf({10, 10, 10}).relativeError, 0.05); // never sure
  EXPECT_DOUBLE_EQ(medianOf({1, 10, 100}).relativeError, 1);
  EXPECT_DOUBLE_EQ(medianOf({0, 0, 0}), 0);
}

TEST(Repeated, runs_as_often_as_it_says) {
  double runs = 0;
  EXPECT_DOUBLE_EQ(repeated([&] { return ++runs; }), 2);
  EXPECT_DOUBLE_EQ(runs, kRuns);
}

} // namespace
} // namespace headrace::topo
