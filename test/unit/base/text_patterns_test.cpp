// Patterns of LIKE and of shells, against the definition by recursion.
#include "runtime/base/text_patterns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace headrace {
namespace {

/// `many` is any text, `one` any byte.
bool slowly(std::string_view text, std::string_view pattern, char many, char one) {
  if (pattern.empty()) {
    return text.empty();
  }
  if (pattern.front() == many) {
    return slowly(text, pattern.substr(1), many, one) ||
           (!text.empty() && slowly(text.substr(1), pattern, many, one));
  }
  return !text.empty() && (pattern.front() == one || pattern.front() == text.front()) &&
         slowly(text.substr(1), pattern.substr(1), many, one);
}

TEST(TextPatterns, StarsAreTriedAtEveryPlace) {
  std::mt19937 random(7);
  auto draw = [&](size_t length, std::string_view letters) {
    std::string text(random() % length, ' ');
    std::ranges::generate(text, [&] { return letters[random() % letters.size()]; });
    return text;
  };
  for (int round = 0; round < 20'000; ++round) {
    const std::string text = draw(9, "ab"), like = draw(7, "ab%_"), glob = draw(7, "ab*?");
    ASSERT_EQ(isLike(text, like, ""), slowly(text, like, '%', '_')) << text << " " << like;
    ASSERT_EQ(fitsGlob(text, glob), slowly(text, glob, '*', '?')) << text << " " << glob;
  }
}

TEST(TextPatterns, LikeTakesCharactersAndEscapes) {
  EXPECT_EQ(isLike("ä", "_", ""), true);
  EXPECT_EQ(isLike("ä", "__", ""), false);
  EXPECT_EQ(isLike("50%", "50!%", "!"), true);
  EXPECT_EQ(isLike("50x", "50!%", "!"), false);
  EXPECT_EQ(isLike("a_", "a__", "_"), true);
  EXPECT_EQ(isLike("ax", "a__", "_"), false);
  EXPECT_EQ(isLike("a%", "a%%", "%"), true);
  EXPECT_EQ(isLike("ab", "a%%", "%"), false);
  EXPECT_EQ(isLike("b", "a!", "!"), false);
  EXPECT_EQ(isLike("a", "a!", "!"), std::nullopt);
}

TEST(TextPatterns, SetsOfGlobs) {
  for (const auto &[text, pattern] : {std::pair{"ab]", "ab[]]"},
                                      {"a-b", "a[b-]b"},
                                      {"axb", "a[!b-d]b"},
                                      {"\xff", "[\x80-\xff]"},
                                      {"a*", "a\\*"},
                                      {"b", "[a-c]"}}) {
    EXPECT_TRUE(fitsGlob(text, pattern)) << pattern;
  }
  for (const auto &[text, pattern] :
       {std::pair{"ab", "a[!b]"}, {"a", "[a"}, {"ax", "a\\*"}, {"a", "a\\"}, {"d", "[a-c]"}}) {
    EXPECT_FALSE(fitsGlob(text, pattern)) << pattern;
  }
}

} // namespace
} // namespace headrace
