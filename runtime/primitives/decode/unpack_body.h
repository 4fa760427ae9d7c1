// Bit unpacking at any bit offset: `count` codes of `width` bits (1..32) that start at bit
// `firstBit`. Each returns the largest code, so that the caller checks a whole block against its
// dictionary at once. Compiled once per instruction set (isa/body.h). Reads at most 63 bytes past
// the last code's first byte; writes whole vectors: `out` has room for kUnpackSlack codes more.
#pragma once

#include <stdint.h>
#include <string.h>
#if HR_ISA_LEVEL >= 3
#include <immintrin.h>
#endif

namespace headrace::primitives {
namespace {

constexpr uint32_t kUnpackSlack = 64;

inline uint32_t codeMask(uint32_t width) { return static_cast<uint32_t>((1ull << width) - 1); }

/// One code at a bit position; reads 8 bytes.
inline uint32_t extractCode(const uint8_t *packed, uint64_t bit, uint32_t mask) {
  uint64_t word;
  memcpy(&word, packed + (bit >> 3), 8);
  return static_cast<uint32_t>(word >> (bit & 7)) & mask;
}

#if HR_ISA_LEVEL == 4

/// Lanes of a vector whose bytes 0..7 (of each qword) are base + 0..7.
inline __m512i byteSteps(__m512i basePerQword) {
  const __m512i firstByte = _mm512_set4_epi64(0x0808080808080808, 0, 0x0808080808080808, 0);
  __m512i base = _mm512_shuffle_epi8(basePerQword, firstByte);
  return _mm512_add_epi8(base, _mm512_set1_epi64(0x0706050403020100));
}

/// width <= 8. A qword holds eight codes.
inline uint32_t unpackCodes(const uint8_t *packed, uint64_t firstBit, uint32_t count,
                            uint32_t width, uint8_t *out) {
  const uint8_t *next = packed + (firstBit >> 3);
  const uint64_t shift = firstBit & 7;
  const __m512i lane = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
  const __m512i bytes = byteSteps(_mm512_mul_epu32(lane, _mm512_set1_epi64(width)));
  const __m512i shifts = _mm512_set1_epi64(
      static_cast<int64_t>(width * 0x0706050403020100ull + shift * 0x0101010101010101ull));
  const __m512i mask = _mm512_set1_epi8(static_cast<char>(codeMask(width)));
  __m512i largest = _mm512_setzero_si512();
  for (uint32_t done = 0; done < count; done += 64, next += 8 * width) {
    __m512i spread = _mm512_permutexvar_epi8(bytes, _mm512_loadu_si512(next));
    __m512i codes = _mm512_and_si512(_mm512_multishift_epi64_epi8(shifts, spread), mask);
    uint32_t left = count - done;
    __mmask64 valid = left >= 64 ? ~0ull : (1ull << left) - 1;
    largest = _mm512_mask_max_epu8(largest, valid, largest, codes);
    _mm512_storeu_si512(out + done, codes);
  }
  __m256i half =
      _mm256_max_epu8(_mm512_castsi512_si256(largest), _mm512_extracti64x4_epi64(largest, 1));
  __m512i wide = _mm512_cvtepu8_epi16(half);
  __m512i words = _mm512_max_epu16(wide, _mm512_bsrli_epi128(wide, 2));
  return static_cast<uint32_t>(
      _mm512_reduce_max_epu32(_mm512_and_si512(words, _mm512_set1_epi32(0xffff))));
}

/// width <= 25. Sixteen codes a step, each from the four bytes that hold it.
inline uint32_t unpackCodes(const uint8_t *packed, uint64_t firstBit, uint32_t count,
                            uint32_t width, uint32_t *out) {
  const uint8_t *next = packed + (firstBit >> 3);
  const uint32_t shift = static_cast<uint32_t>(firstBit & 7);
  const __m512i mask = _mm512_set1_epi32(static_cast<int32_t>(codeMask(width)));
  __m512i largest = _mm512_setzero_si512();
  if (width > 25) { // eight codes a step, each from eight bytes
    const __m512i lane = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    __m512i bits = _mm512_add_epi64(_mm512_mul_epu32(lane, _mm512_set1_epi64(width)),
                                    _mm512_set1_epi64(shift));
    const __m512i bytes = byteSteps(_mm512_srli_epi64(bits, 3));
    const __m512i shifts = _mm512_and_si512(bits, _mm512_set1_epi64(7));
    const __m512i mask64 = _mm512_set1_epi64(codeMask(width));
    for (uint32_t done = 0; done < count; done += 8, next += width) {
      __m512i spread = _mm512_permutexvar_epi8(bytes, _mm512_loadu_si512(next));
      __m512i codes = _mm512_and_si512(_mm512_srlv_epi64(spread, shifts), mask64);
      uint32_t left = count - done;
      __mmask8 valid = static_cast<__mmask8>(left >= 8 ? 0xff : (1u << left) - 1);
      largest = _mm512_mask_max_epu64(largest, valid, largest, codes);
      _mm256_storeu_si256(reinterpret_cast<__m256i *>(out + done), _mm512_cvtepi64_epi32(codes));
    }
    return static_cast<uint32_t>(_mm512_reduce_max_epu64(largest));
  }
  const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  __m512i bits =
      _mm512_add_epi32(_mm512_mullo_epi32(lane, _mm512_set1_epi32(static_cast<int32_t>(width))),
                       _mm512_set1_epi32(static_cast<int32_t>(shift)));
  const __m512i firstByte = _mm512_set4_epi32(0x0c0c0c0c, 0x08080808, 0x04040404, 0);
  const __m512i bytes = _mm512_add_epi8(_mm512_shuffle_epi8(_mm512_srli_epi32(bits, 3), firstByte),
                                        _mm512_set1_epi32(0x03020100));
  const __m512i shifts = _mm512_and_si512(bits, _mm512_set1_epi32(7));
  for (uint32_t done = 0; done < count; done += 16, next += 2 * width) {
    __m512i spread = _mm512_permutexvar_epi8(bytes, _mm512_loadu_si512(next));
    __m512i codes = _mm512_and_si512(_mm512_srlv_epi32(spread, shifts), mask);
    uint32_t left = count - done;
    __mmask16 valid = static_cast<__mmask16>(left >= 16 ? 0xffff : (1u << left) - 1);
    largest = _mm512_mask_max_epu32(largest, valid, largest, codes);
    _mm512_storeu_si512(out + done, codes);
  }
  return _mm512_reduce_max_epu32(largest);
}

/// width <= 16. A qword holds four codes; at 15 bits they may straddle its end, so dwords are used.
inline uint32_t unpackCodes(const uint8_t *packed, uint64_t firstBit, uint32_t count,
                            uint32_t width, uint16_t *out) {
  const uint8_t *next = packed + (firstBit >> 3);
  const uint64_t shift = firstBit & 7;
  __m512i largest = _mm512_setzero_si512();
  const __m512i mask = _mm512_set1_epi16(static_cast<int16_t>(codeMask(width)));
  if (width == 15) {
    uint32_t max = 0;
    for (uint32_t done = 0; done < count; done += 16) {
      alignas(64) uint32_t codes[16 + kUnpackSlack];
      uint32_t step = count - done < 16 ? count - done : 16;
      uint32_t stepMax = unpackCodes(packed, firstBit + uint64_t{15} * done, step, 15, codes);
      max = stepMax > max ? stepMax : max;
      _mm256_storeu_si256(reinterpret_cast<__m256i *>(out + done),
                          _mm512_cvtepi32_epi16(_mm512_load_si512(codes)));
    }
    return max;
  }
  const __m512i lane = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
  __m512i bits = _mm512_add_epi64(_mm512_mul_epu32(lane, _mm512_set1_epi64(4 * width)),
                                  _mm512_set1_epi64(static_cast<int64_t>(shift)));
  const __m512i bytes = byteSteps(_mm512_srli_epi64(bits, 3));
  const __m512i firstByte = _mm512_set4_epi64(0x0808080808080808, 0, 0x0808080808080808, 0);
  const __m512i shifts =
      _mm512_add_epi8(_mm512_shuffle_epi8(_mm512_and_si512(bits, _mm512_set1_epi64(7)), firstByte),
                      _mm512_set1_epi64(static_cast<int64_t>(width * 0x0303020201010000ull +
                                                             0x0800080008000800ull)));
  for (uint32_t done = 0; done < count; done += 32, next += 4 * width) {
    __m512i spread = _mm512_permutexvar_epi8(bytes, _mm512_loadu_si512(next));
    __m512i codes = _mm512_and_si512(_mm512_multishift_epi64_epi8(shifts, spread), mask);
    uint32_t left = count - done;
    __mmask32 valid = left >= 32 ? ~0u : (1u << left) - 1;
    largest = _mm512_mask_max_epu16(largest, valid, largest, codes);
    _mm512_storeu_si512(out + done, codes);
  }
  __m512i words = _mm512_max_epu16(largest, _mm512_bsrli_epi128(largest, 2));
  return static_cast<uint32_t>(
      _mm512_reduce_max_epu32(_mm512_and_si512(words, _mm512_set1_epi32(0xffff))));
}

#else

inline uint32_t unpackCodes(const uint8_t *packed, uint64_t firstBit, uint32_t count,
                            uint32_t width, uint32_t *out) {
  const uint32_t mask = codeMask(width);
  uint32_t max = 0;
  uint32_t done = 0;
#if HR_ISA_LEVEL == 3
  if (width <= 25) { // eight codes a step: four from each of two 16-byte loads
    const uint32_t shift = static_cast<uint32_t>(firstBit & 7);
    const uint8_t *next = packed + (firstBit >> 3);
    const uint32_t highBit = 4 * width + shift;
    const uint32_t highByte = highBit >> 3;
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 0, 1, 2, 3);
    const __m256i start = _mm256_setr_epi32(
        static_cast<int>(shift), static_cast<int>(shift), static_cast<int>(shift),
        static_cast<int>(shift), static_cast<int>(highBit & 7), static_cast<int>(highBit & 7),
        static_cast<int>(highBit & 7), static_cast<int>(highBit & 7));
    const __m256i bits = _mm256_add_epi32(
        _mm256_mullo_epi32(lane, _mm256_set1_epi32(static_cast<int>(width))), start);
    const __m256i firstByte = _mm256_setr_epi32(0, 0x04040404, 0x08080808, 0x0c0c0c0c, 0,
                                                0x04040404, 0x08080808, 0x0c0c0c0c);
    const __m256i bytes = _mm256_add_epi8(
        _mm256_shuffle_epi8(_mm256_srli_epi32(bits, 3), firstByte), _mm256_set1_epi32(0x03020100));
    const __m256i shifts = _mm256_and_si256(bits, _mm256_set1_epi32(7));
    const __m256i masks = _mm256_set1_epi32(static_cast<int>(mask));
    __m256i largest = _mm256_setzero_si256();
    for (; done + 8 <= count; done += 8, next += width) {
      __m256i raw = _mm256_inserti128_si256(
          _mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i *>(next))),
          _mm_loadu_si128(reinterpret_cast<const __m128i *>(next + highByte)), 1);
      __m256i codes =
          _mm256_and_si256(_mm256_srlv_epi32(_mm256_shuffle_epi8(raw, bytes), shifts), masks);
      largest = _mm256_max_epu32(largest, codes);
      _mm256_storeu_si256(reinterpret_cast<__m256i *>(out + done), codes);
    }
    alignas(32) uint32_t lanes[8];
    _mm256_store_si256(reinterpret_cast<__m256i *>(lanes), largest);
    for (uint32_t value : lanes) {
      max = value > max ? value : max;
    }
  }
#endif
  for (; done < count; ++done) {
    uint32_t code = extractCode(packed, firstBit + uint64_t{done} * width, mask);
    max = code > max ? code : max;
    out[done] = code;
  }
  return max;
}

#endif

} // namespace
} // namespace headrace::primitives
