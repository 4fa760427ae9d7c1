// Bytes as escaped text, digits and base64 (RFC 4648), and back.
#include "runtime/base/binary_functions.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace headrace {
namespace {

using Text = std::string_view;

constexpr Text kHexDigits = "0123456789ABCDEF";
constexpr uint64_t kEscapeBytes = 4; ///< \xNN
constexpr uint8_t kNoDigit = 64;

bool isPrinted(char byte) {
  constexpr Text kEscaped = "\\'\"";
  return byte >= ' ' && byte <= '~' && kEscaped.find(byte) == Text::npos;
}

/// The value of a hexadecimal digit; kNoDigit if it is none.
uint8_t hexDigit(char letter) {
  const char lower = static_cast<char>(letter | 0x20);
  return letter >= '0' && letter <= '9' ? static_cast<uint8_t>(letter - '0')
         : lower >= 'a' && lower <= 'f' ? static_cast<uint8_t>(lower - 'a' + 10)
                                        : kNoDigit;
}

/// One letter that stands for itself, or one escape, which go from the text; nothing for another.
std::optional<char> takeByte(Text &text) {
  const char first = text.front();
  if (first != '\\') {
    text.remove_prefix(1);
    return static_cast<uint8_t>(first) < 0x80 ? std::optional(first) : std::nullopt;
  }
  if (text.size() < kEscapeBytes || text[1] != 'x') {
    return std::nullopt;
  }
  const uint8_t high = hexDigit(text[2]), low = hexDigit(text[3]);
  text.remove_prefix(kEscapeBytes);
  return high == kNoDigit || low == kNoDigit ? std::nullopt
                                             : std::optional(static_cast<char>(high << 4 | low));
}

/// Writes the text of bytes and returns its end.
char *print(Text bytes, char *to) {
  for (const char byte : bytes) {
    if (isPrinted(byte)) {
      *to++ = byte;
      continue;
    }
    *to++ = '\\';
    *to++ = 'x';
    *to++ = kHexDigits[static_cast<uint8_t>(byte) >> 4];
    *to++ = kHexDigits[byte & 15];
  }
  return to;
}

uint64_t printedBytes(Text bytes) {
  const auto plain = static_cast<uint64_t>(std::count_if(bytes.begin(), bytes.end(), isPrinted));
  return plain + kEscapeBytes * (bytes.size() - plain);
}

constexpr Text kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<uint8_t, 256> base64Digits() {
  std::array<uint8_t, 256> digits{};
  digits.fill(kNoDigit);
  for (size_t digit = 0; digit < kLetters.size(); ++digit) {
    digits[static_cast<uint8_t>(kLetters[digit])] = static_cast<uint8_t>(digit);
  }
  return digits;
}

} // namespace

std::string binaryText(Text bytes) {
  std::string text(printedBytes(bytes), '\0');
  print(bytes, text.data());
  return text;
}

Text printedBinary(TextRoom &room, Text bytes) {
  return room.make(printedBytes(bytes), [&](char *to) { return print(bytes, to); });
}

std::optional<std::string> binaryOfText(Text text) {
  std::string bytes;
  while (!text.empty()) {
    const std::optional<char> byte = takeByte(text);
    if (!byte) {
      return std::nullopt;
    }
    bytes += *byte;
  }
  return bytes;
}

MaybeBinary parsedBinary(TextRoom &room, Text text) {
  bool isRight = true;
  const Text bytes = room.make(text.size(), [&](char *to) {
    for (Text rest = text; isRight && !rest.empty();) {
      const std::optional<char> byte = takeByte(rest);
      isRight = byte.has_value();
      *to++ = byte.value_or('\0');
    }
    return to;
  });
  return isRight ? MaybeBinary(Binary{bytes}) : std::nullopt;
}

MaybeBinary fromDigits(TextRoom &room, Text text, unsigned bits) {
  const size_t digits = 8 / bits, missing = (digits - text.size() % digits) % digits;
  bool isRight = true;
  const Text bytes = room.make((text.size() + missing) / digits, [&](char *to) {
    size_t place = missing;
    unsigned value = 0;
    for (const char letter : text) {
      const uint8_t digit = hexDigit(letter);
      isRight &= digit < 1u << bits;
      value = value << bits | digit;
      if (++place % digits == 0) {
        *to++ = static_cast<char>(value);
        value = 0;
      }
    }
    return to;
  });
  return isRight ? MaybeBinary(Binary{bytes}) : std::nullopt;
}

Text inBase64(TextRoom &room, Text bytes) {
  return room.make((bytes.size() + 2) / 3 * 4, [&](char *to) {
    for (size_t at = 0; at < bytes.size(); at += 3) {
      uint32_t group = 0;
      for (size_t place = at; place < at + 3; ++place) {
        group = group << 8 | (place < bytes.size() ? static_cast<uint8_t>(bytes[place]) : 0);
      }
      const size_t letters = std::min<size_t>(bytes.size() - at, 3) + 1;
      for (size_t letter = 0; letter < 4; ++letter) {
        *to++ = letter < letters ? kLetters[group >> (18 - 6 * letter) & 63] : '=';
      }
    }
    return to;
  });
}

MaybeBinary fromBase64(TextRoom &room, Text text) {
  static constexpr std::array<uint8_t, 256> kDigits = base64Digits();
  if (text.size() % 4 != 0) {
    return std::nullopt;
  }
  const size_t missing = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  bool isRight = true;
  const Text bytes = room.make(text.size() / 4 * 3, [&](char *to) {
    uint32_t group = 0;
    for (size_t at = 0; at < text.size(); ++at) {
      const bool isMissing = at >= text.size() - missing;
      const uint8_t digit = isMissing ? 0 : kDigits[static_cast<uint8_t>(text[at])];
      isRight &= digit != kNoDigit;
      group = group << 6 | digit;
      if (at % 4 == 3) {
        for (int shift = 16; shift >= 0; shift -= 8) {
          *to++ = static_cast<char>(group >> shift);
        }
        group = 0;
      }
    }
    return to - missing;
  });
  return isRight ? MaybeBinary(Binary{bytes}) : std::nullopt;
}

} // namespace headrace
