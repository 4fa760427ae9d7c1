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

} // namespace
} // namespace headrace
