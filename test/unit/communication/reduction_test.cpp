// Reductions: values, and that the order of the operands does not show.
#include "runtime/communication/reduction.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/base/random.h"

using namespace headrace;

namespace {

template <typename T>
std::vector<T> reduced(std::vector<T> target, std::vector<T> source, ElementType type,
                       ReduceOp op) {
  reduceInto(target.data(), source.data(), static_cast<int64_t>(target.size()), type, op);
  return target;
}

} // namespace

TEST(Reduction, IntegersAndFlags) {
  EXPECT_EQ(reduced<int64_t>({1, -5, INT64_MAX}, {2, 3, 1}, ElementType::kInt64, ReduceOp::kSum),
            (std::vector<int64_t>{3, -2, INT64_MIN}));
  EXPECT_EQ(reduced<int32_t>({1, -5}, {2, -7}, ElementType::kInt32, ReduceOp::kMax),
            (std::vector<int32_t>{2, -5}));
  EXPECT_EQ(reduced<int32_t>({1, -5}, {2, -7}, ElementType::kInt32, ReduceOp::kMin),
            (std::vector<int32_t>{1, -7}));
  EXPECT_EQ(reduced<uint8_t>({0, 1, 0}, {0, 0, 1}, ElementType::kUInt8, ReduceOp::kMax),
            (std::vector<uint8_t>{0, 1, 1}));
}

TEST(Reduction, FloatsOverManyLengths) {
  Random random(3);
  for (size_t count = 0; count < 70; ++count) {
    std::vector<double> left, right, sums;
    for (size_t index = 0; index < count; ++index) {
      left.push_back(static_cast<double>(random.between(-1000, 1000)) / 8);
      right.push_back(static_cast<double>(random.between(-1000, 1000)) / 8);
      sums.push_back(left.back() + right.back());
    }
    EXPECT_EQ(reduced(left, right, ElementType::kFloat64, ReduceOp::kSum), sums);
  }
}

TEST(Reduction, ExtremesDoNotDependOnTheOrderOfOperands) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  float values[] = {-0.0f, 0.0f, 1.0f, -1.0f, kInfinity, -kInfinity, kNan, -kNan};
  for (ReduceOp op : {ReduceOp::kMax, ReduceOp::kMin}) {
    for (float left : values) {
      for (float right : values) {
        float there = reduced<float>({left}, {right}, ElementType::kFloat32, op)[0];
        float back = reduced<float>({right}, {left}, ElementType::kFloat32, op)[0];
        EXPECT_EQ(std::memcmp(&there, &back, sizeof(float)), 0) << left << " " << right;
        if (std::isnan(left) || std::isnan(right)) {
          EXPECT_TRUE(std::isnan(there));
        } else {
          EXPECT_EQ(there, op == ReduceOp::kMax ? std::max(left, right) : std::min(left, right));
        }
      }
    }
  }
  EXPECT_FALSE(
      std::signbit(reduced<float>({-0.0f}, {0.0f}, ElementType::kFloat32, ReduceOp::kMax)[0]));
  EXPECT_TRUE(
      std::signbit(reduced<float>({0.0f}, {-0.0f}, ElementType::kFloat32, ReduceOp::kMin)[0]));
}
