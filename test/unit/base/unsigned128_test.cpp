// Unsigned integers of 128 bits: bytes in order, texts, and arithmetic at its ends.
#include "runtime/base/unsigned128.h"

#include <gtest/gtest.h>

#include <string>

namespace headrace {
namespace {

constexpr U128 kMost = ~U128{0};
constexpr const char *kMostText = "340282366920938463463374607431768211455";

std::string text(MaybeU128 value) { return value ? unsigned128Text(*value) : "none"; }

TEST(Unsigned128, BytesAreInOrderAsNumbersAre) {
  std::string before;
  for (const U128 value : {U128{0}, U128{1}, U128{255}, U128{256}, U128{1} << 64, kMost}) {
    const std::string bytes = packedUnsigned128(value);
    EXPECT_EQ(bytes.size(), kUnsigned128Bytes);
    EXPECT_LT(before, bytes);
    EXPECT_EQ(text(unsigned128(bytes)), text(value));
    before = bytes;
  }
  EXPECT_EQ(text(unsigned128("")), "0");
  EXPECT_EQ(text(unsigned128(std::string(15, '\1'))), "0");
}

TEST(Unsigned128, Texts) {
  EXPECT_EQ(text(kMost), kMostText);
  EXPECT_EQ(text(parseUnsigned128(kMostText)), kMostText);
  EXPECT_EQ(text(parseUnsigned128(" 1.5 ")), "2");
  EXPECT_EQ(text(parseUnsigned128("-0")), "0");
  for (const char *none : {"", " ", "x", "-1", "-0.1", "340282366920938463463374607431768211456"}) {
    EXPECT_EQ(text(parseUnsigned128(none)), "none") << none;
  }
}

TEST(Unsigned128, ResultsThatDoNotFitAreNone) {
  EXPECT_EQ(text(sumOf(kMost - 1, 1)), kMostText);
  EXPECT_EQ(text(sumOf(kMost, 1)), "none");
  EXPECT_EQ(text(differenceOf(3, 3)), "0");
  EXPECT_EQ(text(differenceOf(3, 4)), "none");
  EXPECT_EQ(text(productOf(U128{1} << 64, (U128{1} << 64) - 1)),
            "340282366920938463444927863358058659840");
  EXPECT_EQ(text(productOf(U128{1} << 64, U128{1} << 64)), "none");
  EXPECT_EQ(text(quotientOf(kMost, 10)), "34028236692093846346337460743176821145");
  EXPECT_EQ(text(quotientOf(1, 0)), "none");
  EXPECT_EQ(text(remainderOf(kMost, 10)), "5");
  EXPECT_EQ(text(remainderOf(1, 0)), "none");
}

TEST(Unsigned128, Shifts) {
  EXPECT_EQ(text(shiftedLeft(1, 127)), "170141183460469231731687303715884105728");
  EXPECT_EQ(text(shiftedLeft(2, 127)), "none");
  EXPECT_EQ(text(shiftedLeft(1, 128)), "none");
  EXPECT_EQ(text(shiftedLeft(0, kMost)), "0");
  EXPECT_EQ(text(shiftedRight(kMost, 127)), "1");
  EXPECT_EQ(text(shiftedRight(kMost, 128)), "0");
}

} // namespace
} // namespace headrace
