// The table of functions of numbers: found by name and number of arguments, values at the ends.
#include "runtime/base/math_functions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace headrace {
namespace {

TEST(MathFunctions, NumbersAndNamesAreUsedOnce) {
  std::set<int32_t> numbers;
  std::set<std::string_view> names;
  for (const MathFunction &function : mathFunctions()) {
    EXPECT_TRUE(numbers.insert(function.number).second) << function.name;
    EXPECT_TRUE(names.insert(function.name).second) << function.name;
    EXPECT_EQ(mathFunctionNamed(function.name), &function);
  }
}

TEST(MathFunctions, AreFoundByNameAndArguments) {
  EXPECT_EQ(mathFunctionOfDuckdb("log", 1), mathFunctionNamed("log10"));
  EXPECT_EQ(mathFunctionOfDuckdb("log", 2), mathFunctionNamed("log_base"));
  EXPECT_EQ(mathFunctionOfDuckdb("**", 2), mathFunctionNamed("power"));
  EXPECT_EQ(mathFunctionOfDuckdb("lo", 1), nullptr);
  EXPECT_EQ(mathFunctionOfDuckdb("", 1), nullptr);
  EXPECT_EQ(mathFunctionOfSubstrait("is_nan", 1), mathFunctionNamed("isnan"));
  EXPECT_EQ(mathFunctionOfSubstrait("", 1), nullptr);
}

double valueOf(std::string_view name, double x, double y = 0) {
  return evaluateMath(mathFunctionNamed(name)->number, x, y);
}

std::optional<int64_t> integerOf(std::string_view name, int64_t x, int64_t y) {
  return evaluateIntegerMath(mathFunctionNamed(name)->number, x, y);
}

TEST(MathFunctions, IntegersMayHaveNoValue) {
  EXPECT_EQ(integerOf("gcd", INT64_MIN, 12), 4);
  EXPECT_EQ(integerOf("gcd", 0, 0), 0);
  EXPECT_EQ(integerOf("gcd", INT64_MIN, 0), std::nullopt);
  EXPECT_EQ(integerOf("gcd", INT64_MIN, -1), 1);
  EXPECT_EQ(integerOf("lcm", -4, 6), 12);
  EXPECT_EQ(integerOf("lcm", 0, 6), 0);
  EXPECT_EQ(integerOf("lcm", INT64_MAX, 2), std::nullopt);
  EXPECT_EQ(integerOf("left_shift", 1, 62), int64_t{1} << 62);
  EXPECT_EQ(integerOf("left_shift", 1, 63), std::nullopt);
  EXPECT_EQ(integerOf("left_shift", 3, 62), std::nullopt);
  EXPECT_EQ(integerOf("left_shift", 0, 100), 0);
  EXPECT_EQ(integerOf("left_shift", 0, -1), std::nullopt);
  EXPECT_EQ(integerOf("left_shift", -1, 0), std::nullopt);
  EXPECT_EQ(integerOf("right_shift", -8, 1), -4);
  EXPECT_EQ(integerOf("right_shift", -8, 63), -1);
  EXPECT_EQ(integerOf("right_shift", -8, 64), 0);
  EXPECT_EQ(integerOf("right_shift", 8, -1), 0);
}

TEST(MathFunctions, HaveAValueForEveryArgument) {
  EXPECT_EQ(valueOf("ln", 0), -INFINITY);
  EXPECT_TRUE(std::isnan(valueOf("ln", -1)));
  EXPECT_EQ(valueOf("power", 0, -1), INFINITY);
  EXPECT_EQ(valueOf("sign", NAN), 0);
  EXPECT_EQ(valueOf("even", 0.5), 2);
  EXPECT_EQ(valueOf("even", -3), -4);
  EXPECT_EQ(valueOf("even", INFINITY), INFINITY);
  EXPECT_EQ(valueOf("lgamma", -1), INFINITY);
  EXPECT_EQ(valueOf("nextafter_of_float", 99, 100), std::nextafter(99.0F, 100.0F));
}

} // namespace
} // namespace headrace
