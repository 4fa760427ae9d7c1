// The reader of JSON and its paths: what is well-formed, how deep, and where a path leads.
#include "runtime/base/json_scanner.h"

#include "runtime/base/json_path.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace headrace::json {
namespace {

bool isRead(const std::string &text) {
  const std::vector<char> exact(text.begin(), text.end()); // a sanitizer sees what is read beyond
  Value value;
  return read({exact.data(), exact.size()}, value);
}

TEST(JsonScanner, ReadsWhatIsWellFormed) {
  for (const char *text : {"{}",
                           "[]",
                           " null ",
                           "true",
                           "false",
                           "0",
                           "-0",
                           "12",
                           "-1.5e+3",
                           "1E5",
                           "NaN",
                           "-Infinity",
                           "inf",
                           "\"\"",
                           "\"a\\u00e9\\ud83d\\ude00\\n\"",
                           "[1,2,]",
                           "{\"a\":1,}",
                           "[[],{},\"x\"]",
                           "{\"a\":{\"b\":[1]}}",
                           "\"a text of more than sixteen bytes\"",
                           "\t[ 1 ,\r\n2 ]"}) {
    EXPECT_TRUE(isRead(text)) << text;
  }
  for (const char *text : {"",
                           " ",
                           "{",
                           "[",
                           "\"",
                           "[1",
                           "{\"a\"",
                           "{\"a\":",
                           "{\"a\":1",
                           "[1 2]",
                           "{a:1}",
                           "[,]",
                           "[1,,]",
                           "{,}",
                           "tru",
                           "nulL",
                           "01",
                           "1.",
                           ".5",
                           "+1",
                           "1e",
                           "1e+",
                           "-",
                           "--1",
                           "\"\\x\"",
                           "\"\\ud83d\"",
                           "\"\\ude00\"",
                           "\"\\ud83d\\u0041\"",
                           "\"\\u12g4\"",
                           "\"\\",
                           "\"\\u12\"",
                           "\"a\tb\"",
                           "\"a text of sixteen\n and more\"",
                           "{} {}",
                           "[]]",
                           "{\"a\":1]",
                           "[1}",
                           "nan1",
                           "infi"}) {
    EXPECT_FALSE(isRead(text)) << text;
  }
  EXPECT_FALSE(isRead(std::string("1\0", 2)));
}

TEST(JsonScanner, EndsAtEveryByte) {
  const std::string text = R"({"key": [1.5, "a\u00e9b", {"x": null, "yy": [true, false, -3e-2]}]})";
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(isRead(text.substr(0, size))) << size;
  }
  EXPECT_TRUE(isRead(text));
}

TEST(JsonScanner, NestsWithoutRecursion) {
  for (const size_t depth : {1, 63, 64, 65, 128, 129, 1'000'000}) {
    EXPECT_TRUE(isRead(std::string(depth, '[') + std::string(depth, ']'))) << depth;
    EXPECT_FALSE(isRead(std::string(depth, '[') + std::string(depth - 1, ']') + "}")) << depth;
  }
  std::string both; // objects and arrays in turn
  for (int level = 0; level < 200; ++level) {
    both = level % 3 == 0 ? "[" + both + "]" : "{\"a\":" + (both.empty() ? "1" : both) + "}";
  }
  EXPECT_TRUE(isRead(both));
}

TEST(JsonScanner, SaysWhatIsWrittenInAnotherWay) {
  const auto seen = [](const char *text) {
    Value value;
    EXPECT_TRUE(read(text, value));
    return value;
  };
  EXPECT_TRUE(seen(R"({"a":[1,-2,"x"]})").isCompact);
  EXPECT_FALSE(seen(R"({"a": 1})").isCompact);
  EXPECT_FALSE(seen(R"({"\u0061":1})").isCompact);
  EXPECT_FALSE(seen("[1,]").isCompact);
  EXPECT_EQ(seen("[1,1.0,-0,2e3,0]").reals, 3u);
  EXPECT_EQ(seen(" [1] ").text, "[1]");
}

