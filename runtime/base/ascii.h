// The letters of ASCII: which are blanks, and which are the same but for their case. Other bytes
// are only equal to themselves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace headrace {

inline constexpr std::string_view kAsciiBlanks = " \t\n\v\f\r";

/// Whether a text has nothing else.
inline bool isAscii(std::string_view text) {
  return std::ranges::all_of(text, [](char byte) { return static_cast<uint8_t>(byte) < 0x80; });
}

constexpr bool isAsciiBlank(char letter) {
  return kAsciiBlanks.find(letter) != std::string_view::npos;
}

constexpr std::string_view withoutBlanksBefore(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(kAsciiBlanks), text.size()));
}
constexpr std::string_view withoutBlanksBehind(std::string_view text) {
  return text.substr(0, text.find_last_not_of(kAsciiBlanks) + 1);
}
/// Without blanks at its ends, as casts read a text.
constexpr std::string_view withoutBlanks(std::string_view text) {
  return withoutBlanksBehind(withoutBlanksBefore(text));
}

constexpr char lowerAscii(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter | 0x20) : letter;
}

/// Whether a text is another, which is in small letters, whatever its case.
constexpr bool equalsLower(std::string_view text, std::string_view lower) {
  return std::ranges::equal(text, lower, {}, lowerAscii);
}

} // namespace headrace
