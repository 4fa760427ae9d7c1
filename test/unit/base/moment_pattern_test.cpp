// Moments in texts of a given form; DuckDB's strptime reads the same of each.
#include "runtime/base/moment_pattern.h"

#include "runtime/base/moment_text.h"

#include <gtest/gtest.h>

#include <string>

namespace headrace {
namespace {

std::string read(std::string_view text, std::string_view format) {
  EXPECT_EQ(unsupportedPart(format), "") << format;
  const auto moment = momentIn(text, format, TimeUnit::kMicrosecond);
  char memory[kMomentTextBytes];
  return moment
             ? std::string(memory, printTimestamp(*moment, TimeUnit::kMicrosecond, false, memory))
             : "none";
}

TEST(MomentPattern, DatesAndTimes) {
  EXPECT_EQ(read("2024-02-29 13:05:07.25", "%Y-%m-%d %H:%M:%S.%f"), "2024-02-29 13:05:07.25");
  EXPECT_EQ(read("  2024-02-29   13:05:07 ", "%c"), "2024-02-29 13:05:07");
  EXPECT_EQ(read("3 PM friDAY Feb 29 24", "%I %p %A %b %d %y"), "2024-02-29 15:00:00");
  EXPECT_EQ(read("12 am", "%I %p"), "1900-01-01 00:00:00");
  EXPECT_EQ(read("12:00 +02:30", "%H:%M %z"), "1900-01-01 09:30:00");
  EXPECT_EQ(read("5% 68", "%-d%% %y"), "2068-01-05 00:00:00");
  EXPECT_EQ(read("69", "%y"), "1969-01-01 00:00:00");
}

TEST(MomentPattern, DaysByWeekAndYear) {
  EXPECT_EQ(read("2024 60", "%Y %j"), "2024-02-29 00:00:00");
  EXPECT_EQ(read("2020-W53-5", "%G-W%V-%u"), "2021-01-01 00:00:00");
  EXPECT_EQ(read("2024 09 1", "%Y %U %w"), "2024-03-04 00:00:00");
  EXPECT_EQ(read("2024 09 1", "%Y %W %w"), "2024-02-26 00:00:00");
}

TEST(MomentPattern, TextsOfAnotherForm) {
  EXPECT_EQ(read("2023-02-29", "%Y-%m-%d"), "none");
  EXPECT_EQ(read("2024-13-01", "%Y-%m-%d"), "none");
  EXPECT_EQ(read("2024-02-29 x", "%Y-%m-%d"), "none");
  EXPECT_EQ(read("13 pm", "%H %p"), "none");
  EXPECT_EQ(read("20240229", "%Y-%m-%d"), "none");
  EXPECT_EQ(read("60 09", "%j %U"), "none");
}

TEST(MomentPattern, WordsOfAnyForm) {
  EXPECT_EQ(momentIn(" Infinity ", "%Y", TimeUnit::kSecond), kInfiniteTimestamp);
  EXPECT_EQ(momentIn("-infinity", "%Y", TimeUnit::kSecond), -kInfiniteTimestamp);
  EXPECT_EQ(momentIn("epoch", "%Y", TimeUnit::kSecond), 0);
  EXPECT_EQ(momentIn("epochs", "%Y", TimeUnit::kSecond), std::nullopt);
}

TEST(MomentPattern, UnitsCutDownwards) {
  EXPECT_EQ(momentIn("1969-12-31 23:59:59.5", "%c.%f", TimeUnit::kSecond), -1);
  EXPECT_EQ(momentIn("1970-01-01 00:00:00.5", "%c.%f", TimeUnit::kSecond), 0);
  EXPECT_EQ(momentIn("2262", "%Y", TimeUnit::kNanosecond), 9'214'646'400'000'000'000);
  EXPECT_EQ(momentIn("2263", "%Y", TimeUnit::kNanosecond), std::nullopt);
}

TEST(MomentPattern, FormatsThatAreNotSupported) {
  EXPECT_EQ(unsupportedPart("%Y %q %k"), "%q");
  EXPECT_EQ(unsupportedPart("%Y %-"), "%-");
  EXPECT_EQ(unsupportedPart("100%"), "%");
  EXPECT_EQ(unsupportedPart("%% %-d %x"), "");
}

} // namespace
} // namespace headrace
