// What ops on texts do, as far as it depends on their form: foreseen by the compiler, and counted
// when it makes kernels.
#pragma once

#include <string_view>

namespace headrace::plan {

/// Units of WorkKind::kMatchString of an op that looks at one end of a text only.
inline constexpr double kEndOfText = 0.15;

/// Units of WorkKind::kMatchString and, for each byte, of WorkKind::kSearchByte, of a function that
/// reads a text and gives none: what only counts characters never turns back.
inline double searchUnits(std::string_view function) { return function == "length" ? 0.5 : 1; }

/// Whether a LIKE searches the text: for what stands between two `%`.
inline bool searchesText(std::string_view pattern) {
  size_t first = pattern.find('%'), last = pattern.rfind('%');
  return first != last &&
         pattern.substr(first, last - first).find_first_not_of('%') != std::string_view::npos;
}

} // namespace headrace::plan
