// Rules of zones: changes of clocks, summers by rules, days that are longer, files and names.
// Sources: zone_rules.cpp.
#include "runtime/base/zone_rules.h"

#include "runtime/base/civil.h"

#include <gtest/gtest.h>

#include <string>

namespace headrace {
namespace {

constexpr int64_t kSecond = 1'000'000, kHour = 3600 * kSecond, kDay = 24 * kHour;

int64_t at(int64_t year, int64_t month, int64_t day, int64_t hour, int64_t minute = 0) {
  return daysFromCivil(year, month, day) * kDay + hour * kHour + minute * 60 * kSecond;
}

/// Local time until 1900, then Central European Time, with summers from 2000 on.
std::string berlin() {
  ZoneTable table{.firstOffset = 3208,
                  .seconds = {at(1900, 1, 1, 0) / kSecond, at(2000, 1, 1, 0) / kSecond},
                  .offsets = {3600, 3600}};
  EXPECT_TRUE(parseSummer("CET-1CEST,M3.5.0,M10.5.0/3", table.summer));
  return table.packed();
}

TEST(ZoneRules, OffsetsAtMoments) {
  const std::string bytes = berlin();
  const ZoneRules rules(bytes);
  EXPECT_EQ(rules.offsetAt(at(1800, 1, 1, 0)), 3208);
  EXPECT_EQ(rules.offsetAt(at(1900, 1, 1, 0) - 1), 3208);
  EXPECT_EQ(rules.offsetAt(at(1900, 1, 1, 0)), 3600);
  EXPECT_EQ(rules.offsetAt(at(2024, 3, 31, 1) - 1), 3600);
  EXPECT_EQ(rules.offsetAt(at(2024, 3, 31, 1)), 7200);
  EXPECT_EQ(rules.offsetAt(at(2024, 10, 27, 1) - 1), 7200);
  EXPECT_EQ(rules.offsetAt(at(2024, 10, 27, 1)), 3600);
  EXPECT_EQ(rules.offsetAt(INT64_MAX), 0) << "of infinity";
}

TEST(ZoneRules, WhatClocksShowTwiceOrNever) {
  const std::string bytes = berlin();
  const ZoneRules rules(bytes);
  EXPECT_EQ(rules.offsetOfClock(at(2024, 3, 31, 2, 30)), 3600) << "never shown";
  EXPECT_EQ(rules.offsetOfClock(at(2024, 3, 31, 3)), 7200);
  EXPECT_EQ(rules.offsetOfClock(at(2024, 10, 27, 1, 59)), 7200);
  EXPECT_EQ(rules.offsetOfClock(at(2024, 10, 27, 2)), 3600) << "shown twice";
  EXPECT_EQ(rules.offsetOfClock(at(1900, 1, 1, 0, 55)), 3208) << "never shown";
}

TEST(ZoneRules, SummersOfTheSouth) {
  ZoneTable table;
  ASSERT_TRUE(parseSummer("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", table.summer));
  const std::string bytes = table.packed();
  const ZoneRules rules(bytes);
  EXPECT_EQ(rules.offsetAt(at(2024, 1, 1, 0)), 39'600);
  EXPECT_EQ(rules.offsetAt(at(2024, 7, 1, 0)), 37'800);
  EXPECT_EQ(rules.offsetAt(at(2024, 12, 1, 0)), 39'600);
  EXPECT_EQ(rules.offsetOfClock(at(2024, 4, 7, 1, 45)), 37'800) << "shown twice";
}

TEST(ZoneRules, RulesThatAreNone) {
  std::optional<ZoneTable::Summer> summer;
  EXPECT_TRUE(parseSummer("<+0545>-5:45", summer));
  EXPECT_FALSE(summer);
  for (const char *text : {"", "CET", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0",
                           "CET-1CEST,J60,J300", "CET-1CEST,M3.5.0,M10.5.0/3x", "<CET-1"}) {
    EXPECT_FALSE(parseSummer(text, summer)) << text;
  }
}

TEST(ZoneRules, Days) {
  const std::string bytes = berlin();
  const ZoneRules rules(bytes);
  EXPECT_EQ(rules.daysLater(at(2024, 10, 26, 0, 30), 1), at(2024, 10, 27, 0, 30)) << "shown twice";
  EXPECT_EQ(rules.daysLater(at(2024, 10, 26, 0, 30), 2), at(2024, 10, 28, 1, 30));
  EXPECT_EQ(rules.daysLater(at(2024, 3, 30, 1, 30), 1), at(2024, 3, 31, 1, 30)) << "never shown";
  EXPECT_EQ(rules.daysLater(INT64_MAX, 1), INT64_MAX);
  EXPECT_FALSE(rules.daysLater(at(2024, 1, 1, 0), INT64_MAX / 2));
  EXPECT_EQ(rules.daysBetween(at(2024, 10, 26, 0, 30), at(2024, 10, 28, 0, 30)), 1);
  EXPECT_EQ(rules.daysBetween(at(2024, 10, 28, 0, 30), at(2024, 10, 26, 0, 30)), -1);
  EXPECT_EQ(rules.daysBetween(at(2024, 1, 1, 0), at(2024, 1, 1, 23)), 0);
}

TEST(ZoneRules, Texts) {
  const std::string bytes = berlin();
  EXPECT_EQ(printZoned(at(2024, 7, 1, 12), bytes), "2024-07-01 14:00:00+02");
  EXPECT_EQ(printZoned(at(1800, 1, 1, 12), bytes), "1800-01-01 12:53:28+00:53");
  EXPECT_EQ(printZoned(INT64_MAX, bytes), "infinity");
  EXPECT_EQ(printOffset(-2670), "-00:44:30");
  EXPECT_EQ(printOffset(20'700), "+05:45");
  EXPECT_EQ(parseZoned("2024-07-01 14:00", bytes), at(2024, 7, 1, 12));
  EXPECT_EQ(parseZoned("2024-07-01 14:00+00", bytes), at(2024, 7, 1, 14));
  EXPECT_EQ(parseZoned("2024-07-01", bytes), at(2024, 6, 30, 22));
  EXPECT_FALSE(parseZoned("2024-07-01 x", bytes));
}

TEST(ZoneRules, Names) {
  const std::string bytes = berlin(), utc = ZoneTable{}.packed();
  const std::string zones = packedZones({{"etc/utc", utc}, {"europe/berlin", bytes}});
  std::string made;
  EXPECT_EQ(zoneNamed("Europe/Berlin", zones, made), bytes);
  EXPECT_EQ(zoneNamed("ETC/UTC", zones, made), utc);
  EXPECT_FALSE(zoneNamed("Europe/Paris", zones, made));
  ASSERT_TRUE(zoneNamed("UTC+2", zones, made));
  EXPECT_EQ(ZoneRules(made).offsetAt(0), 7200);
  EXPECT_EQ(fixedOffset("GMT-05:30"), -19'800);
  EXPECT_EQ(fixedOffset("utc"), 0);
  for (const char *text : {"", "UT", "UTC2", "UTC+", "UTC+24", "UTC+2:3", "UTC+2:60", "UTC+2x"}) {
    EXPECT_FALSE(fixedOffset(text)) << text;
  }
}

TEST(ZoneRules, FilesThatAreNone) {
  for (const std::string &bytes : {std::string(), std::string("TZif2"), std::string(200, 'x'),
                                   "TZif2" + std::string(39, '\0')}) {
    EXPECT_FALSE(zoneOfFile(bytes));
  }
}

} // namespace
} // namespace headrace
