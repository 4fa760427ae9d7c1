// Logical types: their texts, and which of them are integers, texts or nested inside.
#include "runtime/base/logical_type.h"

#include <gtest/gtest.h>

#include <string>

namespace headrace {
namespace {

LogicalType of(LogicalKind kind, std::vector<LogicalType> children,
               std::vector<std::string> names = {}) {
  LogicalType type{kind};
  type.children = std::move(children);
  type.names = std::move(names);
  return type;
}

TEST(LogicalType, Texts) {
  const LogicalType number{LogicalKind::kI64}, text{LogicalKind::kString};
  LogicalType moment{LogicalKind::kTimestamp};
  EXPECT_EQ(moment.text(), "timestamp<us>");
  moment.unit = TimeUnit::kNanosecond;
  moment.zoned = true;
  EXPECT_EQ(moment.text(), "timestamp<ns, zoned>");
  EXPECT_EQ((LogicalType{LogicalKind::kDecimal, 15, 2}).text(), "decimal<15, 2>");
  EXPECT_EQ(of(LogicalKind::kStruct, {number, text}, {"a", "b"}).text(),
            "struct<a: i64, b: string>");
  EXPECT_EQ(of(LogicalKind::kStruct, {number, text}, {"", ""}).text(), "struct<i64, string>");
  EXPECT_EQ(of(LogicalKind::kMap, {text, of(LogicalKind::kList, {moment})}).text(),
            "map<string, list<timestamp<ns, zoned>>>");
  LogicalType array = of(LogicalKind::kList, {number});
  array.size = 3;
  EXPECT_EQ(array.text(), "list<i64, 3>");
  EXPECT_EQ(LogicalType{static_cast<LogicalKind>(200)}.text(), "?");
}

TEST(LogicalType, EachKindIsNamedOnceInTheOrderOfNumbers) {
  int number = 0;
  for (const LogicalKindName &each : kLogicalKindNames) {
    EXPECT_EQ(static_cast<int>(each.value), number++) << each.name;
  }
}

TEST(LogicalType, EachKindIsHeldInOneWay) {
  for (const LogicalKindName &each : kLogicalKindNames) {
    const LogicalType type{each.value};
    const bool isOther = each.value == LogicalKind::kNone || each.value == LogicalKind::kBool ||
                         each.value == LogicalKind::kDoubleDouble;
    EXPECT_EQ(type.integral() + type.real() + type.isHeldAsText() + isOther, 1) << each.name;
  }
}

TEST(LogicalType, IntegersByTheirBits) {
  for (const int bits : {8, 16, 32, 64, 128}) {
    const std::string name = "i" + std::to_string(bits);
    EXPECT_EQ(LogicalType{integerKind(bits, false)}.text(), name);
    EXPECT_EQ(LogicalType{integerKind(bits, true)}.text(), "u" + name);
  }
  EXPECT_EQ(unitsOfDay(TimeUnit::kSecond), 86'400);
  EXPECT_EQ(unitsOfDay(TimeUnit::kNanosecond), 86'400'000'000'000);
}

} // namespace
} // namespace headrace
