// Dates, times and timestamps as text and back, at the ends of what they hold.
#include "runtime/base/moment_text.h"

#include "runtime/base/civil.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace headrace {
namespace {

constexpr TimeUnit kMicro = TimeUnit::kMicrosecond;

std::string dateText(int64_t days) {
  char memory[kMomentTextBytes];
  return {memory, printDate(days, memory)};
}
std::string momentText(int64_t moment, TimeUnit unit, bool zoned = false) {
  char memory[kMomentTextBytes];
  return {memory, printTimestamp(moment, unit, zoned, memory)};
}

TEST(MomentText, Dates) {
  EXPECT_EQ(dateText(0), "1970-01-01");
  EXPECT_EQ(dateText(daysFromCivil(-43, 3, 15)), "0044-03-15 (BC)");
  EXPECT_EQ(dateText(kInfiniteDate), "infinity");
  EXPECT_EQ(dateText(-kInfiniteDate), "-infinity");
  EXPECT_EQ(parseDate("0044-03-15 (BC)"), daysFromCivil(-43, 3, 15));
  EXPECT_EQ(parseDate("2024/2/29"), daysFromCivil(2024, 2, 29));
  EXPECT_EQ(parseDate("-infinity"), -kInfiniteDate);
  EXPECT_EQ(parseDate("2024-02-29 10:00"), daysFromCivil(2024, 2, 29));
  for (const char *text : {"", "2023-02-29", "2024-02/29", "2024-02", "0000-01-01 (BC)",
                           "2024-02-29x", "2024-02-29 25:00"}) {
    EXPECT_EQ(parseDate(text), std::nullopt) << text;
  }
}

TEST(MomentText, TextsAreReadAsWhatTheyWereWrittenFrom) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 20'000; ++round) {
    const auto unit = static_cast<TimeUnit>(random() % 4);
    const auto [least, greatest] = finiteTimestamps(unit);
    const int64_t moment = std::uniform_int_distribution<int64_t>(least, greatest)(random);
    const bool zoned = random() % 2 != 0;
    const std::string text = momentText(moment, unit, zoned);
    ASSERT_EQ(parseTimestamp(text, unit, zoned), moment) << text;
    ASSERT_EQ(parseDate(text),
              (moment - (moment % unitsOfDay(unit) + unitsOfDay(unit)) % unitsOfDay(unit)) /
                  unitsOfDay(unit))
        << text;
  }
}

TEST(MomentText, TimesHaveTheDigitsThatAreThere) {
  constexpr int64_t kHalfPastTwo = 150 * 60;
  const auto time = [](const char *text) { return parseTime(text, TimeUnit::kSecond); };
  EXPECT_EQ(time("0000002:30:000"), kHalfPastTwo);
  EXPECT_EQ(time("2024-02-29\t02:30: 00"), kHalfPastTwo);
  EXPECT_EQ(time("290309-12-21 02:30:Z"), kHalfPastTwo);
  EXPECT_EQ(time("02:30: 00"), std::nullopt);
  EXPECT_EQ(time("02:300:00"), std::nullopt);
  EXPECT_EQ(parseTimestamp("1970-01-01 02:30:000", TimeUnit::kSecond, false), std::nullopt);
}

TEST(MomentText, FractionsAreCutOrRounded) {
  EXPECT_EQ(momentText(-1, kMicro), "1969-12-31 23:59:59.999999");
  EXPECT_EQ(momentText(1'500'000, kMicro, true), "1970-01-01 00:00:01.5+00");
  EXPECT_EQ(parseTimestamp("1970-01-01 00:00:00.1234569", kMicro, false), 123'456);
  EXPECT_EQ(parseTimestamp("1970-01-01 00:00:00.1235", TimeUnit::kMillisecond, false), 124);
  EXPECT_EQ(parseTimestamp("1969-12-31 23:59:59.9995", TimeUnit::kMillisecond, false), -1);
  EXPECT_EQ(parseTimestamp("1970-01-01 00:00:00.4", TimeUnit::kSecond, false), 0);
}

TEST(MomentText, OffsetsCountWhereThereAreZones) {
  bool isLocal = false;
  EXPECT_EQ(parseTimestamp("1970-01-01T02:00+01:30", TimeUnit::kSecond, true, &isLocal), 1800);
  EXPECT_FALSE(isLocal);
  EXPECT_EQ(parseTimestamp("1970-01-01T02:00+01:30", TimeUnit::kSecond, false), 7200);
  EXPECT_EQ(parseTimestamp("1970-01-01 02:00 UTC", TimeUnit::kSecond, true), 7200);
  EXPECT_EQ(parseTimestamp("1970-01-01 02:00 Mars", TimeUnit::kSecond, true), std::nullopt);
  EXPECT_EQ(parseTimestamp("1970-01-01 02:00", TimeUnit::kSecond, true, &isLocal), 7200);
  EXPECT_TRUE(isLocal);
}

TEST(MomentText, TimesOfDay) {
  EXPECT_EQ(parseTime("24:00:00", kMicro), unitsOfDay(kMicro));
  EXPECT_EQ(parseTime("24:00:01", kMicro), std::nullopt);
  EXPECT_EQ(parseTime("1:2", kMicro), 3720 * unitsOfSecond(kMicro));
  EXPECT_EQ(parseTime("1:2 x", kMicro), std::nullopt);
  EXPECT_EQ(parseTime("1:2 ", kMicro), std::nullopt);
  EXPECT_EQ(parseTime("0:0:1 ", kMicro), unitsOfSecond(kMicro));
  EXPECT_EQ(parseTime("1970-01-01 ", kMicro), std::nullopt);
  EXPECT_EQ(parseTime("1970-01-01 1:2 \t", kMicro), 3720 * unitsOfSecond(kMicro));
  EXPECT_EQ(parseTime("1970-01-01 1:2\t", kMicro), std::nullopt);
  EXPECT_EQ(parseTime("epoch\t", kMicro), 0);
  EXPECT_EQ(parseTime("1969-12-31 23:00:00", TimeUnit::kSecond), 82'800);
  char memory[kMomentTextBytes];
  const int64_t time = (3600 * 23 + 60 * 5 + 9) * unitsOfSecond(kMicro) + 40;
  EXPECT_EQ(std::string(memory, printTime(time, kMicro, memory)), "23:05:09.00004");
}

TEST(MomentText, WhatNoUnitHolds) {
  EXPECT_EQ(parseTimestamp("2262-04-12", TimeUnit::kNanosecond, false), std::nullopt);
  EXPECT_EQ(parseTimestamp("infinity", TimeUnit::kNanosecond, false), kInfiniteTimestamp);
  EXPECT_EQ(parseTimestamp("294247-01-10 04:00:54.775807", kMicro, false), std::nullopt);
  EXPECT_EQ(parseTimestamp("294247-01-10 04:00:54.775806", kMicro, false), INT64_MAX - 1);
}

} // namespace
} // namespace headrace
