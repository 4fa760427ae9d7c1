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

using MaybeInteger = std::optional<int64_t>;

/// A number of 128 bits, if 64 hold it.
MaybeInteger narrowed(__int128 value) {
  auto narrow = static_cast<int64_t>(value);
  return narrow == value ? MaybeInteger(narrow) : std::nullopt;
}

__int128 divisorOf(__int128 x, __int128 y) {
  while (y != 0) {
    x = std::exchange(y, x % y);
  }
  return x < 0 ? -x : x;
}

MaybeInteger greatestCommonDivisor(int64_t x, int64_t y) { return narrowed(divisorOf(x, y)); }

MaybeInteger leastCommonMultiple(int64_t x, int64_t y) {
  if (x == 0 || y == 0) {
    return 0;
  }
  __int128 multiple = x / divisorOf(x, y) * y;
  return narrowed(multiple < 0 ? -multiple : multiple);
}

MaybeInteger shiftedLeft(int64_t x, int64_t bits) {
  if (x < 0 || bits < 0) {
    return std::nullopt;
  }
  bool fits = x == 0 || (bits < 63 && x <= INT64_MAX >> bits);
  return fits ? MaybeInteger(x == 0 ? 0 : x << bits) : std::nullopt;
}

/// The finalizer of SplitMix64, once for the seed and once for the number.
MaybeInteger scrambled(int64_t x, int64_t seed) {
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
std::optional<int64_t> evaluateIntegerMath(int32_t number, int64_t x, int64_t y) {
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

} // namespace headrace
