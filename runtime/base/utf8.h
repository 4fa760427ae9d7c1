// Characters (code points) of texts in UTF-8. A byte that is none is a character by itself.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace headrace::utf8 {

/// Whether a byte goes on with a character.
inline bool continues(char byte) { return (static_cast<uint8_t>(byte) & 0xc0) == 0x80; }

/// Bytes of the first character of a text that is not empty.
inline size_t firstBytes(std::string_view text) {
  const auto lead = static_cast<uint8_t>(text.front());
  const size_t bytes = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  return bytes <= text.size() ? bytes : 1;
}

/// The first character of a text that is not empty.
inline std::string_view first(std::string_view text) { return text.substr(0, firstBytes(text)); }
/// The last one.
inline std::string_view last(std::string_view text) {
  size_t at = text.size() - 1;
  while (at > 0 && continues(text[at])) {
    --at;
  }
  return text.substr(at);
}

/// Bytes of the first characters of a text, or of all of them.
inline size_t bytesOf(std::string_view text, int64_t characters) {
  size_t at = 0;
  for (; characters > 0 && at < text.size(); --characters) {
    at += firstBytes(text.substr(at));
  }
  return at;
}

/// The code point of one character.
inline uint32_t decode(std::string_view character) {
  const auto lead = static_cast<uint8_t>(character.front());
  if (character.size() == 1) {
    return lead;
  }
  uint32_t code = lead & (0xffu >> (character.size() + 1));
  for (char byte : character.substr(1)) {
    code = code << 6 | (static_cast<uint8_t>(byte) & 0x3f);
  }
  return code;
}

/// Writes the character of a code point, up to four bytes, and returns its end.
inline char *encode(uint32_t code, char *out) {
  if (code < 0x80) {
    *out = static_cast<char>(code);
    return out + 1;
  }
  const uint32_t bytes = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (uint32_t i = bytes - 1; i > 0; --i, code >>= 6) {
    out[i] = static_cast<char>(0x80 | (code & 0x3f));
  }
  out[0] = static_cast<char>((0xf00u >> bytes & 0xff) | code);
  return out + bytes;
}

/// How many characters there are.
inline int64_t count(std::string_view text) {
  // Eight bytes at once: of those that continue a character, 10xxxxxx, one bit each is added up.
  constexpr uint64_t kOnes = 0x0101010101010101;
  int64_t following = 0;
  const auto add = [&](size_t at, size_t seen) { // the first `seen` of the eight have been added
    uint64_t word;
    std::memcpy(&word, text.data() + at, 8);
    uint64_t going = (word >> 7) & ~(word >> 6) & kOnes;
    going = std::endian::native == std::endian::little ? going >> 8 * seen : going << 8 * seen;
    following += static_cast<int64_t>((going * kOnes) >> 56);
  };
  const size_t rest = text.size() % 8;
  if (text.size() >= 8) {
    for (size_t i = 0; i + 8 <= text.size(); i += 8) {
      add(i, 0);
    }
    if (rest > 0) { // no loop of a length that nobody foretells
      add(text.size() - 8, 8 - rest);
    }
  } else {
    for (const char byte : text) {
      following += continues(byte) ? 1 : 0;
    }
  }
  return static_cast<int64_t>(text.size()) - following;
}

/// Whether bytes are UTF-8: no surrogates, overlong forms or what is above U+10FFFF.
inline bool isValid(std::string_view text) {
  const auto *next = reinterpret_cast<const uint8_t *>(text.data()), *const end =
                                                                         next + text.size();
  while (next != end) {
    const uint8_t first = *next++;
    if (first < 0x80) {
      continue;
    }
    const int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    if (first < 0xc2 || first > 0xf4 || end - next < more) {
      return false;
    }
    uint32_t code = first & (0x3f >> more);
    for (int i = 0; i < more; ++i) {
      if ((*next & 0xc0) != 0x80) {
        return false;
      }
      code = code << 6 | (*next++ & 0x3f);
    }
    constexpr uint32_t kSmallest[] = {0, 0x80, 0x800, 0x10000};
    if (code < kSmallest[more] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
      return false;
    }
  }
  return true;
}

} // namespace headrace::utf8
