// Values in the forms that the format strings of format and printf give them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

/// Whose format strings: "{:>5}" of format, or "%5d" of printf.
enum class FormatStyle : uint8_t { kBraces, kPercent };

/// What a format string consists of: a text, or the form of an argument, which is what stands
/// behind the colon of "{:>5}", or all of "%5d".
struct FormatPiece {
  std::string text;
  std::optional<size_t> argument = std::nullopt;
};

/// The pieces of a format string; nothing if it is none, or asks for what is not built: numbers of
/// arguments and forms that are arguments themselves in printf, or in format forms in forms.
std::optional<std::vector<FormatPiece>> piecesOf(std::string_view format, FormatStyle style);

// A value in a form; nothing if it is no form of such values, or not one that is built.

std::optional<std::string> writtenIn(std::string_view form, int64_t value);
std::optional<std::string> writtenIn(std::string_view form, double value);
std::optional<std::string> writtenIn(std::string_view form, std::string_view value);

} // namespace headrace
