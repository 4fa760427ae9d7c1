// The functions of numbers that expressions have, one table for all levels (math_functions.def).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace headrace {

struct MathFunction {
  enum class Values : uint8_t { kDoubles, kIntegers };
  Values values;  ///< of arguments and result
  int32_t number; ///< in kernels
  std::string_view name;
  unsigned arguments;
  std::string_view duckdbNames;   ///< with spaces between them
  std::string_view substraitName; ///< empty: it has none
};

/// All of them, in the order of the table.
std::span<const MathFunction> mathFunctions();
/// The function of this name; null if there is none.
const MathFunction *mathFunctionNamed(std::string_view name);
/// The function that a call in a DuckDB plan or in Substrait means; null if it is another's.
const MathFunction *mathFunctionOfDuckdb(std::string_view name, size_t arguments);
const MathFunction *mathFunctionOfSubstrait(std::string_view name, size_t arguments);

/// The value of one of doubles; `y` is not looked at by functions of one argument.
double evaluateMath(int32_t number, double x, double y);
/// The value of one of integers of 64 or 128 bits, if it has one.
template <typename Integer>
std::optional<Integer> evaluateIntegerMath(int32_t number, Integer x, Integer y);

} // namespace headrace
