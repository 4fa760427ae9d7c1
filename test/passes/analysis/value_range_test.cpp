// What types hold at most, and the widths that ranges need, at their borders.
#include "passes/analysis/value_range.h"

#include "dialects/frame/FrameDialect.h"
#include "dialects/frame/FrameTypes.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

namespace headrace::analysis {
namespace {

class ValueRange : public testing::Test {
protected:
  ValueRange() { context_.loadDialect<frame::FrameDialect>(); }
  mlir::Type integer(unsigned bits) { return mlir::IntegerType::get(&context_, bits); }
  mlir::MLIRContext context_;
};

TEST_F(ValueRange, OfIntegersAndBooleans) {
  EXPECT_EQ(rangeOfType(integer(1)), (Range{0, 1}));
  EXPECT_EQ(rangeOfType(integer(8)), (Range{-128, 127}));
  EXPECT_EQ(rangeOfType(integer(64)), (Range{INT64_MIN, INT64_MAX}));
  EXPECT_EQ(rangeOfType(frame::NullableType::get(integer(16))), (Range{-32768, 32767}));
}

TEST_F(ValueRange, OfDecimalsByTheirDigits) {
  EXPECT_EQ(rangeOfType(frame::DecimalType::get(&context_, 4, 2)), (Range{-9999, 9999}));
  Int128 nines = 0;
  for (int digit = 0; digit < 38; ++digit) {
    nines = 10 * nines + 9;
  }
  EXPECT_EQ(rangeOfType(frame::DecimalType::get(&context_, 38, 0)), (Range{-nines, nines}));
}

TEST_F(ValueRange, OfNothingElse) {
  EXPECT_EQ(rangeOfType(mlir::Float64Type::get(&context_)), std::nullopt);
  EXPECT_EQ(rangeOfType(frame::StringType::get(&context_)), std::nullopt);
}

TEST_F(ValueRange, WidthsChangeAtPowersOfTwo) {
  EXPECT_EQ(bitsFor({-128, 127}), 8u);
  EXPECT_EQ(bitsFor({-129, 0}), 16u);
  EXPECT_EQ(bitsFor({0, 128}), 16u);
  EXPECT_EQ(bitsFor({0, INT32_MAX}), 32u);
  EXPECT_EQ(bitsFor({0, Int128(INT32_MAX) + 1}), 64u);
  EXPECT_EQ(bitsFor({INT64_MIN, INT64_MAX}), 64u);
  EXPECT_EQ(bitsFor({0, Int128(INT64_MAX) + 1}), 128u);
}

} // namespace
} // namespace headrace::analysis
