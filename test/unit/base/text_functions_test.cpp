// The table of functions of texts: found by name and number of arguments, values at the ends.
#include "runtime/base/text_functions.h"

#include <gtest/gtest.h>

#include <cctype>
#include <initializer_list>
#include <set>
#include <string>
#include <vector>

namespace headrace {
namespace {

/// As much room as is asked for and no byte more, so that a sanitizer sees what goes beyond.
class ExactRoom final : public TextRoom {
public:
private:
  char *take(uint64_t bytes) override {
    if (bytes > kBytesMax) {
      return nullptr;
    }
    memory_ = std::vector<char>(bytes);
    return memory_.data();
  }
  std::vector<char> memory_;
};

TextValue of(std::string_view text) { return {text, 0}; }
TextValue of(int number) { return {{}, number}; }

struct Answer {
  bool hasValue = false;
  std::string text;
  int64_t number = 0;
};

template <typename... Values> Answer answer(std::string_view name, Values... values) {
  ExactRoom room;
  std::vector<TextValue> given{of(values)...};
  const TextFunction &function = *textFunctionNamed(name);
  EXPECT_TRUE(function.takes(given.size())) << name;
  TextValue out;
  bool hasValue = function.evaluate(room, given, out);
  return {hasValue, std::string(out.text), out.number};
}
template <typename... Values> std::string text(std::string_view name, Values... values) {
  return answer(name, values...).text;
}
template <typename... Values> int64_t number(std::string_view name, Values... values) {
  return answer(name, values...).number;
}

TEST(TextFunctions, NumbersAndNamesAreUsedOnce) {
  std::set<std::string_view> names;
  for (const TextFunction &function : textFunctions()) {
    EXPECT_TRUE(names.insert(function.name).second) << function.name;
    EXPECT_EQ(textFunctionNamed(function.name), &function);
  }
}

TEST(TextFunctions, AreFoundByNameAndArguments) {
  EXPECT_EQ(textFunctionOfDuckdb("ucase", 1), textFunctionNamed("upper"));
  EXPECT_EQ(textFunctionOfDuckdb("upper", 2), nullptr);
  EXPECT_EQ(textFunctionOfDuckdb("trim", 1), textFunctionNamed("trim"));
  EXPECT_EQ(textFunctionOfDuckdb("trim", 2), textFunctionNamed("trim"));
  EXPECT_EQ(textFunctionOfDuckdb("||", 5), textFunctionNamed("concat"));
  EXPECT_EQ(textFunctionOfDuckdb("concat", 0), nullptr);
  EXPECT_EQ(textFunctionOfSubstrait("char_length", 1), textFunctionNamed("length"));
  EXPECT_EQ(textFunctionOfSubstrait("", 1), nullptr);
}

TEST(TextFunctions, CaseIsUnicodes) {
  EXPECT_EQ(text("upper", "abcXYZ 019 {}"), "ABCXYZ 019 {}");
  EXPECT_EQ(text("lower", "abcXYZ [@`"), "abcxyz [@`");
  for (int byte = 1; byte < 0x80; ++byte) { // among eight and alone
    const auto one = static_cast<char>(byte);
    const auto small = std::islower(byte) ? static_cast<char>(byte - 32) : one;
    const auto large = std::isupper(byte) ? static_cast<char>(byte + 32) : one;
    EXPECT_EQ(text("upper", "aé" + std::string(11, one)), "AÉ" + std::string(11, small));
    EXPECT_EQ(text("lower", std::string(11, one)), std::string(11, large));
  }
  EXPECT_EQ(text("upper", "žluťoučký кот"), "ŽLUŤOUČKÝ КОТ");
  EXPECT_EQ(text("lower", "ŽLUŤOUČKÝ КОТ"), "žluťoučký кот");
  EXPECT_EQ(text("upper", "ß"), "ẞ");
  EXPECT_EQ(text("upper", std::string(40, '\xc8') + "\xc9").size(), 41u); // not UTF-8: no crash
  EXPECT_EQ(text("lower", "ȺȾȺ"), "ⱥⱦⱥ");                                 // two bytes become three
}

TEST(TextFunctions, ConcatReplaceLength) {
  EXPECT_EQ(text("concat", "ab", "", "c"), "abc");
  EXPECT_EQ(text("replace", "banana", "an", "<an>"), "b<an><an>a");
  EXPECT_EQ(text("replace", "aaaa", "aa", ""), "");
  EXPECT_EQ(text("replace", "aaa", "", "x"), "aaa");
  EXPECT_EQ(text("replace", "a", "ab", "x"), "a");
  std::string many(1000, 'a'), by(100, 'b');
  EXPECT_EQ(text("replace", many, "a", by), std::string(100'000, 'b'));
  EXPECT_EQ(number("length", "kůň"), 3);
  EXPECT_EQ(number("length", "twelve bytes and more ůůů"), 25);
  EXPECT_EQ(number("length", ""), 0);
}

TEST(TextFunctions, Trim) {
  EXPECT_EQ(text("trim", "  a b ", " "), "a b");
  EXPECT_EQ(text("trim", "  a b "), "a b");
  EXPECT_EQ(text("trim_start", "xyxa", "xy"), "a");
  EXPECT_EQ(text("trim_end", "aůůx", "xů"), "a");
  EXPECT_EQ(text("trim", "   ", " "), "");
  EXPECT_EQ(text("trim", "ab", ""), "ab");
}

TEST(TextFunctions, Reverse) {
  EXPECT_EQ(text("reverse", "kůň 𝄞"), "𝄞 ňůk");
  EXPECT_EQ(text("reverse", ""), "");
}

TEST(TextFunctions, Repeat) {
  EXPECT_EQ(text("repeat", "aů", 3), "aůaůaů");
  EXPECT_EQ(text("repeat", "a", 0), "");
  EXPECT_EQ(text("repeat", "a", -2), "");
  EXPECT_EQ(text("repeat", "", 5), "");
  EXPECT_FALSE(answer("repeat", "abcd", INT32_MAX).hasValue);
}

TEST(TextFunctions, Pad) {
  EXPECT_EQ(text("lpad", "ab", 7, "xyz"), "xyzxyab");
  EXPECT_EQ(text("rpad", "ab", 7, "ůx"), "abůxůxů");
  EXPECT_EQ(text("lpad", "kůň", 2, "x"), "ků");
  EXPECT_EQ(text("rpad", "kůň", 3, ""), "kůň");
  EXPECT_EQ(text("lpad", "kůň", -1, "x"), "");
  EXPECT_FALSE(answer("lpad", "a", 2, "").hasValue);
  EXPECT_FALSE(answer("rpad", "a", 2, "").hasValue);
}

TEST(TextFunctions, Position) {
  EXPECT_EQ(number("position", "kůň kůň", "ň"), 3);
  EXPECT_EQ(number("position", "kůň", "x"), 0);
  EXPECT_EQ(number("position", "", ""), 1);
  EXPECT_EQ(number("position", "", "a"), 0);
}

TEST(TextFunctions, Contains) {
  EXPECT_EQ(number("contains", "kůň", "ů"), 1);
  EXPECT_EQ(number("contains", "kůň", ""), 1);
  EXPECT_EQ(number("contains", "", "a"), 0);
  EXPECT_EQ(number("starts_with", "kůň", "kůň"), 1);
  EXPECT_EQ(number("starts_with", "kůň", "ů"), 0);
  EXPECT_EQ(number("ends_with", "kůň", "ň"), 1);
  EXPECT_EQ(number("ends_with", "a", "aa"), 0);
}

TEST(TextFunctions, OctetLength) {
  EXPECT_EQ(number("octet_length", "kůň"), 5);
  EXPECT_EQ(number("octet_length", ""), 0);
}

TEST(TextFunctions, Translate) {
  EXPECT_EQ(text("translate", "12345", "143", "ax"), "a2x5");
  EXPECT_EQ(text("translate", "aab", "aa", "xy"), "xxb");
  EXPECT_EQ(text("translate", "aůb", "ů", "𝄞yz"), "a𝄞b");
  EXPECT_EQ(text("translate", "ab", "", "x"), "ab");
}

TEST(TextFunctions, SplitPart) {
  EXPECT_EQ(text("split_part", "a,b,,c", ",", 2), "b");
  EXPECT_EQ(text("split_part", "a,b,,c", ",", 3), "");
  EXPECT_EQ(text("split_part", "a,b,,c", ",", -1), "c");
  EXPECT_EQ(text("split_part", "a,b,,c", ",", -4), "a");
  EXPECT_EQ(text("split_part", "a,b,,c", ",", -5), "");
  EXPECT_EQ(text("split_part", "a,b,,c", ",", 5), "");
  EXPECT_EQ(text("split_part", "a,b", ",", 0), "");
  EXPECT_EQ(text("split_part", "a:::b", "::", -1), ":b");
  EXPECT_EQ(text("split_part", "kůň", "", 2), "ů");
  EXPECT_EQ(text("split_part", "kůň", "", -1), "ň");
  EXPECT_EQ(text("split_part", "", "", 1), "");
}

TEST(TextFunctions, CodePoints) {
  EXPECT_EQ(number("ascii", "ůa"), 0x16f);
  EXPECT_EQ(number("ascii", "𝄞"), 0x1d11e);
  EXPECT_EQ(number("ascii", ""), 0);
  EXPECT_EQ(number("unicode", ""), -1);
}

TEST(TextFunctions, Chr) {
  EXPECT_EQ(text("chr", 97), "a");
  EXPECT_EQ(text("chr", 0x1d11e), "𝄞");
  EXPECT_EQ(text("chr", 0), std::string(1, '\0'));
  EXPECT_FALSE(answer("chr", -1).hasValue);
  EXPECT_FALSE(answer("chr", 0x110000).hasValue);
  EXPECT_FALSE(answer("chr", 0xd800).hasValue);
}

TEST(TextFunctions, Bytes) {
  using namespace std::string_view_literals;
  EXPECT_EQ(text("concat", "a\0"sv, "\xff"sv), "a\0\xff"sv);
  EXPECT_EQ(number("octet_length", "a\0\xff"sv), 3);
  EXPECT_EQ(text("encode", "ß"), "ß");
  EXPECT_EQ(text("decode", "ß\0"sv), "ß\0"sv);
  EXPECT_FALSE(answer("decode", "\xc3"sv).hasValue);
  EXPECT_FALSE(answer("decode", "\xed\xa0\x80"sv).hasValue); // a surrogate
  EXPECT_EQ(text("binary_slice", "abcde", 2, 4), "bcd");
  EXPECT_EQ(text("binary_slice", "abcde", -4, -2), "bcd");
  EXPECT_EQ(text("binary_slice", "abcde", 0, 9), "abcde");
  EXPECT_EQ(text("binary_slice", "abcde", 7, 9), "");
  EXPECT_EQ(text("binary_slice", "", 1, -1), "");
  EXPECT_TRUE(textFunctionNamed("repeat")->wantsBytes(0));
  EXPECT_FALSE(textFunctionNamed("repeat")->wantsBytes(1));
}

} // namespace
} // namespace headrace
