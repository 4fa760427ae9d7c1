// Where a quantile of values in their order lies, and what is there: for functions of lists and
// windows, and for the compiler.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headrace {

enum class QuantileKind : uint8_t {
  kDiscrete, ///< the first value that is not in front of the share
  kBetween,  ///< what is between two values
  kRounded,  ///< that, rounded to the values' units
  kFront,    ///< the one of the two that is in front
};

/// A share of values, 0 to 1: part / whole, or without a whole a double by its bits.
struct QuantileShare {
  int64_t part = 0;
  int64_t whole = 0; ///< 0: none

  static QuantileShare ofReal(double share);
  bool isExact() const { return whole != 0; }
  double number() const;
  /// Whether it is from 0 to 1.
  bool isInside() const;
  bool operator==(const QuantileShare &) const = default;
};

/// A place among values: at one of them, or a part of the way to the next.
struct QuantilePlace {
  uint64_t at; ///< from 0
  double rest; ///< 0 to below 1
};
/// Of at least one value.
QuantilePlace quantilePlace(QuantileShare share, QuantileKind kind, uint64_t count);

/// An element of a list: one that was given, for as long as that lasts, or one that was made.
struct QuantileElement {
  uint32_t code;
  std::string_view given;
  std::string made = {}; ///< empty: it was given

  std::string_view bytes() const { return made.empty() ? given : std::string_view(made); }
};
/// From an element the rest of the way to the next. Between two it is a double, of decimals and
/// floats of 32 bits one of theirs; nothing between intervals that are too long.
std::optional<QuantileElement> elementBetween(QuantileKind kind, uint32_t code,
                                              std::string_view low, std::string_view high,
                                              double rest);

/// The quantile of so many elements, at least one, of a code. `elementAt(n)` are the bytes of the
/// n-th from 0 in their order.
template <typename ElementAt>
std::optional<QuantileElement> quantileOf(QuantileShare share, QuantileKind kind, uint32_t code,
                                          uint64_t count, const ElementAt &elementAt) {
  const QuantilePlace place = quantilePlace(share, kind, count);
  const std::string_view low = elementAt(place.at);
  return elementBetween(kind, code, low, place.rest > 0 ? elementAt(place.at + 1) : low,
                        place.rest);
}

} // namespace headrace
