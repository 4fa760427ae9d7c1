// Lookup of codes in a table small enough for vector registers, compiled once per instruction set.
#pragma once

#include <stdint.h>
#if HR_ISA_LEVEL >= 3
#include <immintrin.h>
#endif

namespace headrace::primitives {
namespace {

/// 16 bytes: an HrString or a 128-bit decimal.
struct Value128 {
  uint64_t low, high;
};

/// The general case: no register table; the caller loads value by value.
template <typename Code, typename Value> struct SmallTable {
  SmallTable(const Value *, uint32_t) {}
  bool lookup(const Code *, uint32_t, Value *) const { return false; }
};

#if HR_ISA_LEVEL == 4

/// Up to 256 bytes in four registers.
template <> struct SmallTable<uint8_t, uint8_t> {
  __m512i part[4];
  uint32_t entries;

  SmallTable(const uint8_t *table, uint32_t count) : entries(count) {
    for (uint32_t i = 0; i < 4; ++i) {
      uint32_t left = count > 64 * i ? count - 64 * i : 0;
      __mmask64 valid = left >= 64 ? ~0ull : (1ull << left) - 1;
      part[i] = valid ? _mm512_maskz_loadu_epi8(valid, table + 64 * i) : _mm512_setzero_si512();
    }
  }

  bool lookup(const uint8_t *codes, uint32_t rows, uint8_t *out) const {
    for (uint32_t i = 0; i < rows; i += 64) {
      __m512i code = _mm512_loadu_si512(codes + i);
      __m512i value;
      if (entries <= 64) {
        value = _mm512_permutexvar_epi8(code, part[0]);
      } else {
        value = _mm512_permutex2var_epi8(part[0], code, part[1]);
        if (entries > 128) {
          value = _mm512_mask_blend_epi8(_mm512_movepi8_mask(code), value,
                                         _mm512_permutex2var_epi8(part[2], code, part[3]));
        }
      }
      if (rows - i >= 64) {
        _mm512_storeu_si512(out + i, value);
      } else {
        _mm512_mask_storeu_epi8(out + i, (1ull << (rows - i)) - 1, value);
      }
    }
    return true;
  }
};

/// Up to 64 entries of two bytes.
template <> struct SmallTable<uint8_t, uint16_t> {
  __m512i part[2];
  uint32_t entries;

  SmallTable(const uint16_t *table, uint32_t count) : entries(count) {
    for (uint32_t i = 0; i < 2; ++i) {
      uint32_t left = count > 32 * i ? count - 32 * i : 0;
      __mmask32 valid = left >= 32 ? ~0u : (1u << left) - 1;
      part[i] = valid ? _mm512_maskz_loadu_epi16(valid, table + 32 * i) : _mm512_setzero_si512();
    }
  }

  bool lookup(const uint8_t *codes, uint32_t rows, uint16_t *out) const {
    if (entries > 64) {
      return false;
    }
    for (uint32_t i = 0; i < rows; i += 32) {
      __m512i code =
          _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(codes + i)));
      __m512i value = _mm512_permutex2var_epi16(part[0], code, part[1]);
      if (rows - i >= 32) {
        _mm512_storeu_si512(out + i, value);
      } else {
        _mm512_mask_storeu_epi16(out + i, (1u << (rows - i)) - 1, value);
      }
    }
    return true;
  }
};

/// Up to 64 entries of four bytes.
template <> struct SmallTable<uint8_t, uint32_t> {
  __m512i part[4];
  uint32_t entries;

  SmallTable(const uint32_t *table, uint32_t count) : entries(count) {
    for (uint32_t i = 0; i < 4; ++i) {
      uint32_t left = count > 16 * i ? count - 16 * i : 0;
      __mmask16 valid = static_cast<__mmask16>(left >= 16 ? 0xffff : (1u << left) - 1);
      part[i] = valid ? _mm512_maskz_loadu_epi32(valid, table + 16 * i) : _mm512_setzero_si512();
    }
  }

  bool lookup(const uint8_t *codes, uint32_t rows, uint32_t *out) const {
    if (entries > 64) {
      return false;
    }
    const __m512i highHalf = _mm512_set1_epi32(32);
    for (uint32_t i = 0; i < rows; i += 16) {
      __m512i code =
          _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(codes + i)));
      __m512i value = _mm512_permutex2var_epi32(part[0], code, part[1]);
      if (entries > 32) {
        value = _mm512_mask_blend_epi32(_mm512_test_epi32_mask(code, highHalf), value,
                                        _mm512_permutex2var_epi32(part[2], code, part[3]));
      }
      if (rows - i >= 16) {
        _mm512_storeu_si512(out + i, value);
      } else {
        _mm512_mask_storeu_epi32(out + i, static_cast<__mmask16>((1u << (rows - i)) - 1), value);
      }
    }
    return true;
  }
};

#endif

} // namespace
} // namespace headrace::primitives
