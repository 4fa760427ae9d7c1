// String primitives against the standard library and a recursive LIKE.
// Sources: runtime/primitives/string/{compare,substring}.cpp
#include "runtime/primitives/string/string.h"

#include "test/unit/primitives/testing.h"

#include <gtest/gtest.h>

namespace headrace::primitives::testing {
namespace {

HrString viewOf(const PaddedBytes &bytes) {
  return makeString(bytes.data(), static_cast<uint32_t>(bytes.size()));
}
std::string textOf(const HrString &text) {
  return {reinterpret_cast<const char *>(text.data), text.length};
}

std::string randomText(std::mt19937_64 &random, size_t lengthMax, std::string_view alphabet) {
  std::string text(random() % (lengthMax + 1), ' ');
  for (char &c : text) {
    c = alphabet[random() % alphabet.size()];
  }
  return text;
}

bool naiveLike(std::string_view text, std::string_view pattern, int escape) {
  if (pattern.empty()) {
    return text.empty();
  }
  if (pattern[0] == static_cast<char>(escape) && escape >= 0 && pattern.size() > 1) {
    return !text.empty() && text[0] == pattern[1] &&
           naiveLike(text.substr(1), pattern.substr(2), escape);
  }
  if (pattern[0] == '%') {
    for (size_t i = 0; i <= text.size(); ++i) {
      if (naiveLike(text.substr(i), pattern.substr(1), escape)) {
        return true;
      }
    }
    return false;
  }
  return !text.empty() && (pattern[0] == '_' || text[0] == pattern[0]) &&
         naiveLike(text.substr(1), pattern.substr(1), escape);
}

class StringTest : public ::testing::TestWithParam<Isa> {
protected:
  HrImports table = primitivesOf(GetParam());

  bool like(std::string_view text, std::string_view pattern, int32_t escape = -1) {
    PaddedBytes a(text), b(pattern);
    HrString left = viewOf(a), right = viewOf(b);
    return table.hr_string_like_(&left, &right, escape) != 0;
  }
};

TEST_P(StringTest, CompareAndSearch) {
  std::mt19937_64 random(seed());
  for (int round = 0; round < 20000; ++round) {
    std::string_view alphabet = round % 2 ? "ab" : "ab\x7f\x80\xff";
    std::string a = randomText(random, round % 4 == 0 ? 200 : 12, alphabet);
    std::string b = randomText(random, 6, alphabet);
    if (round % 3 == 0 && !a.empty()) { // a part of a, so that hits are common
      size_t from = random() % a.size();
      b = a.substr(from, 1 + random() % (a.size() - from));
    }
    PaddedBytes bytesA(a), bytesB(b);
    HrString left = viewOf(bytesA), right = viewOf(bytesB);
    auto sign = [](int x) { return (x > 0) - (x < 0); };
    ASSERT_EQ(table.hr_string_equal_(&left, &right) != 0, a == b);
    ASSERT_EQ(sign(table.hr_string_compare_(&left, &right)), sign(a.compare(b)));
    ASSERT_EQ(table.hr_string_contains_(&left, &right) != 0, a.find(b) != std::string::npos)
        << a << " / " << b;
    ASSERT_EQ(table.hr_string_starts_with_(&left, &right) != 0, a.starts_with(b));
    ASSERT_EQ(table.hr_string_ends_with_(&left, &right) != 0, a.ends_with(b));
    if (a == b) {
      ASSERT_EQ(table.hr_string_hash_(&left), table.hr_string_hash_(&right));
    }
  }
}

TEST_P(StringTest, LikeAgainstRecursion) {
  std::mt19937_64 random(seed());
  int hits = 0;
  for (int round = 0; round < 30000; ++round) {
    std::string text = randomText(random, 10, "ab%_");
    std::string pattern = randomText(random, 7, "ab%%_\\");
    if (!pattern.empty() && pattern.back() == '\\') {
      pattern.pop_back();
    }
    int32_t escape = round % 2 ? '\\' : -1;
    if (escape == '\\' && !pattern.empty() && pattern.back() == '\\') {
      continue;
    }
    bool expected = naiveLike(text, pattern, escape);
    hits += expected;
    ASSERT_EQ(like(text, pattern, escape), expected)
        << text << " like " << pattern << " " << escape;
  }
  EXPECT_GT(hits, 3000);
}

TEST_P(StringTest, LikeCases) {
  EXPECT_TRUE(like("the special packages requests", "%special%requests%"));
  EXPECT_FALSE(like("requests special", "%special%requests%"));
  EXPECT_TRUE(like("PROMO BRUSHED", "PROMO%"));
  EXPECT_TRUE(like("LARGE BRASS", "%BRASS"));
  EXPECT_TRUE(like("\xc3\xa4"
                   "b",
                   "_b")); // one character of two bytes
  EXPECT_FALSE(like("\xc3\xa4"
                    "b",
                    "__b"));
  EXPECT_TRUE(like("x\xe2\x82\xac"
                   "y",
                   "%x_y"));
  EXPECT_TRUE(like("", "%"));
  EXPECT_FALSE(like("", "_"));
  EXPECT_TRUE(like("50%", "%0!%", '!'));
  EXPECT_FALSE(like("50x", "%0!%", '!'));
}

TEST_P(StringTest, Substring) {
  auto substring = [&](std::string_view text, int64_t start, int64_t length) {
    PaddedBytes bytes(text);
    HrString view = viewOf(bytes), out;
    table.hr_string_substring_(&view, start, length, &out);
    return textOf(out);
  };
  EXPECT_EQ(substring("13-456", 1, 2), "13");
  EXPECT_EQ(substring("13-456", 4, -1), "");
  EXPECT_EQ(substring("13-456", 4, INT64_MAX), "456"); // to the end
  EXPECT_EQ(substring("13-456", 4, 100), "456");
  EXPECT_EQ(substring("13-456", 7, 1), "");
  EXPECT_EQ(substring("abc", 0, 2), "a");
  EXPECT_EQ(substring("abc", -5, 7), "a");
  EXPECT_EQ(substring("abc", -5, 3), "");
  EXPECT_EQ(substring("abc", INT64_MIN, INT64_MAX), "abc");
  EXPECT_EQ(substring("abc", INT64_MIN, INT64_MAX - 1), "");
  EXPECT_EQ(substring("abc", INT64_MIN, INT64_MIN), "");
  EXPECT_EQ(substring("abc", INT64_MAX, INT64_MAX), "");
  EXPECT_EQ(substring("abc", 2, 0), "");
  EXPECT_EQ(substring("\xc3\xa4\xe2\x82\xacz", 2, 1), "\xe2\x82\xac");
  EXPECT_EQ(substring("\xc3\xa4\xe2\x82\xacz", 3, 1), "z");
}

INSTANTIATE_TEST_SUITE_P(Isas, StringTest, ::testing::ValuesIn(supportedIsas()),
                         [](const auto &info) { return isaTestName(info.param); });

} // namespace
} // namespace headrace::primitives::testing