TEST(JsonScanner, FindsKeysAndPlaces) {
  const std::string text = R"({"a": 1, "\u0062": [5, 6, 7], "a": 2})";
  const auto find = [&](auto enter) {
    Scanner scanner(text);
    scanner.peek();
    Value value;
    if (enter(scanner) == Scanner::Search::kThere && scanner.readValue(value) && scanner.finish()) {
      return std::string(value.text);
    }
    return std::string("nothing");
  };
  EXPECT_EQ(find([](Scanner &s) { return s.enterKey("a"); }), "1");
  EXPECT_EQ(find([](Scanner &s) { return s.enterKey("c"); }), "nothing");
  for (const auto &[place, value] : {std::pair<int64_t, const char *>{0, "5"},
                                     {2, "7"},
                                     {-1, "7"},
                                     {-3, "5"},
                                     {3, "nothing"},
                                     {-4, "nothing"},
                                     {INT64_MAX, "nothing"}}) {
    EXPECT_EQ(find([&](Scanner &s) {
                s.enterKey("b");
                s.peek();
                return s.enterPlace(place);
              }),
              value)
        << place;
  }
}

TEST(JsonPath, StepsOfEachForm) {
  using Kind = Step::Kind;
  const auto kinds = [](const char *text) {
    std::vector<Kind> found;
    for (const Step &step : pathOf(text).steps) {
      found.push_back(step.kind);
    }
    return found;
  };
  EXPECT_EQ(kinds(""), std::vector<Kind>{});
  EXPECT_EQ(kinds("$"), std::vector<Kind>{});
  EXPECT_EQ(kinds("a.b"), std::vector<Kind>{Kind::kKey});
  EXPECT_EQ(kinds("$.a[1].b"), (std::vector<Kind>{Kind::kKey, Kind::kPlace, Kind::kKey}));
  EXPECT_EQ(kinds("/a/1"), (std::vector<Kind>{Kind::kPointed, Kind::kPointed}));
  EXPECT_EQ(kinds("$.*[*]..b"),
            (std::vector<Kind>{Kind::kAnyKey, Kind::kAnyPlace, Kind::kDescend, Kind::kKey}));
  EXPECT_EQ(kinds("$..*"), (std::vector<Kind>{Kind::kDescend, Kind::kAny}));
  EXPECT_EQ(pathOf("$.\"a \\\"b\\\\\"").steps[0].key, "a \"b\\");
  EXPECT_EQ(pathOf("/a~1b~0").steps[0].key, "a/b~");
  EXPECT_EQ(pathOf("$[#-2]").steps[0].place, -2);
  EXPECT_EQ(pathOf("$[9999999999999999999]").steps[0].place, INT64_MAX);
  EXPECT_EQ(pathOf("/01").steps[0].place, -1);
  EXPECT_TRUE(pathOf("$..a").findsMany);
  EXPECT_FALSE(pathOf("$.a").findsMany);
  for (const char *text : {"$.", "$x", "$[", "$[1", "$[x]", "$[]", "$[#0]", "$[#", "$.\"a",
                           "$.\"\"", "$.a.", "$..", "$[99999999999999999999]"}) {
    EXPECT_FALSE(pathOf(text).isWellFormed) << text;
  }
}

TEST(JsonPath, AreKeptForTheNextRow) {
  EXPECT_TRUE(knownPath("").steps.empty());
  for (int round = 0; round < 3; ++round) {
    for (int path = 0; path < 20; ++path) {
      const std::string key = "key" + std::to_string(path);
      EXPECT_EQ(knownPath("$." + key).steps.at(0).key, key);
      EXPECT_EQ(knownPath("$." + key).steps.at(0).key, key);
    }
  }
}

} // namespace
} // namespace headrace::json
