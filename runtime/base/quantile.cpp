// Quantiles as DuckDB computes them, so that they are equal to the last digit.
#include "runtime/base/quantile.h"

#include "runtime/base/interval_values.h"
#include "runtime/base/list_values.h"
#include "runtime/base/moment_text.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace headrace {

QuantileShare QuantileShare::ofReal(double share) { return {std::bit_cast<int64_t>(share), 0}; }

double QuantileShare::number() const {
  return isExact() ? static_cast<double>(part) / static_cast<double>(whole)
                   : std::bit_cast<double>(part);
}

bool QuantileShare::isInside() const {
  return isExact() ? part >= 0 && part <= whole : number() >= 0 && number() <= 1;
}

QuantilePlace quantilePlace(QuantileShare share, QuantileKind kind, uint64_t count) {
  const auto values = static_cast<double>(count);
  if (kind == QuantileKind::kDiscrete) { // without those behind it, one at least
    const double behind = share.isExact() ? values * static_cast<double>(share.whole - share.part) /
                                                static_cast<double>(share.whole)
                                          : values - values * share.number();
    return {static_cast<uint64_t>(std::max(values - std::floor(behind), 1.0)) - 1, 0};
  }
  const double place = (values - 1) * share.number(), whole = std::floor(place);
  return {static_cast<uint64_t>(whole), kind == QuantileKind::kFront ? 0 : place - whole};
}

/// From one decimal a share of the way to another, as DuckDB rounds it: once to a double, but of
/// more than 18 digits only the way.
static __int128 decimalBetween(__int128 from, __int128 to, double share, int32_t precision) {
  constexpr int32_t kDigitsOf64 = 18;
  __int128 way = 0;
  if (precision > kDigitsOf64 && !__builtin_sub_overflow(to, from, &way)) {
    return from + static_cast<__int128>(static_cast<double>(way) * share);
  }
  const auto least = static_cast<double>(from), most = static_cast<double>(to);
  return static_cast<__int128>(std::fma(most - least, share, least));
}

/// Of doubles a share of the way, rounded once as DuckDB's sum is.
static double mixed(double from, double to, double share) {
  return std::fma(from, 1 - share, to * share);
}

/// Two values of whole units, rounded to these.
static QuantileElement roundedBetween(ElementCode code, std::string_view low, std::string_view high,
                                      double rest) {
  const auto from = static_cast<int64_t>(integerIn(code, low));
  if (low == high && isInfiniteTimestamp(from)) { // between infinities is nothing
    return {code, low};
  }
  const auto least = static_cast<double>(from), most = static_cast<double>(integerIn(code, high));
  const double units = std::round(mixed(least, most, rest));
  return {
      code, {}, std::string(ElementBytes::ofInteger(code, static_cast<__int128>(units)).view())};
}

std::optional<QuantileElement> elementBetween(QuantileKind kind, uint32_t code,
                                              std::string_view low, std::string_view high,
                                              double rest) {
  auto made = [](ElementCode of, const ElementBytes &bytes) {
    return QuantileElement{of, {}, std::string(bytes.view())};
  };
  const LogicalKind element = elementType(code).kind;
  if (rest == 0 && (kind != QuantileKind::kBetween || element == LogicalKind::kDecimal)) {
    return QuantileElement{code, low};
  }
  if (kind == QuantileKind::kRounded && element == LogicalKind::kInterval) {
    auto interval = intervalBetween(intervalParts(low), intervalParts(high), rest);
    return interval ? std::optional(QuantileElement{code, {}, packedInterval(*interval)})
                    : std::nullopt;
  }
  if (kind == QuantileKind::kRounded) {
    return roundedBetween(code, low, high, rest);
  }
  if (element == LogicalKind::kDecimal) {
    const __int128 units = decimalBetween(integerIn(code, low), integerIn(code, high), rest,
                                          elementType(code).precision);
    return made(code, ElementBytes::ofInteger(code, units));
  }
  const double least = numberIn(code, low), most = numberIn(code, high);
  if (element == LogicalKind::kF32) {
    const double found = rest > 0 ? std::fma(most - least, rest, least) : least;
    return made(code, ElementBytes::ofReal(code, found));
  }
  const ElementCode real = elementCode({LogicalKind::kF64});
  return made(real, ElementBytes::ofReal(real, rest > 0 ? mixed(least, most, rest) : least));
}

} // namespace headrace
