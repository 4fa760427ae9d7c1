// Decimals against schoolbook arithmetic, dates against <chrono>.
#include "runtime/primitives/number/number.h"

#include "runtime/base/civil.h"

#include "test/unit/primitives/testing.h"

#include <gtest/gtest.h>

#include <chrono>

namespace headrace::primitives::testing {
namespace {

constexpr __int128 kMax = static_cast<__int128>(~static_cast<unsigned __int128>(0) >> 1);
constexpr __int128 kMin = -kMax - 1;

__int128 randomInteger(std::mt19937_64 &random) {
  unsigned __int128 bits = static_cast<unsigned __int128>(random()) << 64 | random();
  return static_cast<__int128>(bits) >> (random() % 128);
}

TEST(Decimal, MultiplyAgainstDivision) {
  std::mt19937_64 random(seed());
  int overflows = 0;
  for (int round = 0; round < 200000; ++round) {
    __int128 a = randomInteger(random), b = randomInteger(random), out = 0;
    int32_t error = multiplyI128(&a, &b, &out);
    bool fits;
    if (a == 0 || b == 0) {
      fits = true;
    } else if ((a > 0) == (b > 0)) {
      fits = a > 0 ? a <= kMax / b : (a != kMin && b != kMin && -a <= kMax / -b);
    } else {
      __int128 negative = a < 0 ? a : b, positive = a < 0 ? b : a;
      fits = negative >= kMin / positive;
    }
    ASSERT_EQ(error == 0, fits);
    overflows += error != 0;
    if (fits && b != 0) {
      ASSERT_TRUE(out / b == a && out % b == 0);
    }
  }
  EXPECT_GT(overflows, 1000);
  __int128 one = 1, min = kMin, minusOne = -1, out;
  EXPECT_EQ(multiplyI128(&min, &one, &out), 0);
  EXPECT_TRUE(out == kMin);
  EXPECT_EQ(multiplyI128(&min, &minusOne, &out), 1);
}

TEST(Decimal, DivideRoundsHalfAwayFromZero) {
  std::mt19937_64 random(seed());
  for (int round = 0; round < 100000; ++round) {
    __int128 a = static_cast<int64_t>(random()) >> (random() % 60);
    __int128 scale = static_cast<int64_t>(random() % 1000000000000) + 1;
    __int128 b = static_cast<int64_t>(random()) >> (random() % 63);
    __int128 out = 0;
    int32_t error = divideI128(&a, &scale, &b, &out);
    if (b == 0) {
      ASSERT_EQ(error, HR_ERROR_DIVISION_BY_ZERO);
      continue;
    }
    ASSERT_EQ(error, HR_OK);
    __int128 product = a * scale; // fits
    ASSERT_TRUE(out == product / b);
  }
}

TEST(Decimal, DivideOfHugeProducts) {
  // a * scale has up to 253 bits; dividing by `scale` again must give a.
  std::mt19937_64 random(seed());
  for (int round = 0; round < 3000; ++round) {
    __int128 a = randomInteger(random), scale = randomInteger(random), out;
    if (scale == 0) {
      continue;
    }
    ASSERT_EQ(divideI128(&a, &scale, &scale, &out), HR_OK);
    ASSERT_TRUE(out == a);
  }
  __int128 max = kMax, one = 1, out;
  EXPECT_EQ(divideI128(&max, &max, &one, &out), HR_ERROR_OVERFLOW);
  __int128 min = kMin, minusOne = -1;
  EXPECT_EQ(divideI128(&min, &one, &minusOne, &out), HR_ERROR_OVERFLOW);
  EXPECT_EQ(divideI128(&min, &one, &one, &out), HR_OK);
  EXPECT_TRUE(out == kMin);
}

TEST(Decimal, ToDouble) {
  __int128 value = static_cast<__int128>(1) << 100;
  EXPECT_EQ(i128ToDouble(&value), 0x1p100);
  value = -12345;
  EXPECT_EQ(i128ToDouble(&value), -12345.0);
  // Against the compiler's conversion: all magnitudes, and values at and beside the middle between
  // two doubles.
  std::mt19937_64 random(seed());
  for (int i = 0; i < 100000; ++i) {
    const int bits = static_cast<int>(random() % 127);
    auto wide = static_cast<__int128>(random()) << 64 | static_cast<__int128>(random());
    value = wide >> bits;
    if (i % 2) { // 53 leading bits, then 1 0…0, then a last bit that may be set
      value = (static_cast<__int128>(random() >> 11) * 2 + 1) << (random() % 70);
      value += static_cast<__int128>(random() % 3) - 1;
    }
    ASSERT_EQ(i128ToDouble(&value), static_cast<double>(value)) << i;
  }
}

TEST(Date, FieldsMatchChrono) {
  std::mt19937_64 random(seed());
  auto check = [](int32_t days) {
    std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{days}}};
    ASSERT_EQ(civilFromDays(days).year, static_cast<int>(date.year())) << days;
    ASSERT_EQ(civilFromDays(days).month, static_cast<unsigned>(date.month())) << days;
    ASSERT_EQ(civilFromDays(days).day, static_cast<unsigned>(date.day())) << days;
  };
  for (int32_t days = -800000; days <= 800000; ++days) { // years -221 to 4160
    check(days);
  }
  for (int round = 0; round < 100000; ++round) { // chrono's years end at 32767
    check(static_cast<int32_t>(random() % 22000000) - 11000000);
  }
}

} // namespace
} // namespace headrace::primitives::testing
