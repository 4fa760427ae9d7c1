// Numbers as text and back, on known values.
#ifndef HEADRACE_PASSES_ANALYSIS_NUMBERTEXT_H
#define HEADRACE_PASSES_ANALYSIS_NUMBERTEXT_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace headrace::analysis {

/// The shortest text that reads back as the value, a float (`isSingle`) or double: "1.0", "0.0001",
/// "1e+16", "1.5e-05".
std::string realText(double value, bool isSingle);

/// A number that is written in digits: 0.DIGITS * 10^exponent.
struct NumberText {
  bool negative;
  std::string digits; ///< without zeros in front
  int64_t exponent;
};

/// Digits with perhaps a sign, a point, an exponent, and underscores between digits.
std::optional<NumberText> numberOfText(llvm::StringRef text);
/// The nearest float or double, also of "nan" and "inf"; what is too large is an infinity.
std::optional<double> realOfText(llvm::StringRef text, bool isSingle);

} // namespace headrace::analysis

#endif // HEADRACE_PASSES_ANALYSIS_NUMBERTEXT_H
