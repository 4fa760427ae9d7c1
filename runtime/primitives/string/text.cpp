// Text of text. Bytes below 0x80 go one by one; other characters through the C library's tables for
// Unicode.
#include "runtime/primitives/string/text.h"
#include "runtime/primitives/string/string.h"

#include <clocale>
#include <cstring>
#include <cwctype>

namespace headrace::primitives {
namespace {

/// The simple mappings of Unicode, whatever the process's locale.
locale_t unicode() {
  static const locale_t made = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return made;
}

/// Bytes of the character that begins with `lead`.
uint32_t bytesOf(uint8_t lead) { return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4; }

uint32_t decode(const uint8_t *at, uint32_t bytes) {
  if (bytes == 1) {
    return *at;
  }
  uint32_t code = *at & (0xffu >> (bytes + 1));
  for (uint32_t i = 1; i < bytes; ++i) {
    code = code << 6 | (at[i] & 0x3f);
  }
  return code;
}

uint32_t encode(uint32_t code, uint8_t *out) {
  if (code < 0x80) {
    out[0] = static_cast<uint8_t>(code);
    return 1;
  }
  uint32_t bytes = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (uint32_t i = bytes - 1; i > 0; --i, code >>= 6) {
    out[i] = static_cast<uint8_t>(0x80 | (code & 0x3f));
  }
  out[0] = static_cast<uint8_t>((0xf00u >> bytes & 0xff) | code);
  return bytes;
}

uint64_t writeCase(bool upper, const HrString &text, uint8_t *out) {
  const uint8_t *at = text.data, *end = at + text.length;
  uint8_t *to = out;
  const uint8_t first = upper ? 'a' : 'A';
  while (at < end) {
    if (*at < 0x80) {
      const uint8_t byte = *at++;
      *to++ = static_cast<uint8_t>(byte - first) < 26 ? byte ^ 0x20 : byte;
      continue;
    }
    const uint32_t bytes = bytesOf(*at);
    if (at + bytes > end) { // not UTF-8: as it is
      *to++ = *at++;
      continue;
    }
    const auto code = static_cast<wint_t>(decode(at, bytes));
    constexpr wint_t kSharpS = 0xdf, kCapitalSharpS = 0x1e9e; // ß and ẞ, which the tables leave out
    const wint_t mapped = upper && code == kSharpS ? kCapitalSharpS
                          : !unicode()             ? code
                          : upper                  ? towupper_l(code, unicode())
                                                   : towlower_l(code, unicode());
    to += encode(static_cast<uint32_t>(mapped), to);
    at += bytes;
  }
  return static_cast<uint64_t>(to - out);
}

/// Whether the character at `at` is one of `set`.
bool isIn(const uint8_t *at, uint32_t bytes, const HrString &set) {
  for (const uint8_t *s = set.data, *end = s + set.length; s < end; s += bytesOf(*s)) {
    if (bytesOf(*s) == bytes && std::memcmp(s, at, bytes) == 0) {
      return true;
    }
  }
  return false;
}

const uint8_t *find(const uint8_t *from, const uint8_t *end, const HrString &part) {
  const auto *found = static_cast<const uint8_t *>(
      memmem(from, static_cast<size_t>(end - from), part.data, part.length));
  return found ? found : end;
}

uint64_t writeReplaced(const HrString &text, const HrString &part, const HrString &by,
                       uint8_t *out) {
  const uint8_t *at = text.data, *end = at + text.length;
  uint8_t *to = out;
  auto copy = [&](const uint8_t *from, uint64_t bytes) {
    std::memcpy(to, from, bytes);
    to += bytes;
  };
  while (part.length > 0) {
    const uint8_t *found = find(at, end, part);
    copy(at, static_cast<uint64_t>(found - at));
    at = found;
    if (found == end) {
      break;
    }
    copy(by.data, by.length);
    at += part.length;
  }
  copy(at, static_cast<uint64_t>(end - at));
  return static_cast<uint64_t>(to - out);
}

} // namespace

int64_t textLength(const HrString *text) {
  // Eight bytes at once: of those that continue a character, 10xxxxxx, one bit each is added up.
  constexpr uint64_t kOnes = 0x0101010101010101;
  int64_t following = 0;
  uint32_t i = 0;
  for (; i + 8 <= text->length; i += 8) {
    uint64_t word;
    std::memcpy(&word, text->data + i, 8);
    uint64_t continues = (word >> 7) & ~(word >> 6) & kOnes;
    following += static_cast<int64_t>((continues * kOnes) >> 56);
  }
  for (; i < text->length; ++i) {
    following += (text->data[i] & 0xc0) == 0x80;
  }
  return text->length - following;
}

HrString textTrimmed(HrTextFunction function, const HrString &text, const HrString &set) {
  const uint8_t *begin = text.data, *end = begin + text.length;
  while (function != HR_TEXT_TRIM_END && begin < end && begin + bytesOf(*begin) <= end &&
         isIn(begin, bytesOf(*begin), set)) {
    begin += bytesOf(*begin);
  }
  while (function != HR_TEXT_TRIM_START && begin < end) {
    const uint8_t *last = end - 1;
    while (last > begin && (*last & 0xc0) == 0x80) {
      --last;
    }
    if (!isIn(last, static_cast<uint32_t>(end - last), set)) {
      break;
    }
    end = last;
  }
  return makeString(begin, static_cast<uint32_t>(end - begin));
}

uint64_t textBytesMax(HrTextFunction function, const HrString *const *operands, int32_t count) {
  uint64_t bytes = 0;
  for (int32_t i = 0; i < count; ++i) {
    bytes += operands[i]->length;
  }
  switch (function) {
  case HR_TEXT_UPPER:
  case HR_TEXT_LOWER:
    return 2 * bytes; // two bytes become at most three
  case HR_TEXT_REPLACE: {
    const uint64_t text = operands[0]->length, part = operands[1]->length, by = operands[2]->length;
    return text + (part == 0 ? 0 : text / part * by);
  }
  default:
    return bytes;
  }
}

uint64_t writeText(HrTextFunction function, const HrString *const *operands, int32_t count,
                   uint8_t *out) {
  switch (function) {
  case HR_TEXT_UPPER:
  case HR_TEXT_LOWER:
    return writeCase(function == HR_TEXT_UPPER, *operands[0], out);
  case HR_TEXT_REPLACE:
    return writeReplaced(*operands[0], *operands[1], *operands[2], out);
  default: {
    uint8_t *to = out;
    for (int32_t i = 0; i < count; ++i) {
      std::memcpy(to, operands[i]->data, operands[i]->length);
      to += operands[i]->length;
    }
    return static_cast<uint64_t>(to - out);
  }
  }
}

} // namespace headrace::primitives
