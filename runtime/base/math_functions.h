// The functions of doubles that expressions have, one table for all levels (math_functions.def).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace headrace {

struct MathFunction {
  int32_t number; ///< in kernels
  std::string_view name;
  unsigned arguments;
  std::string_view duckdbNames; ///< with spaces between them
  std::string_view substraitName; ///< empty: it has none
};

/// All of them, in the order of the table.
std::span<const MathFunction> mathFunctions();
/// The function of this name; null if there is none.
const MathFunction *mathFunctionNamed(std::string_view name);
/// The function that a call in a DuckDB plan or in Substrait means; null if it is another's.
const MathFunction *mathFunctionOfDuckdb(std::string_view name, size_t arguments);
const MathFunction *mathFunctionOfSubstrait(std::string_view name, size_t arguments);

/// Its value; `y` is not looked at by functions of one argument.
double evaluateMath(int32_t number, double x, double y);

} // namespace headrace
