// Numbers as text against digits taken one by one, and back.
#include "runtime/base/text_numbers.h"

#include "runtime/abi/kernel.h"

#include <gtest/gtest.h>
#include <random>
#include <string>

namespace headrace {
namespace {

std::string slowly(I128 value, int32_t scale) {
  U128 rest = value < 0 ? U128{0} - static_cast<U128>(value) : static_cast<U128>(value);
  std::string text;
  for (int32_t place = 0; rest != 0 || place <= scale; ++place, rest /= 10) {
    if (place == scale && scale != 0) {
      text.insert(text.begin(), '.');
    }
    text.insert(text.begin(), static_cast<char>('0' + static_cast<int>(rest % 10)));
  }
  return value < 0 ? "-" + text : text;
}

TEST(TextNumbers, DigitsOfAnySizeAndScale) {
  std::mt19937_64 random(7);
  char memory[HR_TEXT_PRINTED];
  for (int round = 0; round < 200'000; ++round) {
    const int bits = static_cast<int>(random() % 127);
    I128 value = static_cast<I128>((static_cast<U128>(random()) << 64 | random()) >> (127 - bits));
    value = random() % 2 ? value : -value;
    const auto scale = static_cast<int32_t>(random() % 39);
    const std::string text(printInteger(value, scale, memory));
    ASSERT_EQ(text, slowly(value, scale));
    I128 back = 0;
    ASSERT_TRUE(parseScaled(text, scale, &back)) << text;
    ASSERT_TRUE(back == value) << text;
  }
}

TEST(TextNumbers, EndsOfWords) {
  char memory[HR_TEXT_PRINTED];
  for (I128 power = 1; power <= I128{1} << 120; power *= 10) {
    for (I128 value : {power - 1, power, power + 1, -power}) {
      EXPECT_EQ(printInteger(value, 0, memory), slowly(value, 0));
    }
  }
  const I128 word = I128{1} << 64;
  for (I128 value : {word - 1, word, word * 10, word * word / 2 - 1}) {
    EXPECT_EQ(printInteger(value, 3, memory), slowly(value, 3));
  }
}

TEST(TextNumbers, TiesOfFloatsHaveAllDigits) {
  char memory[HR_TEXT_PRINTED];
  for (const auto &[value, text] : {std::pair{-405796.875F, "-405796.875"}, // of .87 and .88
                                    {207160.125F, "207160.125"},
                                    {-186675008.0F, "-186675008.0"}, // .867e8 is halfway
                                    {177646608.0F, "177646608.0"},
                                    {424300576.0F, "424300580.0"},
                                    {50589442048.0F, "50589442048.0"},
                                    {0.1F, "0.1"},
                                    {3.4028235e38F, "3.4028235e+38"},
                                    {-0.0F, "-0.0"}}) {
    EXPECT_EQ(printReal(value, memory), text);
  }
  EXPECT_EQ(printReal(70368744177664.125, memory), "70368744177664.12");
}

} // namespace
} // namespace headrace
