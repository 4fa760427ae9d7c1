// Numbers as text and back.
#include "passes/analysis/number_text.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

namespace headrace::analysis {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(NumberText, PlainBetweenPowersOfTenAndElseWithAnExponent) {
  EXPECT_EQ(realText(1, false), "1.0");
  EXPECT_EQ(realText(-123.25, false), "-123.25");
  EXPECT_EQ(realText(0, false), "0.0");
  EXPECT_EQ(realText(-0.0, false), "-0.0");
  EXPECT_EQ(realText(0.0001, false), "0.0001");
  EXPECT_EQ(realText(0.000015, false), "1.5e-05");
  EXPECT_EQ(realText(1e15, false), "1000000000000000.0");
  EXPECT_EQ(realText(1e16, false), "1e+16");
  EXPECT_EQ(realText(0.1F, true), "0.1");
  EXPECT_EQ(realText(0.1F, false), "0.10000000149011612");
  EXPECT_EQ(realText(kInfinity, false), "inf");
}

TEST(NumberText, TextsReadBackAsTheSameBits) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 20'000; ++round) {
    const auto value = std::bit_cast<double>(random());
    const auto single = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (!std::isfinite(value) || !std::isfinite(single)) {
      continue;
    }
    const std::string text = realText(value, false);
    ASSERT_EQ(realOfText(text, false), value) << text;
    ASSERT_EQ(std::strtod(text.c_str(), nullptr), value) << text;
    ASSERT_EQ(realOfText(realText(single, true), true), single) << text;
  }
}

TEST(NumberText, DigitsAndTheirPlace) {
  struct Case {
    const char *text;
    bool negative;
    const char *digits;
    int64_t exponent;
  };
  for (const Case &each : {Case{"12.50", false, "1250", 2},
                           {"-0.0012", true, "12", -2},
                           {"+1_000", false, "1000", 4},
                           {".5e3", false, "5", 3},
                           {"7e-2", false, "7", -1},
                           {"0", false, "", 0},
                           {"1e99999999999999999999", false, "1", (int64_t{1} << 40) + 1}}) {
    const std::optional<NumberText> number = numberOfText(each.text);
    ASSERT_TRUE(number) << each.text;
    EXPECT_EQ(number->negative, each.negative) << each.text;
    EXPECT_EQ(number->digits, each.digits) << each.text;
    EXPECT_EQ(number->exponent, each.exponent) << each.text;
  }
  for (const char *none : {"", ".", "-", "e5", "1e", "1__0", "_1", "1_", "1_.5", "0x10", "1 "}) {
    EXPECT_FALSE(numberOfText(none)) << none;
  }
}

TEST(NumberText, WhatHasNoDigits) {
  EXPECT_EQ(realOfText("-Infinity", false), -kInfinity);
  EXPECT_EQ(realOfText("+inf", false), kInfinity);
  EXPECT_TRUE(std::isnan(*realOfText("NaN(1)", false)));
  EXPECT_EQ(realOfText("1e400", false), kInfinity);
  EXPECT_EQ(realOfText("1e39", true), kInfinity);
  EXPECT_EQ(realOfText("-1e-99999999", false), 0);
  EXPECT_TRUE(std::signbit(*realOfText("-1e-99999999", false)));
  EXPECT_FALSE(realOfText("infinite", false));
  // Halfway between two floats, and a little more: rounded once, not over a double.
  EXPECT_EQ(realOfText("1.00000005960464477539062500000000001", true), 1.0F + 0x1p-23F);
}

} // namespace
} // namespace headrace::analysis
