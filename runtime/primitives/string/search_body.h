// Substring search and LIKE, compiled once per instruction set. A needle is looked for by its first
// and last byte at a vector of positions at once; reads up to HR_PADDING - 1 bytes past the end of
// the text.
#pragma once

#include "runtime/abi/kernel.h"

#include <stdint.h>
#include <string.h>
#if HR_ISA_LEVEL >= 3
#include <immintrin.h>
#elif HR_ISA_LEVEL >= 1
#include <emmintrin.h>
#endif

namespace headrace::primitives {
namespace {

#if HR_ISA_LEVEL == 4
constexpr uint64_t kSearchStep = 64;
inline uint64_t equalBytes(const uint8_t *text, uint8_t byte) {
  return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(text),
                                _mm512_set1_epi8(static_cast<char>(byte)));
}
#elif HR_ISA_LEVEL == 3
constexpr uint64_t kSearchStep = 32;
inline uint64_t equalBytes(const uint8_t *text, uint8_t byte) {
  __m256i value = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(text));
  return static_cast<uint32_t>(
      _mm256_movemask_epi8(_mm256_cmpeq_epi8(value, _mm256_set1_epi8(static_cast<char>(byte)))));
}
#elif HR_ISA_LEVEL == 0 // a thread of a GPU
constexpr uint64_t kSearchStep = 1;
inline uint64_t equalBytes(const uint8_t *text, uint8_t byte) { return *text == byte; }
#else
constexpr uint64_t kSearchStep = 16;
inline uint64_t equalBytes(const uint8_t *text, uint8_t byte) {
  __m128i value = _mm_loadu_si128(reinterpret_cast<const __m128i *>(text));
  return static_cast<uint32_t>(
      _mm_movemask_epi8(_mm_cmpeq_epi8(value, _mm_set1_epi8(static_cast<char>(byte)))));
}
#endif

/// First place of `needle` in [text, end), or null. An empty needle is found at once.
inline const uint8_t *findBytes(const uint8_t *text, const uint8_t *end, const uint8_t *needle,
                                uint64_t length) {
  if (length == 0) {
    return text;
  }
  if (static_cast<uint64_t>(end - text) < length) {
    return nullptr;
  }
  const uint64_t starts = static_cast<uint64_t>(end - text) - length + 1;
  const uint8_t first = needle[0];
  const uint8_t last = needle[length - 1];
  for (uint64_t i = 0; i < starts; i += kSearchStep) {
    uint64_t found = equalBytes(text + i, first) & equalBytes(text + i + length - 1, last);
    if (starts - i < kSearchStep) {
      found &= (1ull << (starts - i)) - 1;
    }
    while (found) {
      const uint8_t *place = text + i + __builtin_ctzll(found);
      if (memcmp(place, needle, length) == 0) {
        return place;
      }
      found &= found - 1;
    }
  }
  return nullptr;
}

int32_t stringContains(const HrString *text, const HrString *part) {
  return findBytes(text->data, text->data + text->length, part->data, part->length) != nullptr;
}

/// The part of a LIKE pattern between two '%'.
struct LikeSegment {
  const uint8_t *begin, *end;
  bool literal; // neither '_' nor escapes: the bytes stand for themselves
};

inline bool isContinuation(uint8_t byte) { return (byte & 0xc0) == 0x80; }

/// Matches a segment at the start of [text, end). Returns where the match ends, or null.
inline const uint8_t *matchSegment(const LikeSegment &segment, const uint8_t *text,
                                   const uint8_t *end, int32_t escape) {
  if (segment.literal) {
    uint64_t length = static_cast<uint64_t>(segment.end - segment.begin);
    bool equal = static_cast<uint64_t>(end - text) >= length &&
                 (length == 0 || memcmp(text, segment.begin, length) == 0);
    return equal ? text + length : nullptr;
  }
  for (const uint8_t *p = segment.begin; p != segment.end; ++p) {
    if (text == end) {
      return nullptr;
    }
    if (*p == '_' && *p != escape) {
      do { // one character
        ++text;
      } while (text != end && isContinuation(*text));
      continue;
    }
    if (*p == escape && p + 1 != segment.end) {
      ++p;
    }
    if (*text++ != *p) {
      return nullptr;
    }
  }
  return text;
}

/// Where the match of a segment begins and ends, at the first place in [text, end) that has one.
inline const uint8_t *searchSegment(const LikeSegment &segment, const uint8_t *text,
                                    const uint8_t *end, int32_t escape) {
  if (segment.literal) {
    uint64_t length = static_cast<uint64_t>(segment.end - segment.begin);
    const uint8_t *place = findBytes(text, end, segment.begin, length);
    return place ? place + length : nullptr;
  }
  for (;; ++text) {
    if (text == end || !isContinuation(*text)) {
      if (const uint8_t *after = matchSegment(segment, text, end, escape)) {
        return after;
      }
    }
    if (text == end) {
      return nullptr;
    }
  }
}

/// The segment that starts at `begin`; `*rest` is its '%' or the end of the pattern.
inline LikeSegment takeSegment(const uint8_t *begin, const uint8_t *end, int32_t escape) {
  LikeSegment segment{begin, begin, true};
  while (segment.end != end && (*segment.end != '%' || *segment.end == escape)) {
    if (*segment.end == escape) {
      segment.literal = false;
      ++segment.end;
      if (segment.end == end) {
        break;
      }
    } else if (*segment.end == '_') {
      segment.literal = false;
    }
    ++segment.end;
  }
  return segment;
}

int32_t stringLike(const HrString *text, const HrString *pattern, int32_t escape) {
  const uint8_t *at = text->data;
  const uint8_t *const textEnd = at + text->length;
  const uint8_t *p = pattern->data;
  const uint8_t *const patternEnd = p + pattern->length;

  LikeSegment segment = takeSegment(p, patternEnd, escape);
  at = matchSegment(segment, at, textEnd, escape);
  if (!at) {
    return 0;
  }
  if (segment.end == patternEnd) {
    return at == textEnd;
  }
  // Between two '%' the first match is as good as any. The last segment is anchored at the end.
  for (;;) {
    segment = takeSegment(segment.end + 1, patternEnd, escape);
    if (segment.end == patternEnd) {
      break;
    }
    at = searchSegment(segment, at, textEnd, escape);
    if (!at) {
      return 0;
    }
  }
  if (segment.literal) {
    uint64_t length = static_cast<uint64_t>(segment.end - segment.begin);
    return static_cast<uint64_t>(textEnd - at) >= length &&
           (length == 0 || memcmp(textEnd - length, segment.begin, length) == 0);
  }
  for (;; ++at) {
    if (at == textEnd || !isContinuation(*at)) {
      if (matchSegment(segment, at, textEnd, escape) == textEnd) {
        return 1;
      }
    }
    if (at == textEnd) {
      return 0;
    }
  }
}

} // namespace
} // namespace headrace::primitives
