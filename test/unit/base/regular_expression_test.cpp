// Regular expressions in texts: groups, options, matches of nothing, and patterns that are refused.
#include "runtime/base/regular_expression.h"

#include "packed_lists.h"

#include <gtest/gtest.h>

namespace headrace::regular_expression {
namespace {

using Parts = std::vector<std::string_view>;
using Matches = std::vector<std::optional<std::string_view>>;

TEST(RegularExpression, PartsAndWholes) {
  EXPECT_EQ(matchesPart("abc", "b", ""), true);
  EXPECT_EQ(matchesWhole("abc", "b", ""), false);
  EXPECT_EQ(matchesWhole("abc", "a.c", ""), true);
  EXPECT_EQ(matchesWhole("ABC", "abc", "i"), true);
  EXPECT_EQ(matchesWhole("abc", "a.c", "l"), false);
  EXPECT_EQ(matchesPart("a\nc", "a.c", "s"), true);
  EXPECT_EQ(matchesPart("a\nc", "a.c", "s n"), false);
}

TEST(RegularExpression, RefusedPatternsAndOptionsGiveNothing) {
  for (const auto &[pattern, options] :
       {std::pair{"(", ""}, {"a", "x"}, {"a", "g"}, {"a{1001}", ""}}) {
    EXPECT_EQ(matchesPart("a", pattern, options), std::nullopt) << pattern << options;
    EXPECT_EQ(firstMatch("a", pattern, 0, options), std::nullopt) << pattern << options;
    EXPECT_EQ(allMatches("a", pattern, 0, options), std::nullopt) << pattern << options;
    EXPECT_EQ(split("a", pattern, options), std::nullopt) << pattern << options;
  }
  ExactRoom room;
  EXPECT_EQ(replaced(room, "a", "(", "b", ""), std::nullopt);
  EXPECT_EQ(replaced(room, "a", "(a)", "\\2", ""), std::nullopt);
}

TEST(RegularExpression, Groups) {
  EXPECT_EQ(firstMatch("x=1, y=22", "(\\w)=(\\d+)", 0, ""), "x=1");
  EXPECT_EQ(firstMatch("x=1, y=22", "y=(\\d)(\\d)", 2, ""), "2");
  EXPECT_EQ(firstMatch("x=1", "(\\w)=(\\d+)", 3, ""), "");
  EXPECT_EQ(firstMatch("b", "(a)|b", 1, ""), "");
  EXPECT_EQ(firstMatch("x", "x", 10, ""), std::nullopt);
  EXPECT_EQ(firstMatch("x", "x", -1, ""), std::nullopt);
  EXPECT_EQ(allMatches("x=1, y=22", "(\\w)=(\\d+)", 2, ""), (Matches{"1", "22"}));
  EXPECT_EQ(allMatches("ab", "(a)|b", 1, ""), (Matches{"a", std::nullopt}));
  EXPECT_EQ(allMatches("ab", "a", -1, ""), Matches{});
  EXPECT_EQ(allMatches("ab", "a", 1, ""), std::nullopt);
  EXPECT_EQ(allMatches("b", "a", 1, ""), Matches{});
}

TEST(RegularExpression, MatchesOfNothingGoOnByACharacter) {
  EXPECT_EQ(allMatches("aäb", "x*", 0, ""), (Matches{"", "", "", ""}));
  EXPECT_EQ(allMatches("baac", "a*", 0, ""), (Matches{"", "aa", "", ""}));
  EXPECT_EQ(split("aäb", "", ""), (Parts{"a", "ä", "b"}));
  EXPECT_EQ(split("", "", ""), Parts{""});
  EXPECT_EQ(split("a, b,c,", ", *", ""), (Parts{"a", "b", "c", ""}));
}

TEST(RegularExpression, Replacements) {
  ExactRoom room;
  EXPECT_EQ(replaced(room, "a1b2", "(\\w)(\\d)", "\\2\\1", ""), "1ab2");
  EXPECT_EQ(replaced(room, "a1b2", "(\\w)(\\d)", "\\2\\1", "g"), "1a2b");
  EXPECT_EQ(replaced(room, "a1b2", "[A-Z]", "", "gi"), "12");
  const std::string_view same = "none";
  EXPECT_EQ(replaced(room, same, "x", "y", "g")->data(), same.data());
}

TEST(RegularExpression, EscapedTextsFitThemselvesAlone) {
  ExactRoom room;
  std::string all;
  for (int byte = 1; byte < 128; ++byte) {
    all += static_cast<char>(byte);
  }
  EXPECT_EQ(matchesWhole(all, escaped(room, all), ""), true);
  EXPECT_EQ(matchesWhole("abc", escaped(room, "a.c"), ""), false);
}

} // namespace
} // namespace headrace::regular_expression
