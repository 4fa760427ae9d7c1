// Intervals as bytes, keys and texts, and arithmetic at the ends of what they hold.
// Sources: interval_values.cpp, interval_text.cpp.
#include "runtime/base/interval_values.h"
#include "runtime/base/list_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace headrace {
namespace {

constexpr int64_t kDay = 86'400'000'000;

const std::vector<IntervalParts> &values() {
  static const std::vector<IntervalParts> all = {{},
                                                 {1, 0, 0},
                                                 {0, 30, 0},
                                                 {0, 0, 30 * kDay},
                                                 {1, -1, 0},
                                                 {0, 29, 0},
                                                 {-1, 30, -1},
                                                 {0, -1, kDay},
                                                 {14, 3, 14'706'500'000},
                                                 {INT32_MAX, INT32_MAX, INT64_MAX},
                                                 {INT32_MIN, INT32_MIN, INT64_MIN},
                                                 {0, 0, INT64_MIN}};
  return all;
}

int sign(__int128 value) { return value < 0 ? -1 : value > 0 ? 1 : 0; }

TEST(IntervalValues, BytesAndBack) {
  for (const IntervalParts &parts : values()) {
    const std::string bytes = packedInterval(parts);
    EXPECT_EQ(bytes.size(), kIntervalBytes);
    EXPECT_EQ(intervalParts(bytes), parts);
  }
  EXPECT_EQ(intervalParts(""), IntervalParts());
}

TEST(IntervalValues, KeysAreInOrderAsTotals) {
  const ElementCode code = elementCode({LogicalKind::kInterval});
  for (const IntervalParts &a : values()) {
    for (const IntervalParts &b : values()) {
      const int wanted = sign(a.total() - b.total());
      EXPECT_EQ(sign(intervalKey(a).compare(intervalKey(b))), wanted);
      EXPECT_EQ(compareElements(code, packedInterval(a), packedInterval(b)), wanted);
    }
  }
}

TEST(IntervalValues, NormalizedOnesAreEqual) {
  for (const IntervalParts &parts : values()) {
    const std::optional<IntervalParts> made = normalized(parts);
    ASSERT_EQ(made.has_value(), std::abs(int64_t{parts.months}) < INT32_MAX);
    if (made) {
      EXPECT_TRUE(made->total() == parts.total());
      EXPECT_TRUE(made->days >= 0 && made->days < 30 && made->micros >= 0 && made->micros < kDay);
    }
  }
}

TEST(IntervalValues, TextsAndBack) {
  for (const IntervalParts &parts : values()) {
    EXPECT_EQ(parseInterval(intervalText(parts)), parts) << intervalText(parts);
  }
  EXPECT_EQ(intervalText({-14, 1, -1}), "-1 year -2 months 1 day -00:00:00.000001");
  EXPECT_EQ(parseInterval("9223372036854775808 us"), std::nullopt);
  EXPECT_EQ(parseInterval("99999999999999999999:00:00"), std::nullopt);
}

TEST(IntervalValues, Multiples) {
  EXPECT_EQ(multiplied({1, 0, 0}, 2.5), (IntervalParts{2, 15, 0}));
  EXPECT_EQ(divided({1, 0, 0}, 7), (IntervalParts{0, 4, 24'685'689'600}));
  EXPECT_EQ(divided({0, 0, 5}, 2), (IntervalParts{0, 0, 2}));
  EXPECT_EQ(divided({1, 0, 0}, 0), std::nullopt);
  EXPECT_EQ(multiplied({0, 0, 1}, std::nan("")), std::nullopt);
  EXPECT_EQ(multiplied({1, 1, 1}, 1e300), std::nullopt);
}

TEST(IntervalValues, Means) {
  EXPECT_EQ(averageInterval(1, -7, 0, 2), (IntervalParts{0, 12, -kDay / 2}));
  EXPECT_EQ(averageInterval(0, 0, 2, 3), (IntervalParts{0, 0, 1}));
  EXPECT_EQ(averageInterval(0, 0, -2, 3), (IntervalParts{0, 0, -1}));
  EXPECT_EQ(averageInterval(0, 0, 0, 0), std::nullopt);
}

TEST(IntervalValues, LaterByMonthsThatAreShorter) {
  constexpr int64_t kLeapYear = 19'753 * kDay; // 2024-01-31
  EXPECT_TRUE(laterBy({1, 0, 5}, kLeapYear) == 19'782 * kDay + 5);
  EXPECT_TRUE(laterBy({-2, 1, 0}, kLeapYear) == 19'692 * kDay);
  for (const int64_t end : {INT64_MIN, INT64_MAX}) {
    EXPECT_TRUE(laterBy({}, end) == end);
    EXPECT_TRUE(laterBy({0, 1, 1}, end) == static_cast<__int128>(end) + kDay + 1);
    laterBy({INT32_MAX, INT32_MAX, INT64_MAX}, end);
    laterBy({INT32_MIN, INT32_MIN, INT64_MIN}, end);
  }
}

TEST(IntervalValues, BucketsBeginWhereOneDoes) {
  EXPECT_EQ(bucketStart({0, 2, 0}, -1, 0), -2 * kDay);
  EXPECT_EQ(bucketStart({0, 1, -kDay / 2}, kDay - 1, 1), kDay / 2 + 1);
  EXPECT_EQ(bucketStart({3, 0, 0}, -1, 0), -92 * kDay);
  EXPECT_EQ(bucketStart({1, 0, 1}, 0, 0), std::nullopt);
  EXPECT_EQ(bucketStart({0, 1, -kDay}, 0, 0), std::nullopt);
  EXPECT_EQ(bucketStart({-1, 0, 0}, 0, 0), std::nullopt);
  for (const int64_t moment : {INT64_MIN, INT64_MAX}) {
    for (const int64_t origin : {INT64_MIN, INT64_MAX}) {
      bucketStart({INT32_MAX, 0, 0}, moment, origin);
      bucketStart({0, INT32_MAX, INT64_MAX}, moment, origin);
    }
  }
}

} // namespace
} // namespace headrace
