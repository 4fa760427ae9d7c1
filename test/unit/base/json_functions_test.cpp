// Functions of JSON as values of the table; test_json_functions.py compares them with DuckDB.
#include "runtime/base/json_functions.h"

#include "runtime/base/json_text.h"
#include "runtime/base/list_values.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace headrace::json {
namespace {

/// As much room as is asked for and no byte more, so that a sanitizer sees what goes beyond.
class ExactRoom final : public TextRoom {
private:
  char *take(uint64_t bytes) override {
    memory_ = std::vector<char>(bytes);
    return memory_.data();
  }
  std::vector<char> memory_;
};

/// What stands behind the letter.
std::string behind(const MaybeText &text) {
  return !text ? "malformed" : text->empty() ? "NULL" : std::string(text->substr(1));
}

std::string extracted(Text text, Text path = "") {
  ExactRoom room;
  return behind(extract(room, text, path));
}

TEST(JsonFunctions, NumbersHaveOneForm) {
  for (const auto &[number, written] : std::vector<std::pair<const char *, const char *>>{
           {"1", "1"},
           {"-0", "0"},
           {"1.0", "1.0"},
           {"1.50", "1.5"},
           {"-0.0", "-0.0"},
           {"1e5", "100000.0"},
           {"1E+20", "100000000000000000000.0"},
           {"1e21", "1e21"},
           {"1.5e-7", "1.5e-7"},
           {"0.0000001", "1e-7"},
           {"1e-6", "0.000001"},
           {"123456789.123456789", "123456789.12345679"},
           {"1e400", "1e400"},
           {"-1E400", "-1E400"},
           {"1e-400", "0.0"},
           {"1.7976931348623157e308", "1.7976931348623157e308"},
           {"5e-324", "5e-324"},
           {"123456789012345678901234567890", "123456789012345678901234567890"},
           {"NaN", "NaN"},
           {"-inf", "-inf"}}) {
    EXPECT_EQ(extracted(number), written);
    EXPECT_EQ(extracted("[ " + std::string(number) + " , 1]", "$[0]"), written);
  }
  std::string real;
  appendReal(-std::numeric_limits<double>::infinity(), real);
  appendReal(0.1, real);
  EXPECT_EQ(real, "-Infinity0.1");
}

TEST(JsonFunctions, StringsHaveOneForm) {
  EXPECT_EQ(extracted(R"("a\/\u0062\u0022\u005c\u0001\u001F\u000a\ud83d\ude00")"),
            R"("a/b\"\\\u0001\u001F\n😀")");
  ExactRoom room;
  EXPECT_EQ(behind(extractText(room, R"({"a":"x\ty"})", "a")), "x\ty");
  EXPECT_EQ(behind(extractText(room, R"({"a":"xy"})", "a")), "xy");
  EXPECT_EQ(behind(extractText(room, R"("")", "")), "");
  EXPECT_EQ(behind(extractText(room, R"({"a":null})", "a")), "NULL");
  EXPECT_EQ(quoted(room, "a\"\\\n\x01é"), "\"a\\\"\\\\\\n\\u0001é\"");
}

TEST(JsonFunctions, PathsLeadToTheFirst) {
  const Text text = R"({"a":{"b":[1,{"c":"x"}]},"d":[],"a":7,"":8})";
  EXPECT_EQ(extracted(text, "$.a.b[1].c"), "\"x\"");
  EXPECT_EQ(extracted(text, "$.a.b[#-1]"), R"({"c":"x"})");
  EXPECT_EQ(extracted(text, "/a/b/0"), "1");
  EXPECT_EQ(extracted(text, "/"), "8");
  EXPECT_EQ(extracted(text, "$.d[0]"), "NULL");
  EXPECT_EQ(extracted(text, "$.a.x"), "NULL");
  EXPECT_EQ(extracted(text, "$.a[0]"), "NULL");
  EXPECT_EQ(extracted(text, "$."), "malformed");
  EXPECT_EQ(extracted(text, "$.*"), "malformed"); // as that of a row
  EXPECT_EQ(extracted(R"({"a":1} x)", "a"), "malformed");
  EXPECT_EQ(extracted(R"({"a":1,"b":})", "a"), "malformed");
  ExactRoom room;
  EXPECT_EQ(behind(extractScalar(room, text, "d")), "NULL");
  EXPECT_EQ(behind(typeOf(text, "$.a.b[0]")), "UBIGINT");
  EXPECT_EQ(arrayLength(text, "$.a.b")->number, 2);
  EXPECT_EQ(arrayLength(text, "$.x")->number, -1);
  EXPECT_EQ(exists(text, "$.d"), true);
  EXPECT_EQ(exists(text, "$.e"), false);
  EXPECT_EQ(extractAll(room, text, "$..b[*]")->view.size(), 2u);
}

TEST(JsonFunctions, Prettied) {
  ExactRoom room;
  EXPECT_EQ(pretty(room, R"({"a":[1,{}],"b":[]})"),
            "{\n    \"a\": [\n        1,\n        {}\n    ],\n    \"b\": []\n}");
  EXPECT_EQ(pretty(room, "[1e400,2]"), "[\n1e400,\n    2\n]"); // as DuckDB has it
}

TEST(JsonFunctions, ContainsAndMergePatch) {
  EXPECT_EQ(contains(R"({"a":[1,{"b":2,"c":3}]})", R"({"b":2})"), true);
  EXPECT_EQ(contains(R"([1,2])", "[2,1]"), true);
  EXPECT_EQ(contains(R"([1])", "1.0"), false);
  EXPECT_EQ(contains("[", "1"), std::nullopt);
  const std::string deep = std::string(501, '[') + std::string(501, ']');
  EXPECT_EQ(contains("1", deep), std::nullopt);
  EXPECT_EQ(contains(deep, "1"), false);
  ExactRoom room;
  EXPECT_EQ(patched(room, R"({"a":1,"b":{"x":1}})", R"({"a":null,"b":{"y":2},"c":{"z":null}})"),
            R"({"b":{"x":1,"y":2},"c":{}})");
  EXPECT_EQ(patched(room, "5", R"({"a":null})"), R"({"a":null})");
}

TEST(JsonFunctions, WhatCastsRead) {
  ExactRoom room;
  const auto read = [&](std::string_view text, Target target, Strings strings = Strings::kStrict) {
    return behind(castText(room, text, target, strings));
  };
  EXPECT_EQ(read("2.5", Target::kInteger), "2");
  EXPECT_EQ(read("1e30", Target::kInteger), "1000000000000000019884624838656");
  EXPECT_EQ(read("true", Target::kDouble), "1");
  EXPECT_EQ(read("0.5", Target::kBoolean), "true");
  EXPECT_EQ(read("null", Target::kWord), "NULL");
  EXPECT_EQ(read("[1, 2.50]", Target::kText), "[1,2.5]");
  EXPECT_EQ(read("1e16", Target::kText), "1e+16");
  EXPECT_EQ(read("0.1234567890123456789", Target::kDecimal), "0.1234567890123456789");
  EXPECT_EQ(read("16777217.5", Target::kSingle), "16777218.0");
  EXPECT_EQ(read("\" 0x1_0\"", Target::kInteger), "16");
  EXPECT_EQ(read("\"0b101\"", Target::kInteger), "5");
  EXPECT_EQ(read("\"1.5\"", Target::kInteger, Strings::kTexts), "1.5");
  EXPECT_EQ(read("\"1\"", Target::kBoolean, Strings::kTexts), "1");
  for (const auto &[text, target] : {std::pair{"[1]", Target::kWord},
                                     {"1", Target::kWord},
                                     {"[1]", Target::kInteger},
                                     {"1e39", Target::kSingle},
                                     {"\"2.5\"", Target::kInteger},
                                     {"\"007\"", Target::kInteger},
                                     {"\"1\"", Target::kBoolean},
                                     {"\"1 \"", Target::kDouble},
                                     {"\"1_0\"", Target::kDouble}}) {
    EXPECT_EQ(castText(room, text, target, Strings::kStrict), std::nullopt) << text;
  }
  EXPECT_EQ(elementsOf(room, "{}"), std::nullopt);
  EXPECT_EQ(valuesOf(room, "[]"), std::nullopt);
  EXPECT_EQ(listedIn(room, "null"), std::nullopt);
}

/// The rows that json_each or json_tree gives, each with its texts, and `-` for NULL.
std::vector<std::string> rows(Text text, Text path, RowsOf which) {
  ExactRoom room;
  const MaybeList list = rowsOf(room, text, path, which);
  if (!list) {
    return {"malformed"};
  }
  std::vector<std::string> all;
  for (uint32_t row = 0; row < list->view.size(); ++row) {
    const ListView fields(list->view.bytes(row));
    std::string shown;
    for (uint32_t field = 0; field < fields.size(); ++field) {
      const bool isNumber = field == 4 || field == 5; // id, parent
      shown += field == 0 ? "" : " ";
      shown += !fields.isValid(field) ? "-"
               : isNumber             ? std::to_string(static_cast<uint64_t>(
                                            integerIn(fields.code(field), fields.bytes(field))))
                                      : std::string(fields.bytes(field));
    }
    all.push_back(shown);
  }
  return all;
}

TEST(JsonFunctions, RowsOfEachAndTree) {
  using Shown = std::vector<std::string>;
  const Text text = R"({"a":[1,{"b c":2.50}],"d" : null})";
  EXPECT_EQ(rows(text, "$", RowsOf::kEach),
            Shown({R"(a [1,{"b c":2.5}] ARRAY - 2 - $.a $)", "d null NULL - 8 - $.d $"}));
  EXPECT_EQ(rows(text, "$", RowsOf::kTree),
            Shown({R"(- {"a":[1,{"b c":2.5}],"d":null} OBJECT - 0 - $ $)",
                   R"(a [1,{"b c":2.5}] ARRAY - 2 0 $.a $)", "0 1 UBIGINT 1 3 2 $.a[0] $.a",
                   R"(1 {"b c":2.5} OBJECT - 4 2 $.a[1] $.a)",
                   R"(b c 2.5 DOUBLE 2.5 6 4 $.a[1]."b c" $.a[1])", "d null NULL - 8 0 $.d $"}));
  EXPECT_EQ(rows(text, "a", RowsOf::kEach),
            Shown({R"(0 1 UBIGINT 1 3 - $."a"[0] $."a")",
                   R"(1 {"b c":2.5} OBJECT - 4 - $."a"[1] $."a")"}));
  EXPECT_EQ(rows(R"(["\"[{",-1])", "$[1]", RowsOf::kTree), Shown({"- -1 BIGINT -1 2 - $[1] $[1]"}));
  EXPECT_EQ(rows("5", "$", RowsOf::kEach), Shown({"- 5 UBIGINT 5 0 - $ $"}));
  EXPECT_EQ(rows("[]", "$", RowsOf::kEach), Shown());
  EXPECT_EQ(rows("[1]", "$.x", RowsOf::kTree), Shown());
  for (const auto &[malformed, path] : {std::pair{"[1", "$"},
                                        {"[1]", "/0"},
                                        {"[1]", ""},
                                        {"[1]", "a\"b"},
                                        {"[1]", "$[*]"},
                                        {"[1] 2", "$[0]"}}) {
    EXPECT_EQ(rows(malformed, path, RowsOf::kEach), Shown({"malformed"})) << path;
  }
}

TEST(JsonFunctions, Structures) {
  ExactRoom room;
  EXPECT_EQ(structureOf(room, R"([{"a":1,"b":[]},{"a":-1,"b":[true],"c":{}},null])"),
            R"([{"a":"HUGEINT","b":["BOOLEAN"],"c":"JSON"}])");
  EXPECT_EQ(structureOf(room, R"({"x\"":[1,"y"]})"), R"({"x\"":["JSON"]})");
  EXPECT_EQ(structureOf(room, "{"), std::nullopt);
  EXPECT_EQ(structureOf(room, std::string(501, '[') + std::string(501, ']')), std::nullopt);
}

} // namespace
} // namespace headrace::json
