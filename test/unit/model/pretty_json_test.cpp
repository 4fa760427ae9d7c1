// JSON for people: lines as long as they may be, and numbers that read back the same.
#include "model/topology/pretty_json.h"

#include <gtest/gtest.h>

namespace headrace::topology {
namespace {

using Json = nlohmann::ordered_json;

TEST(PrettyJson, one_member_a_line_and_what_fits_on_one) {
  const Json document = {
      {"name", "a \"b\""}, {"empty", Json::object()}, {"pair", {1, 2.5, nullptr}}};
  EXPECT_EQ(prettyJson(document), "{\n  \"name\": \"a \\\"b\\\"\",\n  \"empty\": {},\n"
                                  "  \"pair\": [1, 2.5, null]\n}\n");
  EXPECT_EQ(prettyJson(Json::array()), "[]\n");
}

TEST(PrettyJson, lines_have_at_most_100_columns) {
  for (size_t length = 80; length < 100; ++length) {
    const Json document = {{"key", {std::string(length, 'x'), 1}}};
    const std::string text = prettyJson(document);
    // `  "key": ["xx…", 1]`, and a comma behind it that others would have
    const bool isOneLine = length + 16 < 100;
    EXPECT_EQ(text.find("[\n") == text.npos, isOneLine) << text;
    EXPECT_EQ(Json::parse(text), document);
  }
}

TEST(PrettyJson, numbers_are_as_short_as_they_can_be) {
  const Json document = {0.1, 1e300, 1e9, 3.3333333333333335};
  EXPECT_EQ(Json::parse(prettyJson(document)), document);
  EXPECT_NE(prettyJson(document).find("0.1,"), std::string::npos);
  EXPECT_NE(prettyJson(document).find("1e+09,"), std::string::npos);
}

} // namespace
} // namespace headrace::topology
