// Histograms over given bins; DuckDB's equi_width_bins gives the same ends.
// Sources: runtime/base/list_bins.cpp
#include "packed_lists.h"

#include "runtime/base/moment_text.h"

#include <cmath>

namespace headrace {
namespace {

const ElementCode kLong = elementCode({LogicalKind::kI64});

std::string text(const MaybeList &list) { return list ? listText(list->bytes) : "none"; }

std::string longs(const std::vector<int64_t> &values, ElementCode code = kLong) {
  std::vector<std::optional<std::string>> elements;
  for (const int64_t value : values) {
    elements.emplace_back(ElementBytes::ofInteger(code, value).view());
  }
  return pack(code, elements);
}
std::string bins(int64_t least, int64_t most, int64_t count, bool nice) {
  ExactRoom room;
  return text(equalBins(room, List(longs({least, most})), count, nice));
}
std::string bins(double least, double most, int64_t count, bool nice) {
  ExactRoom room;
  return text(equalBins(room, List(pack(kReal, {real(least), real(most)})), count, nice));
}
std::string bins(const char *least, const char *most, int64_t count) {
  ExactRoom room;
  auto moment = [](const char *of) { return *parseTimestamp(of, TimeUnit::kMicrosecond, false); };
  const std::string ends =
      longs({moment(least), moment(most)}, elementCode({LogicalKind::kTimestamp}));
  return text(equalBins(room, List(ends), count, true));
}

TEST(ListBins, EqualWidths) {
  EXPECT_EQ(bins(INT64_C(0), 10, 3, false), "[3, 6, 10]");
  EXPECT_EQ(bins(INT64_C(5), 5, 3, false), "[5]");
  EXPECT_EQ(bins(INT64_C(0), 2, 10, false), "[0, 1, 2]");
  EXPECT_EQ(bins(0.0, 10.0, 4, false), "[2.5, 5.0, 7.5, 10.0]");
  EXPECT_EQ(bins(-1e308, 1e308, 2, false), "[0.0, 1e+308]");
}

TEST(ListBins, RoundEnds) {
  EXPECT_EQ(bins(INT64_C(0), 10, 3, true), "[5, 10]");
  EXPECT_EQ(bins(INT64_C(0), 1000, 7, true), "[100, 200, 300, 400, 500, 600, 700, 800, 900, 1000]");
  EXPECT_EQ(bins(-1.0, 1.0, 3, true), "[-0.5, 0.0, 0.5, 1.0]");
  EXPECT_EQ(bins(0.0, 9.7, 5, true), "[2.0, 4.0, 6.0, 8.0, 10.0]");
  EXPECT_EQ(bins("2020-01-01 10:00:00", "2020-01-01 11:00:00", 4),
            "['2020-01-01 10:15:00', '2020-01-01 10:30:00', '2020-01-01 10:45:00', "
            "'2020-01-01 11:00:00']");
  EXPECT_EQ(bins("2020-01-01", "2020-12-31", 4),
            "['2020-04-02 00:00:00', '2020-07-02 00:00:00', '2020-10-01 00:00:00', "
            "'2020-12-31 00:00:00']");
}

TEST(ListBins, WhatMakesNone) {
  EXPECT_EQ(bins(INT64_C(1), 0, 3, false), "none");
  EXPECT_EQ(bins(INT64_C(0), 1, 0, false), "none");
  EXPECT_EQ(bins(INT64_C(0), 1, 1'000'001, false), "none");
  EXPECT_EQ(bins(0.0, INFINITY, 3, false), "none");
  EXPECT_EQ(bins(1e300, std::nextafter(1e300, INFINITY), 3, false), "none");
  EXPECT_EQ(bins("2020-01-01", "infinity", 3), "none");
}

TEST(ListBins, ElementsAreInTheBinThatEndsNext) {
  ExactRoom room;
  const std::string values =
      pack(kInteger, {integer(1), integer(2), integer(3), std::nullopt, integer(5), integer(9)});
  const std::string ends = pack(kInteger, {integer(5), integer(2), integer(5)});
  const std::string other = pack(kInteger, {integer(99)});
  auto counts = [&](const std::string &key, bool exact) {
    return text(binnedEntries(room, List(values), List(ends), List(key), exact));
  };
  EXPECT_EQ(counts(other, false), "[[2, 2], [5, 2], [99, 1]]");
  EXPECT_EQ(counts(other, true), "[[2, 1], [5, 1], [99, 3]]");
  EXPECT_EQ(counts("", false), "[[2, 2], [5, 2]]");
  const std::string unknown = pack(kInteger, {std::nullopt});
  EXPECT_EQ(text(binnedEntries(room, List(values), List(unknown), List(other), false)), "none");
}

} // namespace
} // namespace headrace
