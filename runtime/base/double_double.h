// Arithmetic on the unevaluated sum of two doubles (Dekker 1971), for sums that keep 106 bits:
// written once for numbers and for the code that is generated. Without fused multiply-add, so that
// every instruction set gives the same bits. A part that is infinite makes the whole NaN.
#pragma once

#include <bit>
#include <cstdint>

namespace headrace {

template <class Number> struct DoubleDouble {
  Number high, low;
};

/// On doubles.
struct Computing {
  using Number = double;
  static double add(double a, double b) { return a + b; }
  static double subtract(double a, double b) { return a - b; }
  static double multiply(double a, double b) { return a * b; }
  static double divide(double a, double b) { return a / b; }
  static double constant(double value) { return value; }
};

/// From and to the 128 bits of a column: the greater part in the upper half.
inline DoubleDouble<double> unpacked(__int128 bits) {
  return {std::bit_cast<double>(static_cast<uint64_t>(bits >> 64)),
          std::bit_cast<double>(static_cast<uint64_t>(bits))};
}

inline __int128 packed(const DoubleDouble<double> &parts) {
  auto upper = static_cast<unsigned __int128>(std::bit_cast<uint64_t>(parts.high));
  return static_cast<__int128>(upper << 64 | std::bit_cast<uint64_t>(parts.low));
}

/// The same sum with the greater part rounded from it; |high| >= |low|.
template <class On>
DoubleDouble<typename On::Number> renormalized(const On &on, typename On::Number high,
                                               typename On::Number low) {
  auto sum = on.add(high, low);
  return {sum, on.subtract(low, on.subtract(sum, high))};
}

template <class On>
DoubleDouble<typename On::Number> sumOf(const On &on, const DoubleDouble<typename On::Number> &a,
                                        const DoubleDouble<typename On::Number> &b) {
  auto sum = on.add(a.high, b.high);
  auto second = on.subtract(sum, a.high);
  auto lost = on.add(on.subtract(a.high, on.subtract(sum, second)), on.subtract(b.high, second));
  return renormalized(on, sum, on.add(lost, on.add(a.low, b.low)));
}

/// The exact product of two doubles, unless it leaves their range.
template <class On>
DoubleDouble<typename On::Number> productOf(const On &on, typename On::Number a,
                                            typename On::Number b) {
  using Number = typename On::Number;
  constexpr double kSplitter = 134217729; // 2^27 + 1: halves of 26 bits
  auto upper = [&](Number x) {
    Number scaled = on.multiply(x, on.constant(kSplitter));
    return on.subtract(scaled, on.subtract(scaled, x));
  };
  Number product = on.multiply(a, b), aHigh = upper(a), bHigh = upper(b);
  Number aLow = on.subtract(a, aHigh), bLow = on.subtract(b, bHigh);
  Number lost = on.subtract(on.multiply(aHigh, bHigh), product);
  lost = on.add(lost, on.multiply(aHigh, bLow));
  lost = on.add(lost, on.multiply(aLow, bHigh));
  return {product, on.add(lost, on.multiply(aLow, bLow))};
}

/// The quotient rounded to one double: the nearest, unless 100 bits of it lie in the middle of two.
template <class On>
typename On::Number quotientOf(const On &on, const DoubleDouble<typename On::Number> &x,
                               const DoubleDouble<typename On::Number> &by) {
  auto first = on.divide(x.high, by.high);
  auto product = productOf(on, first, by.high);
  auto rest = on.subtract(on.subtract(x.high, product.high), product.low);
  rest = on.subtract(on.add(rest, x.low), on.multiply(first, by.low));
  return on.add(first, on.divide(rest, by.high));
}

/// A sum of products of deviations from means, as sums have it.
template <class Number> struct ScaledComoment {
  Number scaled; ///< count · comoment = count · products − sum · other
  Number least;  ///< what is nearer to 0 is what rounding left of equal values
};

template <class On>
ScaledComoment<typename On::Number>
deviationsOf(const On &on, const DoubleDouble<typename On::Number> &sum,
             const DoubleDouble<typename On::Number> &other,
             const DoubleDouble<typename On::Number> &products, typename On::Number count) {
  auto scaled = productOf(on, products.high, count);
  scaled.low = on.add(scaled.low, on.multiply(products.low, count));
  auto square = productOf(on, sum.high, other.high);
  auto cross = on.add(on.multiply(sum.high, other.low), on.multiply(sum.low, other.high));
  square.low = on.add(square.low, cross);
  auto minus = on.constant(-1);
  constexpr double kNoise = 0x1p-96; // sums of 106 bits, of a million values and more
  return {sumOf(on, scaled, {on.multiply(square.high, minus), on.multiply(square.low, minus)}).high,
          on.multiply(scaled.high, on.constant(kNoise))};
}

/// Of up to 38 digits.
inline DoubleDouble<double> inTwoParts(__int128 value) {
  const auto high = static_cast<double>(value);
  return {high, static_cast<double>(value - static_cast<__int128>(high))};
}

inline DoubleDouble<double> powerOfTenInTwoParts(int exponent) {
  __int128 power = 1;
  for (int i = 0; i < exponent; ++i) {
    power *= 10;
  }
  return inTwoParts(power);
}

/// The double nearest to a decimal of up to 38 digits, so many of them behind the point.
inline double nearestReal(__int128 value, int scale) {
  return scale == 0 ? static_cast<double>(value)
                    : quotientOf(Computing(), inTwoParts(value), powerOfTenInTwoParts(scale));
}

} // namespace headrace
