// SQL substring: positions count characters (UTF-8), the first is 1; positions before the text
// exist but are empty.
#include "runtime/primitives/string/string.h"

#include <algorithm>

namespace headrace::primitives {
namespace {

/// The place `characters` further on, or the end.
const uint8_t *skipCharacters(const uint8_t *at, const uint8_t *end, int64_t characters) {
  while (characters > 0 && at != end) {
    ++at;
    while (at != end && (*at & 0xc0) == 0x80) {
      ++at;
    }
    --characters;
  }
  return at;
}

} // namespace

void stringSubstring(const HrString *text, int64_t start, int64_t length, HrString *out) {
  const uint8_t *end = text->data + text->length;
  int64_t first = start > 1 ? start - 1 : 0; // characters left out at the front
  const uint8_t *from = skipCharacters(text->data, end, first);
  const uint8_t *to = end;
  if (length < INT64_MAX) {
    // The range is [start, start + length), of which the part before 1 is empty.
    const __int128 after = start >= 1 ? length : static_cast<__int128>(length) + start - 1;
    to = skipCharacters(from, end, static_cast<int64_t>(std::max<__int128>(after, 0)));
  }
  *out = makeString(from, static_cast<uint32_t>(to - from));
}

} // namespace headrace::primitives
