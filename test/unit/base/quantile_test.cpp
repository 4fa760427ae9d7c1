// Places of quantiles, beside those that are counted, and what lies between two elements.
#include "packed_lists.h"

#include "runtime/base/moment_text.h"
#include "runtime/base/quantile.h"

#include <bit>
#include <cmath>
#include <limits>

namespace headrace {
namespace {

using Kind = QuantileKind;

TEST(Quantile, Shares) {
  EXPECT_EQ(QuantileShare::ofReal(0.25).number(), 0.25);
  EXPECT_EQ((QuantileShare{1, 4}.number()), 0.25);
  for (QuantileShare share :
       {QuantileShare{0, 1}, {1, 1}, {3, 10}, QuantileShare::ofReal(0), QuantileShare::ofReal(1)}) {
    EXPECT_TRUE(share.isInside()) << share.part << "/" << share.whole;
  }
  for (QuantileShare share : {QuantileShare{-1, 2},
                              {3, 2},
                              {1, -2},
                              {-1, -2},
                              QuantileShare::ofReal(1.5),
                              QuantileShare::ofReal(-0.5),
                              QuantileShare::ofReal(std::nan(""))}) {
    EXPECT_FALSE(share.isInside()) << share.part << "/" << share.whole;
  }
}

TEST(Quantile, ADiscreteOneIsTheFirstThatAShareIsNotAbove) {
  for (int64_t whole : {1, 2, 3, 10, 1000}) {
    for (int64_t part = 0; part <= whole; part += std::max<int64_t>(1, whole / 10)) {
      for (int64_t count : {1, 2, 3, 4, 7, 10, 999}) {
        const int64_t above = (count * part + whole - 1) / whole; // how many are needed
        const QuantilePlace place = quantilePlace({part, whole}, Kind::kDiscrete, count);
        EXPECT_EQ(static_cast<int64_t>(place.at), std::max<int64_t>(above, 1) - 1);
        EXPECT_EQ(place.rest, 0);
      }
    }
  }
}

TEST(Quantile, OthersLieBetweenTheFirstAndTheLast) {
  for (Kind kind : {Kind::kBetween, Kind::kRounded}) {
    const QuantilePlace place = quantilePlace({1, 2}, kind, 4);
    EXPECT_EQ(place.at, 1u);
    EXPECT_EQ(place.rest, 0.5);
    EXPECT_EQ(quantilePlace({1, 1}, kind, 4).at, 3u);
    EXPECT_EQ(quantilePlace({1, 1}, kind, 4).rest, 0);
    EXPECT_EQ(quantilePlace(QuantileShare::ofReal(0.1), kind, 1).at, 0u);
  }
  const QuantilePlace front = quantilePlace({1, 2}, Kind::kFront, 4);
  EXPECT_EQ(front.at, 1u);
  EXPECT_EQ(front.rest, 0);
}

/// The quantile of numbers of a type, as text.
std::string between(Kind kind, LogicalType type, int64_t low, int64_t high, double rest) {
  const ElementCode code = elementCode(type);
  auto of = [&](int64_t value) {
    return type.real() ? ElementBytes::ofReal(code, static_cast<double>(value))
                       : ElementBytes::ofInteger(code, value);
  };
  const ElementBytes from = of(low), to = of(high);
  auto found = elementBetween(kind, code, from.view(), to.view(), rest);
  return listText(pack(found->code, {std::string(found->bytes())}));
}

TEST(Quantile, BetweenTwoElements) {
  EXPECT_EQ(between(Kind::kBetween, {LogicalKind::kI32}, 1, 4, 0.5), "[2.5]");
  EXPECT_EQ(between(Kind::kBetween, {LogicalKind::kI32}, 1, 4, 0), "[1.0]");
  EXPECT_EQ(between(Kind::kDiscrete, {LogicalKind::kI32}, 1, 4, 0), "[1]");
  EXPECT_EQ(between(Kind::kBetween, {LogicalKind::kF32}, 1, 4, 0.25), "[1.75]");
  EXPECT_EQ(between(Kind::kBetween, {LogicalKind::kF64}, 1, 4, 0.25), "[1.75]");
  const LogicalType cents{.kind = LogicalKind::kDecimal, .precision = 9, .scale = 2};
  EXPECT_EQ(between(Kind::kBetween, cents, 100, 101, 0.5), "[1.00]"); // cut, as DuckDB does
  EXPECT_EQ(between(Kind::kBetween, cents, 100, 104, 0.5), "[1.02]");
  EXPECT_EQ(between(Kind::kRounded, {LogicalKind::kTime}, 0, 1000001, 0.5),
            "['00:00:00.500001']"); // of half a unit the next
}

TEST(Quantile, DecimalsOfManyDigitsAreExact) {
  const LogicalType wide{.kind = LogicalKind::kDecimal, .precision = 38, .scale = 0};
  const ElementCode code = elementCode(wide);
  const auto far = static_cast<__int128>(1) << 100;
  const ElementBytes low = ElementBytes::ofInteger(code, far),
                     high = ElementBytes::ofInteger(code, far + 6);
  auto found = elementBetween(Kind::kBetween, code, low.view(), high.view(), 0.5);
  EXPECT_TRUE(integerIn(code, found->bytes()) == far + 3);
}

TEST(Quantile, NothingIsBetweenInfinitiesOrFarIntervals) {
  const ElementCode moment = elementCode({LogicalKind::kTimestamp});
  const ElementBytes never = ElementBytes::ofInteger(moment, INT64_MAX);
  ASSERT_TRUE(isInfiniteTimestamp(INT64_MAX));
  auto found = elementBetween(Kind::kRounded, moment, never.view(), never.view(), 0.5);
  EXPECT_EQ(found->bytes(), never.view());
  const ElementCode interval = elementCode({LogicalKind::kInterval});
  const std::string day = packedInterval({.days = 1}), three = packedInterval({.days = 3}),
                    far = packedInterval({.months = INT32_MAX});
  EXPECT_EQ(intervalParts(elementBetween(Kind::kRounded, interval, day, three, 0.5)->bytes()).days,
            2);
  EXPECT_FALSE(elementBetween(Kind::kRounded, interval, day, far, 0.5));
}

TEST(Quantile, OfAList) {
  ExactRoom room;
  const std::string packed =
      pack(kInteger, {integer(7), std::nullopt, integer(1), integer(3), integer(5)});
  const List list(packed);
  auto text = [&](QuantileShare share, bool descending, Kind kind) {
    return listText(quantileOfList(room, list, share, descending, kind)->bytes);
  };
  EXPECT_EQ(text({1, 2}, false, Kind::kBetween), "[4.0]");
  EXPECT_EQ(text({1, 4}, false, Kind::kDiscrete), "[1]");
  EXPECT_EQ(text({1, 4}, true, Kind::kDiscrete), "[7]");
  const std::string nothing = pack(kInteger, {std::nullopt});
  EXPECT_EQ(quantileOfList(room, List(nothing), {1, 2}, false, Kind::kBetween)->view.size(), 0u);
}

} // namespace
} // namespace headrace
