// Where the separators, line ends and quotes of a CSV text are, 64 bytes at a time.
#pragma once

#include <cstdint>
#include <emmintrin.h>

namespace headrace::storage {

/// Which of 64 bytes are `wanted`, the first in the lowest bit.
inline uint64_t bytesEqual(const uint8_t *data, char wanted) {
  const __m128i all = _mm_set1_epi8(wanted);
  uint64_t bits = 0;
  for (int part = 0; part < 4; ++part) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(data) + part);
    const auto found = static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, all)));
    bits |= static_cast<uint64_t>(found) << (16 * part);
  }
  return bits;
}

/// Each bit: the parity of the bits up to and with it, so that what is between two quotes is set.
inline uint64_t prefixXor(uint64_t bits) {
  for (int step = 1; step < 64; step *= 2) {
    bits ^= bits << step;
  }
  return bits;
}

/// Bits below `count`.
inline uint64_t lowBits(uint64_t count) {
  return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}

} // namespace headrace::storage
