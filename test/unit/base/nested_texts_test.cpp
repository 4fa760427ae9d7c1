// Texts of lists, maps and structs in parts.
#include "runtime/base/nested_texts.h"

#include <gtest/gtest.h>

namespace headrace::nested_texts {
namespace {

using Parts = std::vector<Part>;
using Entries = std::vector<std::pair<std::string, Part>>;

TEST(NestedTexts, ElementsBetweenCommas) {
  EXPECT_EQ(elements("[1, 2, NULL]"), (Parts{"1", "2", std::nullopt}));
  EXPECT_EQ(elements(" \t[ a b ,c ]\n"), (Parts{"a b", "c"}));
  EXPECT_EQ(elements("[]"), Parts{});
  EXPECT_EQ(elements("[ ]"), Parts{});
  EXPECT_EQ(elements("[,]"), (Parts{"", ""}));
  EXPECT_EQ(elements("[a, , b,]"), (Parts{"a", "", "b", ""}));
  EXPECT_EQ(elements("[null, nUlL, 'null', nulls, ä]"),
            (Parts{std::nullopt, std::nullopt, "null", "nulls", "ä"}));
}

TEST(NestedTexts, QuotesAndBackslashes) {
  EXPECT_EQ(elements(R"(['a, b', "c]", d"e"'f'])"), (Parts{"a, b", "c]", "def"}));
  EXPECT_EQ(elements(R"(["a'b", 'it\'s', "\\x\n", 'a''b'])"),
            (Parts{"a'b", "it's", R"(\xn)", "ab"}));
  EXPECT_EQ(elements(R"([a\"b, c\d, \, ''])"), (Parts{R"(a"b)", R"(c\d)", R"(\)", ""}));
  EXPECT_EQ(elements(R"([a\,b])"), (Parts{R"(a\)", "b"}));
  EXPECT_FALSE(elements(R"([a"b])"));
  EXPECT_FALSE(elements(R"(['a\'])"));
}

TEST(NestedTexts, WhatIsBetweenBracketsStaysAsItIs) {
  EXPECT_EQ(elements("[[1, 2], {a: 'x, y', b: ]}, (c, \"d)\")]"),
            (Parts{"[1, 2]", "{a: 'x, y', b: ]}", "(c, \"d)\")"}));
  EXPECT_EQ(elements("['[1, 2]', [']'] 'a', b)]"), (Parts{"[1, 2]", "[']'] a", "b)"}));
  EXPECT_EQ(elements(R"([['a\']', 'b'] "c"])"), (Parts{R"(['a\']', 'b'] c)"}));
  EXPECT_EQ(elements(R"([[\"] "c" d, "e"])"), (Parts{R"([\"] "c" d)", "e"}));
  EXPECT_FALSE(elements("[[1, 2]"));
  EXPECT_FALSE(elements("[(1]"));
  EXPECT_FALSE(elements("[{'a]}"));
}

TEST(NestedTexts, NoLists) {
  for (const char *text : {"", " ", "1", "NULL", "(1)", "[", "[1", "[1,", "[1]]", "[1] x"}) {
    EXPECT_FALSE(elements(text)) << text;
  }
}

TEST(NestedTexts, Entries) {
  EXPECT_EQ(entries("{k=v, l = w=x}"), (Entries{{"k", "v"}, {"l", "w=x"}}));
  EXPECT_EQ(entries(" { } "), Entries{});
  EXPECT_EQ(entries("{k=NULL, 'a=b'=[1, 2], {c: d}=, =}"),
            (Entries{{"k", std::nullopt}, {"a=b", "[1, 2]"}, {"{c: d}", ""}, {"", ""}}));
  EXPECT_EQ(entries("{'null'=1, k=2, k=3}"), (Entries{{"null", "1"}, {"k", "2"}, {"k", "3"}}));
  for (const char *text : {"", "[k=v]", "{", "{ ", "{k}", "{k: v}", "{k=v", "{k=v,}", "{NULL=v}",
                           "{k=v}}", "{'k=v}", "{k='v}", "{k=[v}"}) {
    EXPECT_FALSE(entries(text)) << text;
  }
}

TEST(NestedTexts, FieldsByName) {
  const std::string_view names[] = {"a", "b c", "it's"};
  EXPECT_EQ(fields("{a: 1, 'b c': x, \"it's\": y}", names), (Parts{"1", "x", "y"}));
  EXPECT_EQ(fields(R"( { it\'s : NULL , b c:{d: 1, e: [2]} } )", names),
            (Parts{std::nullopt, "{d: 1, e: [2]}", std::nullopt}));
  EXPECT_EQ(fields("{a: 1, a:}", names), (Parts{"", std::nullopt, std::nullopt}));
  EXPECT_EQ(fields("{}", names), Parts(3));
  const std::string_view odd[] = {"[", "c\\ "};
  EXPECT_EQ(fields(R"({[: 1, c\ : 2})", odd), (Parts{"1", "2"}));
  for (const char *text : {"", "{", "{A: 1}", "{a = 1}", "{a}", "{a: 1", "{a: 1,}", "{: 1}",
                           "{a: 1, d: 2}", "{NULL: 1}", "{a: 1}}", "{'a: 1}", "{a: '1}"}) {
    EXPECT_FALSE(fields(text, names)) << text;
  }
}

TEST(NestedTexts, FieldsInOrder) {
  const std::string_view names[] = {"a", "b"};
  EXPECT_EQ(fields(" (1, x) ", names), (Parts{"1", "x"}));
  EXPECT_EQ(fields("(NULL, (2, 3))", names), (Parts{std::nullopt, "(2, 3)"}));
  EXPECT_EQ(fields("()", names), Parts(2));
  EXPECT_EQ(fields("(1)", names), (Parts{"1", std::nullopt}));
  EXPECT_EQ(fields("(1, )", names), (Parts{"1", std::nullopt}));
  EXPECT_EQ(fields("(,1,)", names), (Parts{"", "1"}));
  for (const char *text : {"(", "(1", "(1,", "(1, 2, 3)", "(1,2,,)", "(1) x", "[1, 2]", "('1)"}) {
    EXPECT_FALSE(fields(text, names)) << text;
  }
}

} // namespace
} // namespace headrace::nested_texts
