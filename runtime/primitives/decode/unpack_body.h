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

#if HR_ISA_LEVEL == 3

/// 16 bytes from each of two places: the low lane and the high one.
inline __m256i loadLanes(const uint8_t *low, const uint8_t *high) {
  return _mm256_inserti128_si256(
      _mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i *>(low))),
      _mm_loadu_si128(reinterpret_cast<const __m128i *>(high)), 1);
}

/// `vector` with zeros after its first `valid` bytes.
inline __m256i firstBytes(__m256i vector, uint32_t valid) {
  alignas(64) static constexpr uint8_t kOnesThenZeros[64] = {
      255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
      255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
  const uint8_t *mask = kOnesThenZeros + (valid < 32 ? 32 - valid : 0);
  return _mm256_and_si256(vector, _mm256_loadu_si256(reinterpret_cast<const __m256i *>(mask)));
}

inline uint32_t largestWord(__m256i words) {
  __m128i largest =
      _mm_max_epu16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
  // There is an instruction for the smallest of eight words alone.
  const __m128i ones = _mm_set1_epi16(-1);
  uint32_t smallest =
      static_cast<uint32_t>(_mm_cvtsi128_si32(_mm_minpos_epu16(_mm_xor_si128(largest, ones))));
  return ~smallest & 0xffff;
}

/// width <= 8. Eight codes a lane, each from the two bytes that hold it. No shift of words takes a
/// count for each: a multiplication brings the code to the upper byte of its word.
inline uint32_t unpackCodes(const uint8_t *packed, uint64_t firstBit, uint32_t count,
                            uint32_t width, uint8_t *out) {
  const uint8_t *next = packed + (firstBit >> 3);
  const __m128i bits = _mm_add_epi16(_mm_mullo_epi16(_mm_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7),
                                                     _mm_set1_epi16(static_cast<int16_t>(width))),
                                     _mm_set1_epi16(static_cast<int16_t>(firstBit & 7)));
  const __m128i bothBytes = _mm_set1_epi16(0x0101);
  const __m256i bytes = _mm256_broadcastsi128_si256(
      _mm_add_epi8(_mm_mullo_epi16(_mm_srli_epi16(bits, 3), bothBytes), _mm_set1_epi16(0x0100)));
  // 256 >> shift: the low bytes for the eight shifts, then the high ones.
  const __m128i powers = _mm_setr_epi8(0, -128, 64, 32, 16, 8, 4, 2, 1, 0, 0, 0, 0, 0, 0, 0);
  const __m256i factors = _mm256_broadcastsi128_si256(_mm_shuffle_epi8(
      powers, _mm_add_epi8(_mm_mullo_epi16(_mm_and_si128(bits, _mm_set1_epi16(7)), bothBytes),
                           _mm_set1_epi16(0x0800))));
  const __m256i mask = _mm256_set1_epi8(static_cast<char>(codeMask(width)));
  auto eightALane = [&](const uint8_t *low, const uint8_t *high) {
    __m256i words = _mm256_shuffle_epi8(loadLanes(low, high), bytes);
    return _mm256_srli_epi16(_mm256_mullo_epi16(words, factors), 8);
  };
  __m256i largest = _mm256_setzero_si256();
  for (uint32_t done = 0; done < count; done += 32, next += 4 * width) {
    __m256i codes =
        _mm256_and_si256(_mm256_packus_epi16(eightALane(next, next + 2 * width),
                                             eightALane(next + width, next + 3 * width)),
                         mask);
    largest = _mm256_max_epu8(largest, firstBytes(codes, count - done));
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(out + done), codes);
  }
  return largestWord(_mm256_max_epu16(_mm256_srli_epi16(largest, 8),
                                      _mm256_and_si256(largest, _mm256_set1_epi16(255))));
}

/// Where four codes of up to 25 bits are that start at a bit, which is below 8 + 4 * 25, and how
/// far each is from the lowest bit of its four bytes.
struct FourCodes {
  uint32_t firstByte;
  __m128i bytes, shifts;

  FourCodes(uint32_t firstBit, uint32_t width) : firstByte(firstBit >> 3) {
    const __m128i bits = _mm_add_epi32(
        _mm_mullo_epi32(_mm_setr_epi32(0, 1, 2, 3), _mm_set1_epi32(static_cast<int>(width))),
        _mm_set1_epi32(static_cast<int>(firstBit & 7)));
    bytes = _mm_add_epi32(_mm_mullo_epi32(_mm_srli_epi32(bits, 3), _mm_set1_epi32(0x01010101)),
                          _mm_set1_epi32(0x03020100));
    shifts = _mm_and_si128(bits, _mm_set1_epi32(7));
  }
};

/// width <= 16. Sixteen codes a step, each from the four bytes that hold it.
inline uint32_t unpackCodes(const uint8_t *packed, uint64_t firstBit, uint32_t count,
                            uint32_t width, uint16_t *out) {
  const uint8_t *next = packed + (firstBit >> 3);
  const uint32_t shift = static_cast<uint32_t>(firstBit & 7);
  const FourCodes first(shift, width);
  const FourCodes second(shift + 4 * width, width);
  const __m256i mask = _mm256_set1_epi32(static_cast<int>(codeMask(width)));
  auto fourALane = [&](const uint8_t *from, const FourCodes &at) {
    from += at.firstByte;
    __m256i spread =
        _mm256_shuffle_epi8(loadLanes(from, from + width), _mm256_broadcastsi128_si256(at.bytes));
    return _mm256_and_si256(_mm256_srlv_epi32(spread, _mm256_broadcastsi128_si256(at.shifts)),
                            mask);
  };
  __m256i largest = _mm256_setzero_si256();
  for (uint32_t done = 0; done < count; done += 16, next += 2 * width) {
    __m256i codes = _mm256_packus_epi32(fourALane(next, first), fourALane(next, second));
    largest = _mm256_max_epu16(largest, firstBytes(codes, 2 * (count - done)));
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(out + done), codes);
  }
  return largestWord(largest);
}

#endif

inline uint32_t unpackCodes(const uint8_t *packed, uint64_t firstBit, uint32_t count,
                            uint32_t width, uint32_t *out) {
  const uint32_t mask = codeMask(width);
  uint32_t max = 0;
  uint32_t done = 0;
#if HR_ISA_LEVEL == 3
  if (width <= 25) { // eight codes a step: four from each of two 16-byte loads
    const FourCodes first(static_cast<uint32_t>(firstBit & 7), width);
    const FourCodes second(static_cast<uint32_t>(firstBit & 7) + 4 * width, width);
    const uint8_t *next = packed + (firstBit >> 3);
    const __m256i bytes = _mm256_set_m128i(second.bytes, first.bytes);
    const __m256i shifts = _mm256_set_m128i(second.shifts, first.shifts);
    const __m256i masks = _mm256_set1_epi32(static_cast<int>(mask));
    __m256i largest = _mm256_setzero_si256();
    for (; done + 8 <= count; done += 8, next += width) {
      __m256i raw = loadLanes(next, next + second.firstByte);
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
