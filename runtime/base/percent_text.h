// Percent-encoding (RFC 3986): bytes of a text as "%" and two hexadecimal digits.
#pragma once

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

namespace headrace {

/// Writes the text to `to`, of at most three times as many bytes: all but letters, digits, "-_.~"
/// and what is in `kept` encoded. Returns the end.
template <typename Output>
Output percentEncode(std::string_view text, Output to, std::string_view kept = {}) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (const char byte : text) {
    if (kPlain.find(byte) != std::string_view::npos || kept.find(byte) != std::string_view::npos) {
      *to++ = byte;
      continue;
    }
    *to++ = '%';
    *to++ = kDigits[static_cast<uint8_t>(byte) >> 4];
    *to++ = kDigits[byte & 15];
  }
  return to;
}

/// Writes the bytes that are meant, at most as many; other uses of '%' stay. Returns the end.
template <typename Output> Output percentDecode(std::string_view text, Output to) {
  auto digitAt = [&](size_t at) {
    constexpr std::string_view kDigits = "0123456789abcdefABCDEF";
    const size_t found = at < text.size() ? kDigits.find(text[at]) : std::string_view::npos;
    return found == std::string_view::npos ? -1 : static_cast<int>(found < 16 ? found : found - 6);
  };
  for (size_t at = 0; at < text.size(); ++at) {
    const int high = text[at] == '%' ? digitAt(at + 1) : -1, low = digitAt(at + 2);
    const bool isByte = high >= 0 && low >= 0;
    *to++ = isByte ? static_cast<char>(16 * high + low) : text[at];
    at += isByte ? 2 : 0;
  }
  return to;
}

inline std::string percentEncoded(std::string_view text, std::string_view kept = {}) {
  std::string encoded;
  percentEncode(text, std::back_inserter(encoded), kept);
  return encoded;
}

inline std::string percentDecoded(std::string_view text) {
  std::string decoded;
  percentDecode(text, std::back_inserter(decoded));
  return decoded;
}

} // namespace headrace
