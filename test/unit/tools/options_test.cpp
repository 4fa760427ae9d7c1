// What a command line fills, and what is wrong with it.
#include "tools/command_line/options.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

enum class Format { kTable, kCsv };

struct Fields {
  std::string word;
  std::vector<std::string> rest;
  std::string text;
  double number = 1;
  int count = 2;
  Format format = Format::kTable;
  std::string loud = "off";
  int flags = 0;

  Options options() {
    Options made("usage: x");
    made.word("a word", word)
        .words("another word", rest)
        .text("--text", text)
        .number("--number", number, 0, 10)
        .count("--count", count, 1, 100)
        .choice("--format", format, {{"table", Format::kTable}, {"csv", Format::kCsv}})
        .optionalValue("--loud", "on",
                       [this](const std::string &given) -> Status {
                         loud = given;
                         return {};
                       })
        .flag("--flag", [this] { ++flags; });
    return made;
  }
};

TEST(Options, fill_fields_in_any_order) {
  Fields fields;
  Status status = fields.options().read({"--text", "a=b", "one", "--number=0.5", "two", "--count",
                                         "7", "--format=csv", "--loud", "-", "--flag", "--flag"});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(fields.word, "one");
  EXPECT_EQ(fields.rest, (std::vector<std::string>{"two", "-"}));
  EXPECT_EQ(fields.text, "a=b");
  EXPECT_EQ(fields.number, 0.5);
  EXPECT_EQ(fields.count, 7);
  EXPECT_EQ(fields.format, Format::kCsv);
  EXPECT_EQ(fields.loud, "on"); // and the next word is not its value
  EXPECT_EQ(fields.flags, 2);
  ASSERT_TRUE(fields.options().read({"a", "b", "--loud=off", "--count=3", "--count=4"}).ok());
  EXPECT_EQ(fields.loud, "off");
  EXPECT_EQ(fields.count, 4); // the last one
}

TEST(Options, say_what_is_wrong) {
  Fields fields;
  auto message = [&](std::vector<std::string> arguments) {
    Status status = fields.options().read(arguments);
    EXPECT_EQ(status.kind(), ErrorKind::kUser);
    return status.message();
  };
  EXPECT_EQ(message({}), "needs a word\nusage: x");
  EXPECT_EQ(message({"a"}), "needs another word\nusage: x");
  EXPECT_EQ(message({"a", "b", "--cuont", "3"}),
            "unknown option, did you mean --count? got --cuont");
  EXPECT_EQ(message({"a", "b", "--colour"}), "unknown option: --colour\nusage: x");
  EXPECT_EQ(message({"a", "b", "--text"}), "needs a value: --text");
  EXPECT_EQ(message({"a", "b", "--flag=1"}), "takes no value: --flag");
  EXPECT_EQ(message({"a", "b", "--number", "11"}), "--number needs a number from 0 to 10, got 11");
  EXPECT_EQ(message({"a", "b", "--number", "1x"}), "--number needs a number from 0 to 10, got 1x");
  EXPECT_EQ(message({"a", "b", "--count", "1.5"}), "--count needs a whole number, got 1.5");
  EXPECT_EQ(message({"a", "b", "--format=xml"}), "--format must be table or csv, got xml");
}

TEST(Options, one_word_only) {
  std::string word;
  Options options("usage: x");
  options.word("a word", word);
  EXPECT_EQ(options.read({"a", "b"}).message(), "unexpected argument: b");
}

} // namespace
} // namespace headrace
