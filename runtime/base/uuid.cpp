// UUIDs as text and back, their versions and times.
#include "runtime/base/uuid.h"

#include <algorithm>

namespace headrace {

static constexpr uint32_t kUuidTextBytes = 2 * kUuidBytes + 4;

/// The value of a hexadecimal digit; nothing if it is none.
static std::optional<unsigned> hexDigit(char letter) {
  const char lower = static_cast<char>(letter | 0x20);
  return letter >= '0' && letter <= '9' ? std::optional(static_cast<unsigned>(letter - '0'))
         : lower >= 'a' && lower <= 'f' ? std::optional(static_cast<unsigned>(lower - 'a' + 10))
                                        : std::nullopt;
}

/// Writes the text of bytes and returns its end.
static char *print(std::string_view bytes, char *to) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (size_t place = 0; bytes.size() == kUuidBytes && place < kUuidBytes; ++place) {
    if (place == 4 || place == 6 || place == 8 || place == 10) {
      *to++ = '-';
    }
    const auto byte = static_cast<uint8_t>(bytes[place]);
    *to++ = kDigits[byte >> 4];
    *to++ = kDigits[byte & 15];
  }
  return to;
}

std::string uuidText(std::string_view bytes) {
  char text[kUuidTextBytes];
  return {text, print(bytes, text)};
}

std::string_view printedUuid(TextRoom &room, std::string_view bytes) {
  return room.make(kUuidTextBytes, [&](char *to) { return print(bytes, to); });
}

std::optional<UuidBytes> parseUuid(std::string_view text) {
  if (text.starts_with('{')) {
    if (!text.ends_with('}')) {
      return std::nullopt;
    }
    text = text.substr(1, text.size() - 2);
  }
  UuidBytes bytes{};
  size_t digits = 0;
  for (const char letter : text) {
    if (letter == '-') {
      continue;
    }
    const std::optional<unsigned> digit = hexDigit(letter);
    if (!digit || digits == 2 * kUuidBytes) {
      return std::nullopt;
    }
    char &byte = bytes[digits++ / 2];
    byte = static_cast<char>(static_cast<uint8_t>(byte) << 4 | *digit);
  }
  return digits == 2 * kUuidBytes ? std::optional(bytes) : std::nullopt;
}

int64_t uuidVersion(std::string_view bytes) {
  constexpr size_t kPlace = 6;
  return bytes.size() == kUuidBytes ? static_cast<uint8_t>(bytes[kPlace]) >> 4 : 0;
}

std::optional<int64_t> uuidMicros(std::string_view bytes) {
  constexpr int64_t kTimed = 7, kMicrosOfMilli = 1000;
  constexpr size_t kTimeBytes = 6;
  if (uuidVersion(bytes) != kTimed) {
    return std::nullopt;
  }
  int64_t millis = 0;
  for (const char byte : bytes.substr(0, kTimeBytes)) {
    millis = millis << 8 | static_cast<uint8_t>(byte);
  }
  return millis * kMicrosOfMilli;
}

//  0          6         6.5        8    8.25      16 bytes
// +----------+---------+----------+----+----------+
// | 48 bits  | version | 12 bits  | 10 | 62 bits  |
// +----------+---------+----------+----+----------+
static Uuid uuidOf(TextRoom &room, uint64_t version, uint64_t first, uint64_t second,
                   uint64_t third) {
  constexpr uint64_t kVariant = 2;
  const uint64_t halves[] = {(first & 0xffffffffffff) << 16 | version << 12 | (second & 0xfff),
                             kVariant << 62 | (third & 0x3fffffffffffffff)};
  return Uuid{room.make(kUuidBytes, [&](char *to) {
    for (const uint64_t half : halves) {
      for (int shift = 56; shift >= 0; shift -= 8) {
        *to++ = static_cast<char>(half >> shift);
      }
    }
    return to;
  })};
}

Uuid drawnUuid(TextRoom &room, int64_t first, int64_t second, int64_t third) {
  constexpr uint64_t kVersion = 4;
  const auto a = static_cast<uint64_t>(first), b = static_cast<uint64_t>(second),
             c = static_cast<uint64_t>(third);
  return uuidOf(room, kVersion, a >> 4, (a & 0xf) << 8 | (c & 0xff),
                (c >> 8 & 0x3ff) << 52 | (b & 0xfffffffffffff));
}

Uuid timedUuid(TextRoom &room, int64_t millis, int64_t first, int64_t second) {
  constexpr uint64_t kVersion = 7;
  const auto a = static_cast<uint64_t>(first), b = static_cast<uint64_t>(second);
  return uuidOf(room, kVersion, static_cast<uint64_t>(millis), b,
                (b >> 12 & 0x3ff) << 52 | (a & 0xfffffffffffff));
}

MaybeUuid keptUuid(TextRoom &room, const std::optional<UuidBytes> &bytes) {
  if (!bytes) {
    return std::nullopt;
  }
  return Uuid{
      room.make(kUuidBytes, [&](char *to) { return std::copy(bytes->begin(), bytes->end(), to); })};
}

} // namespace headrace
