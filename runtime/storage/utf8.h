// Whether bytes are UTF-8: names and texts from files go into JSON documents, which must be.
#pragma once

#include <cstdint>
#include <string_view>

namespace headrace::storage {

/// Without surrogates, overlong forms and what is above U+10FFFF.
inline bool isUtf8(std::string_view text) {
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

} // namespace headrace::storage
