// Strings in kernels: comparison, hash and substring (search and LIKE: search_body.h).
#pragma once

#include "runtime/abi/kernel.h"

namespace headrace::primitives {

int32_t stringEqual(const HrString *a, const HrString *b);
int32_t stringCompare(const HrString *a, const HrString *b);
/// Part of the versioned hash (hash/hash.h). Reads up to 15 bytes past the end of the text.
uint64_t stringHash(const HrString *text);
int32_t stringStartsWith(const HrString *text, const HrString *part);
int32_t stringEndsWith(const HrString *text, const HrString *part);
/// Characters from `start` (1 is the first) on; with a length of INT64_MAX to the end.
void stringSubstring(const HrString *text, int64_t start, int64_t length, HrString *out);

/// A view on bytes that have HR_PADDING readable bytes after them.
inline HrString makeString(const uint8_t *data, uint32_t length) {
  HrString text;
  text.length = length;
  text.data = data;
  for (uint32_t i = 0; i < sizeof text.prefix; ++i) {
    text.prefix[i] = i < length ? data[i] : 0;
  }
  return text;
}

} // namespace headrace::primitives
