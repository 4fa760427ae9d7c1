// Row numbers of set bits or non-zero bytes without a branch per row; compiled once per instruction
// set. Whole vectors are stored: up to 32 entries past the last one found.
#pragma once

#include <stdint.h>
#include <string.h>
#if HR_ISA_LEVEL >= 3
#include <immintrin.h>
#else
#include <emmintrin.h>
#endif

namespace headrace::primitives {
namespace {

#if HR_ISA_LEVEL == 4

/// Appends the row numbers base + i of the set bits i of `bits`.
inline uint16_t *appendRows(uint64_t bits, uint32_t base, uint16_t *out) {
  const __m512i step = _mm512_cvtepu8_epi16(
      _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                       22, 23, 24, 25, 26, 27, 28, 29, 30, 31));
  for (uint32_t half = 0; half < 2; ++half) {
    uint32_t mask = static_cast<uint32_t>(bits >> (32 * half));
    __m512i rows =
        _mm512_add_epi16(step, _mm512_set1_epi16(static_cast<int16_t>(base + 32 * half)));
    // In a register first: compressing straight to memory is microcoded on some processors.
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi16(mask, rows));
    out += __builtin_popcount(mask);
  }
  return out;
}

#else

struct SetBitTable {
  alignas(16) uint16_t rows[256][8];
  uint8_t count[256];
};

constexpr SetBitTable makeSetBitTable() {
  SetBitTable table{};
  for (uint32_t bits = 0; bits < 256; ++bits) {
    uint8_t count = 0;
    for (uint16_t i = 0; i < 8; ++i) {
      if (bits >> i & 1) {
        table.rows[bits][count++] = i;
      }
    }
    table.count[bits] = count;
  }
  return table;
}
constexpr SetBitTable kSetBits = makeSetBitTable();

inline uint16_t *appendRows(uint64_t bits, uint32_t base, uint16_t *out) {
  for (uint32_t i = 0; i < 64; i += 8) {
    uint32_t byte = bits >> i & 0xff;
    __m128i rows =
        _mm_add_epi16(_mm_load_si128(reinterpret_cast<const __m128i *>(kSetBits.rows[byte])),
                      _mm_set1_epi16(static_cast<int16_t>(base + i)));
    _mm_storeu_si128(reinterpret_cast<__m128i *>(out), rows);
    out += kSetBits.count[byte];
  }
  return out;
}

#endif

uint32_t selectBits(const uint64_t *bits, uint32_t rows, uint16_t *out) {
  uint16_t *end = out;
  uint32_t base = 0;
  for (; base + 64 <= rows; base += 64) {
    end = appendRows(bits[base / 64], base, end);
  }
  if (base < rows) {
    end = appendRows(bits[base / 64] & ((1ull << (rows - base)) - 1), base, end);
  }
  return static_cast<uint32_t>(end - out);
}

/// One bit per byte that is not zero, for 64 bytes.
inline uint64_t nonZeroBytes(const uint8_t *bytes) {
#if HR_ISA_LEVEL == 4
  __m512i value = _mm512_loadu_si512(bytes);
  return _mm512_test_epi8_mask(value, value);
#elif HR_ISA_LEVEL == 3
  uint64_t mask = 0;
  for (uint32_t i = 0; i < 2; ++i) {
    __m256i value = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(bytes + 32 * i));
    uint32_t zero = static_cast<uint32_t>(
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(value, _mm256_setzero_si256())));
    mask |= static_cast<uint64_t>(~zero) << (32 * i);
  }
  return mask;
#else
  uint64_t mask = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    __m128i value = _mm_loadu_si128(reinterpret_cast<const __m128i *>(bytes + 16 * i));
    uint32_t zero =
        static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(value, _mm_setzero_si128())));
    mask |= static_cast<uint64_t>(~zero & 0xffff) << (16 * i);
  }
  return mask;
#endif
}

uint32_t selectBytes(const uint8_t *bytes, uint32_t rows, uint16_t *out) {
  uint16_t *end = out;
  uint32_t base = 0;
  for (; base + 64 <= rows; base += 64) {
    end = appendRows(nonZeroBytes(bytes + base), base, end);
  }
  if (base < rows) {
    alignas(64) uint8_t tail[64] = {};
    memcpy(tail, bytes + base, rows - base);
    end = appendRows(nonZeroBytes(tail), base, end);
  }
  return static_cast<uint32_t>(end - out);
}

} // namespace
} // namespace headrace::primitives
