// The table of functions of doubles and integers, and their values.
#include "runtime/base/math_functions.h"

#include "runtime/base/check.h"
#include "runtime/base/name_list.h"

#include <cmath>
#include <numbers>
#include <utility>

namespace headrace {
namespace {

constexpr MathFunction kFunctions[] = {
#define HR_MATH(number, name, arguments, duckdb, substrait, value, text)                           \
  {MathFunction::Values::kDoubles, number, #name, arguments, duckdb, substrait},
#define HR_INTEGER_MATH(number, name, arguments, duckdb, substrait, value, text)                   \
  {MathFunction::Values::kIntegers, number, #name, arguments, duckdb, substrait},
#include "runtime/base/math_functions.def"
#undef HR_INTEGER_MATH
#undef HR_MATH
};

double logarithmOfGamma(double x) {
  int sign = 0; // std::lgamma writes a global
  return ::lgamma_r(x, &sign);
}

double evenOf(double x) {
  double whole = x < 0 ? std::floor(x) : std::ceil(x);
  return std::fmod(whole, 2) == 0 || !std::isfinite(x) ? whole : whole + (x < 0 ? -1 : 1);
}

using U128 = unsigned __int128;
template <typename Integer> using Maybe = std::optional<Integer>;

/// Without its sign, which the lowest number has no opposite for.
template <typename Integer> U128 magnitudeOf(Integer x) {
  const auto value = static_cast<U128>(x);
  return x < 0 ? 0 - value : value;
}

/// A number that is not negative, if the type holds it.
template <typename Integer> Maybe<Integer> narrowed(U128 value) {
  constexpr U128 kMost = (U128{1} << (8 * sizeof(Integer) - 1)) - 1;
  return value <= kMost ? Maybe<Integer>(static_cast<Integer>(value)) : std::nullopt;
}

U128 divisorOf(U128 x, U128 y) {
  while (y != 0) {
    x = std::exchange(y, x % y);
  }
  return x;
}

template <typename Integer> Maybe<Integer> greatestCommonDivisor(Integer x, Integer y) {
  return narrowed<Integer>(divisorOf(magnitudeOf(x), magnitudeOf(y)));
}

template <typename Integer> Maybe<Integer> leastCommonMultiple(Integer x, Integer y) {
  if (x == 0 || y == 0) {
    return 0;
  }
  const U128 a = magnitudeOf(x), b = magnitudeOf(y);
  U128 multiple = 0;
  const bool fits = !__builtin_mul_overflow(a / divisorOf(a, b), b, &multiple);
  return fits ? narrowed<Integer>(multiple) : std::nullopt;
}

template <typename Integer> Maybe<Integer> shiftedLeft(Integer x, Integer bits) {
  constexpr Integer kBits = 8 * sizeof(Integer) - 1; // beside the sign
  if (x < 0 || bits < 0) {
    return std::nullopt;
  }
  if (x == 0 || bits >= kBits) {
    return x == 0 ? Maybe<Integer>(0) : std::nullopt;
  }
  const U128 from = magnitudeOf(x), to = from << bits;
  return to >> bits == from ? narrowed<Integer>(to) : std::nullopt;
}

template <typename Integer> Integer shiftedRight(Integer x, Integer bits) {
  return bits < 0 || bits >= static_cast<Integer>(8 * sizeof(Integer)) ? 0 : x >> bits;
}

/// The finalizer of SplitMix64, once for the seed and once for the number.
int64_t scrambled(int64_t x, int64_t seed) {
  auto mixed = [](uint64_t bits) {
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    return bits ^ (bits >> 31);
  };
  constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;
  const uint64_t bits =
      mixed(mixed(static_cast<uint64_t>(seed) + kGolden) + static_cast<uint64_t>(x) * kGolden);
  return static_cast<int64_t>(bits >> 12);
}

} // namespace

std::span<const MathFunction> mathFunctions() { return kFunctions; }

const MathFunction *mathFunctionNamed(std::string_view name) {
  for (const MathFunction &function : kFunctions) {
    if (function.name == name) {
      return &function;
    }
  }
  return nullptr;
}

const MathFunction *mathFunctionOfDuckdb(std::string_view name, size_t arguments) {
  for (const MathFunction &function : kFunctions) {
    if (function.arguments == arguments && listsName(function.duckdbNames, name)) {
      return &function;
    }
  }
  return nullptr;
}

const MathFunction *mathFunctionOfSubstrait(std::string_view name, size_t arguments) {
  for (const MathFunction &function : kFunctions) {
    if (function.arguments == arguments && listsName(function.substraitName, name)) {
      return &function;
    }
  }
  return nullptr;
}

#define HR_INTEGER_MATH(...)
double evaluateMath(int32_t number, double x, double y) {
  switch (number) {
#define HR_MATH(number, name, arguments, duckdb, substrait, value, text)                           \
  case number:                                                                                     \
    return value;
#include "runtime/base/math_functions.def"
#undef HR_MATH
  default:
    checkFailed("a function of doubles has this number", __FILE__, __LINE__);
  }
}
#undef HR_INTEGER_MATH

#define HR_MATH(...)
template <typename Integer>
std::optional<Integer> evaluateIntegerMath(int32_t number, Integer x, Integer y) {
  switch (number) {
#define HR_INTEGER_MATH(number, name, arguments, duckdb, substrait, value, text)                   \
  case number:                                                                                     \
    return value;
#include "runtime/base/math_functions.def"
#undef HR_INTEGER_MATH
  default:
    checkFailed("a function of integers has this number", __FILE__, __LINE__);
  }
}
#undef HR_MATH

template std::optional<int64_t> evaluateIntegerMath(int32_t number, int64_t x, int64_t y);
template std::optional<__int128> evaluateIntegerMath(int32_t number, __int128 x, __int128 y);

} // namespace headrace
