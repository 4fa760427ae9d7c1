// Bytewise comparison; the prefix kept in the view decides most of them.
#include "runtime/primitives/string/string.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace headrace::primitives {
namespace {

uint64_t head(const HrString &text) { // length and prefix
  uint64_t bits;
  std::memcpy(&bits, &text, 8);
  return bits;
}

} // namespace

int32_t stringEqual(const HrString *a, const HrString *b) {
  if (head(*a) != head(*b)) {
    return 0;
  }
  return a->length <= sizeof a->prefix || a->data == b->data ||
         std::memcmp(a->data + sizeof a->prefix, b->data + sizeof a->prefix,
                     a->length - sizeof a->prefix) == 0;
}

int32_t stringCompare(const HrString *a, const HrString *b) {
  uint32_t prefixA, prefixB;
  std::memcpy(&prefixA, a->prefix, 4);
  std::memcpy(&prefixB, b->prefix, 4);
  if (prefixA != prefixB) {
    return __builtin_bswap32(prefixA) < __builtin_bswap32(prefixB) ? -1 : 1;
  }
  uint32_t shared = std::min(a->length, b->length);
  if (shared > sizeof a->prefix) {
    int order = std::memcmp(a->data + sizeof a->prefix, b->data + sizeof a->prefix,
                            shared - sizeof a->prefix);
    if (order != 0) {
      return order < 0 ? -1 : 1;
    }
  }
  return a->length == b->length ? 0 : a->length < b->length ? -1 : 1;
}

int32_t stringStartsWith(const HrString *text, const HrString *part) {
  return part->length <= text->length &&
         (part->length == 0 || std::memcmp(text->data, part->data, part->length) == 0);
}

int32_t stringEndsWith(const HrString *text, const HrString *part) {
  return part->length <= text->length &&
         (part->length == 0 ||
          std::memcmp(text->data + (text->length - part->length), part->data, part->length) == 0);
}

} // namespace headrace::primitives
