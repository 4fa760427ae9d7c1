// Packed lists: equal lists are equal bytes, orders, texts and casts.
// Sources: runtime/base/{list_values,list_functions,list_statistics,list_texts}.cpp
#include "packed_lists.h"

#include "runtime/base/text_functions.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace headrace {
namespace {

TEST(ListValues, CodesSayTheType) {
  LogicalType type{LogicalKind::kTimestamp};
  type.unit = TimeUnit::kNanosecond;
  type.zoned = true;
  EXPECT_EQ(elementType(elementCode(type)), type);
  EXPECT_EQ(elementType(elementCode({LogicalKind::kDecimal, 38, 37})),
            (LogicalType{LogicalKind::kDecimal, 38, 37}));
  EXPECT_EQ(elementBytes(elementCode({LogicalKind::kDecimal, 18, 2})), 8u);
  EXPECT_EQ(elementBytes(elementCode({LogicalKind::kDecimal, 19, 2})), 16u);
  EXPECT_EQ(elementBytes(kText), 0u);
}

TEST(ListValues, EqualListsAreEqualBytes) {
  EXPECT_EQ(pack(kReal, {real(-0.0), real(std::nan(""))}),
            pack(kReal, {real(0.0), real(-std::numeric_limits<double>::quiet_NaN())}));
  EXPECT_EQ(pack(kReal, {}), pack(kText, {}));
  const std::string bytes = pack(kText, {"a", std::nullopt, ""});
  const ListView list(bytes);
  EXPECT_EQ(list.size(), 3u);
  EXPECT_EQ(list.element(0), "a");
  EXPECT_EQ(list.element(1), std::nullopt);
  EXPECT_EQ(list.element(2), "");
  EXPECT_EQ(list.textBytes(), 1u);
}

TEST(ListValues, PartsAreJoinedAsListsAre) {
  ExactRoom room;
  const std::string some = pack(kText, {"a", std::nullopt}), more = pack(kText, {"", "b"});
  std::string parts;
  for (const std::string &part : {some, more}) {
    const auto length = static_cast<uint32_t>(part.size());
    parts.append(reinterpret_cast<const char *>(&length), sizeof length);
    parts += part;
  }
  EXPECT_EQ(joinedParts(room, parts).bytes, pack(kText, {"a", std::nullopt, "", "b"}));
  EXPECT_EQ(joinedParts(room, "").bytes, "");
}

TEST(ListValues, OrderTextsAreInTheOrderOfTheLists) {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<std::vector<std::string>> inOrder = {
      {pack(kInteger, {}), pack(kInteger, {integer(INT32_MIN)}), pack(kInteger, {integer(-1)}),
       pack(kInteger, {integer(-1), integer(5)}), pack(kInteger, {integer(7)}),
       pack(kInteger, {std::nullopt})},
      {pack(kReal, {real(-infinity)}), pack(kReal, {real(-1.5)}), pack(kReal, {real(-0.0)}),
       pack(kReal, {real(1e-300)}), pack(kReal, {real(infinity)}),
       pack(kReal, {real(std::nan(""))})},
      {pack(kText, {""}), pack(kText, {"", "a"}), pack(kText, {std::string(1, '\0')}),
       pack(kText, {"a"}), pack(kText, {"a", ""}), pack(kText, {"ab"})},
  };
  const ElementCode nested = elementCode({LogicalKind::kList});
  for (const std::vector<std::string> &lists : inOrder) {
    for (size_t a = 0; a < lists.size(); ++a) {
      for (size_t b = 0; b < lists.size(); ++b) {
        ExactRoom room;
        const int order = a < b ? -1 : a > b ? 1 : 0;
        const int found = orderText(room, {lists[a]}).compare(orderText(room, {lists[b]}));
        EXPECT_EQ((found > 0) - (found < 0), order) << a << " " << b;
        EXPECT_EQ(compareElements(nested, lists[a], lists[b]), order) << a << " " << b;
      }
    }
  }
}

TEST(ListValues, TextsAreQuotedWhereTheyReadAsSomethingElse) {
  EXPECT_EQ(listText(pack(kText, {"a b", "", "it's", " x", "NuLL", "a:b", "\\", std::nullopt})),
            "[a b, '', 'it\\'s', ' x', 'NuLL', 'a:b', '\\\\', NULL]");
  EXPECT_EQ(listText(pack(kReal, {real(1), real(1e16)})), "[1.0, 1e+16]");
  EXPECT_EQ(listText(""), "[]");
}

TEST(ListValues, CastsRoundAndRefuse) {
  ExactRoom room;
  const std::string reals = pack(kReal, {real(2.5), std::nullopt, real(-3.5)});
  EXPECT_EQ(listText(castList(room, List(reals), kInteger)->bytes), "[2, NULL, -4]");
  const ElementCode cents = elementCode({LogicalKind::kDecimal, 5, 2});
  EXPECT_EQ(listText(castList(room, List(reals), cents)->bytes), "[2.50, NULL, -3.50]");
  EXPECT_FALSE(castList(room, List(pack(kReal, {real(1e10)})), kInteger));
  EXPECT_FALSE(castList(room, List(pack(kText, {"x"})), kInteger));
  EXPECT_EQ(listText(castList(room, List(pack(kText, {" 12 "})), kInteger)->bytes), "[12]");
}

TEST(ListValues, PlacesCountFromBothEnds) {
  ExactRoom room;
  const std::string bytes = pack(kInteger, {integer(1), integer(2), integer(3)});
  auto slice = [&](int64_t from, int64_t to) {
    return listText(sliceOf(room, List(bytes), from, to).bytes);
  };
  EXPECT_EQ(slice(1, 2), "[1, 2]");
  EXPECT_EQ(slice(0, -1), "[1, 2, 3]");
  EXPECT_EQ(slice(-2, -1), "[2, 3]");
  EXPECT_EQ(slice(3, 1), "[]");
  EXPECT_EQ(slice(INT64_MIN, INT64_MAX), "[1, 2, 3]");
  EXPECT_EQ(slice(INT64_MAX, INT64_MIN), "[]");
}

TEST(ListValues, SumsOverflow) {
  ExactRoom room;
  const ElementCode wide = elementCode({LogicalKind::kDecimal, 38, 0});
  const __int128 half =
      static_cast<__int128>(5'000'000'000'000'000'000) * 10'000'000'000'000'000'000u;
  const std::string element(ElementBytes::ofInteger(wide, half).view());
  EXPECT_FALSE(sumOfList(room, List(pack(wide, {element, element}))));
  EXPECT_EQ(
      listText(
          sumOfList(room, List(pack(kInteger, {integer(1), std::nullopt, integer(-3)})))->bytes),
      "[-2]");
}

double onlyReal(const List &list) {
  return list.view.size() == 1 ? realIn(list.view.code(), list.view.bytes(0)) : -1;
}

TEST(ListValues, Statistics) {
  ExactRoom room;
  auto reals = [&](const std::vector<double> &values) {
    std::vector<std::optional<std::string>> elements{std::nullopt};
    for (const double value : values) {
      elements.emplace_back(ElementBytes::ofReal(kReal, value).view());
    }
    return pack(kReal, elements);
  };
  const std::string some = reals({1, 2, 3, 10}), none = reals({});
  EXPECT_DOUBLE_EQ(onlyReal(spreadOfList(room, List(some), Spread::kVariance)), 12.5);
  EXPECT_DOUBLE_EQ(onlyReal(spreadOfList(room, List(some), Spread::kSampleVariance)), 50.0 / 3);
  EXPECT_DOUBLE_EQ(onlyReal(entropyOfList(room, List(some))), 2);
  EXPECT_EQ(spreadOfList(room, List(none), Spread::kVariance).view.size(), 0);
  EXPECT_EQ(firstOfList(room, List(none)).view.size(), 0);
  EXPECT_EQ(onlyReal(entropyOfList(room, List(none))), 0);
  const std::string wide = reals({0x1p53, 1, 1}), infinite = reals({1, INFINITY});
  EXPECT_EQ(onlyReal(exactSumOfList(room, List(wide))), 0x1p53 + 2);
  EXPECT_EQ(onlyReal(exactSumOfList(room, List(infinite))), INFINITY);
  EXPECT_TRUE(std::isnan(onlyReal(spreadOfList(room, List(infinite), Spread::kDeviation))));
}

TEST(ListValues, Series) {
  ExactRoom room;
  const int64_t code = elementCode({LogicalKind::kTimestamp});
  auto count = [&](int64_t start, int64_t stop, const IntervalParts &step, bool withStop) {
    const MaybeList series = momentSeries(room, start, stop, step, withStop, code);
    return series ? static_cast<int64_t>(series->view.size()) : -1;
  };
  EXPECT_EQ(count(0, 9, {0, 0, 3}, false), 3);
  EXPECT_EQ(count(0, 9, {0, 0, 3}, true), 4);
  EXPECT_EQ(count(9, 0, {0, 0, -3}, true), 4);
  EXPECT_EQ(count(0, 9, {}, true), 0);
  EXPECT_EQ(count(0, INT64_MAX - 1, {INT32_MAX, 0, 0}, false), 1);
  EXPECT_EQ(count(0, INT64_MAX, {1, 0, 0}, false), -1);
  EXPECT_EQ(count(0, 9, {1, -1, 0}, false), -1);
}

TEST(ListValues, BytesOfAnyoneAreLookedAt) {
  auto listOf = [](LogicalType element) {
    LogicalType type{LogicalKind::kList};
    type.children.push_back(std::move(element));
    return type;
  };
  const LogicalType number{LogicalKind::kI32}, text{LogicalKind::kString};
  LogicalType fields{LogicalKind::kStruct}, map{LogicalKind::kMap}, array = listOf(number);
  fields.children = {number, text};
  map.children = {number, text};
  array.size = 2;
  const ElementCode codes[] = {kInteger, kText};
  const std::string one(ElementBytes::ofInteger(kInteger, 1).view());
  const std::string pair =
      packedStruct(std::array{FieldBytes{codes[0], one}, FieldBytes{codes[1], "ab"}});
  const std::string numbers = pack(kInteger, {integer(1), std::nullopt});
  const std::string texts = pack(kText, {"a", std::nullopt, "bcd"});
  const std::pair<std::string, LogicalType> values[] = {
      {numbers, listOf(number)},
      {numbers, array},
      {texts, listOf(text)},
      {pair, fields},
      {pack(elementCode(fields), {pair, pair}), map},
      {pack(elementCode(listOf(text)), {texts, std::nullopt, ""}), listOf(listOf(text))},
  };
  for (const auto &[bytes, type] : values) {
    EXPECT_TRUE(isNestedValue(bytes, type));
    EXPECT_FALSE(isNestedValue(bytes + '\0', type));
    for (size_t size = 1; size < bytes.size(); ++size) {
      EXPECT_FALSE(isNestedValue(std::string(bytes, 0, size), type)) << size;
    }
    for (size_t place = 0; place < 8; ++place) { // how many, of what
      std::string damaged = bytes;
      damaged[place] = static_cast<char>(damaged[place] ^ 0x40);
      EXPECT_FALSE(isNestedValue(damaged, type)) << place;
    }
    for (const auto &[other, otherType] : values) {
      EXPECT_EQ(isNestedValue(other, type), other == bytes) << &other << &bytes;
    }
  }
  EXPECT_TRUE(isNestedValue("", listOf(number)));
  EXPECT_FALSE(isNestedValue("", array));
  EXPECT_FALSE(isNestedValue("", fields));
}

} // namespace
} // namespace headrace
