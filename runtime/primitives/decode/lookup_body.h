// Lookup of codes in a table small enough for vector registers, compiled once per instruction set.
#pragma once

#include <stdint.h>
#include <string.h>
#if HR_ISA_LEVEL >= 3
#include <immintrin.h>
#endif

namespace headrace::primitives {
namespace {

/// 16 bytes: an HrString or a 128-bit decimal.
struct Value128 {
  uint64_t low, high;
};

/// Codes of any table, value by value. Its own function, so that a store of bytes, which may be
/// anything's, is not taken to change the table's or the sink's members.
template <typename Code, typename Value>
inline void lookupEach(const Code *codes, uint32_t rows, const Value *table, Value *out) {
  for (uint32_t i = 0; i < rows; ++i) {
    out[i] = table[codes[i]];
  }
}

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

#elif HR_ISA_LEVEL == 3

/// Entries in groups of sixteen, each byte of theirs in a vector of its own (in both lanes), where
/// a shuffle finds it for 32 codes at once. Holds 16 * kMostGroups entries.
template <typename Value, uint32_t kMostGroups> struct ByteTables {
  static constexpr uint32_t kBytes = sizeof(Value);

  __m256i bytes[kBytes][kMostGroups];
  uint32_t groups; // a power of two; 0: more entries than there is room for

  ByteTables(const Value *table, uint32_t count) : groups(0) {
    if (count > 16 * kMostGroups) {
      return;
    }
    groups = 1;
    while (16 * groups < count) {
      groups *= 2;
    }
    for (uint32_t g = 0; g < groups; ++g) {
      const uint32_t left = count > 16 * g ? count - 16 * g : 0;
      alignas(16) Value part[16];
      const Value *from = table + 16 * g;
      if (left < 16) { // nothing is read past the table
        memset(part, 0, sizeof part);
        memcpy(part, table + 16 * g, left * kBytes);
        from = part;
      }
      load(reinterpret_cast<const __m128i *>(from), g);
    }
  }

  void load(const __m128i *from, uint32_t g) {
    auto set = [&](uint32_t byte, __m128i values) {
      bytes[byte][g] = _mm256_broadcastsi128_si256(values);
    };
    if constexpr (kBytes == 1) {
      set(0, _mm_loadu_si128(from));
    } else if constexpr (kBytes == 2) {
      const __m128i apart = _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15);
      __m128i a = _mm_shuffle_epi8(_mm_loadu_si128(from), apart);
      __m128i b = _mm_shuffle_epi8(_mm_loadu_si128(from + 1), apart);
      set(0, _mm_unpacklo_epi64(a, b));
      set(1, _mm_unpackhi_epi64(a, b));
    } else {
      static_assert(kBytes == 4);
      const __m128i apart = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
      __m128i a = _mm_shuffle_epi8(_mm_loadu_si128(from), apart);
      __m128i b = _mm_shuffle_epi8(_mm_loadu_si128(from + 1), apart);
      __m128i c = _mm_shuffle_epi8(_mm_loadu_si128(from + 2), apart);
      __m128i d = _mm_shuffle_epi8(_mm_loadu_si128(from + 3), apart);
      __m128i lowAB = _mm_unpacklo_epi32(a, b), lowCD = _mm_unpacklo_epi32(c, d);
      __m128i highAB = _mm_unpackhi_epi32(a, b), highCD = _mm_unpackhi_epi32(c, d);
      set(0, _mm_unpacklo_epi64(lowAB, lowCD));
      set(1, _mm_unpackhi_epi64(lowAB, lowCD));
      set(2, _mm_unpacklo_epi64(highAB, highCD));
      set(3, _mm_unpackhi_epi64(highAB, highCD));
    }
  }

  /// Bytes of 32 codes from kGroups groups: from the lower half of them or, where the bit of the
  /// code says so, from the upper one.
  template <uint32_t kGroups> static __m256i byteOf(const __m256i *groups, __m256i codes) {
    if constexpr (kGroups == 1) {
      return _mm256_shuffle_epi8(groups[0], codes);
    } else {
      constexpr int kToSign = kGroups == 2 ? 3 : kGroups == 4 ? 2 : kGroups == 8 ? 1 : 0;
      __m256i upper = _mm256_slli_epi16(codes, kToSign);
      if constexpr (kGroups == 16) { // a shuffle gives 0 for bytes with a sign
        codes = _mm256_and_si256(codes, _mm256_set1_epi8(127));
      }
      return _mm256_blendv_epi8(byteOf<kGroups / 2>(groups, codes),
                                byteOf<kGroups / 2>(groups + kGroups / 2, codes), upper);
    }
  }

  /// Values of 32 codes.
  template <uint32_t kGroups> void lookup32(const uint8_t *from, Value *to) const {
    __m256i *out = reinterpret_cast<__m256i *>(to);
    __m256i codes = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(from));
    if constexpr (kBytes == 1) {
      _mm256_storeu_si256(out, byteOf<kGroups>(bytes[0], codes));
    } else if constexpr (kBytes == 2) {
      codes = _mm256_permute4x64_epi64(codes, 0xd8); // as interleaving leaves them in order
      __m256i low = byteOf<kGroups>(bytes[0], codes), high = byteOf<kGroups>(bytes[1], codes);
      _mm256_storeu_si256(out, _mm256_unpacklo_epi8(low, high));
      _mm256_storeu_si256(out + 1, _mm256_unpackhi_epi8(low, high));
    } else {
      codes = _mm256_permutevar8x32_epi32(codes, _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7));
      __m256i a = byteOf<kGroups>(bytes[0], codes), b = byteOf<kGroups>(bytes[1], codes);
      __m256i c = byteOf<kGroups>(bytes[2], codes), d = byteOf<kGroups>(bytes[3], codes);
      __m256i lowAB = _mm256_unpacklo_epi8(a, b), lowCD = _mm256_unpacklo_epi8(c, d);
      __m256i highAB = _mm256_unpackhi_epi8(a, b), highCD = _mm256_unpackhi_epi8(c, d);
      _mm256_storeu_si256(out, _mm256_unpacklo_epi16(lowAB, lowCD));
      _mm256_storeu_si256(out + 1, _mm256_unpackhi_epi16(lowAB, lowCD));
      _mm256_storeu_si256(out + 2, _mm256_unpacklo_epi16(highAB, highCD));
      _mm256_storeu_si256(out + 3, _mm256_unpackhi_epi16(highAB, highCD));
    }
  }

  template <uint32_t kGroups>
  bool lookupAll(const uint8_t *codes, uint32_t rows, Value *out) const {
    for (uint32_t i = 0; i + 32 <= rows; i += 32) {
      lookup32<kGroups>(codes + i, out + i);
    }
    lookup32<kGroups>(codes + rows - 32, out + rows - 32); // the last ones, some of them again
    return true;
  }

  bool lookup(const uint8_t *codes, uint32_t rows, Value *out) const {
    if (rows < 32) {
      return false;
    }
    switch (groups) {
    case 1:
      return lookupAll<1>(codes, rows, out);
    case 2:
      return lookupAll<2>(codes, rows, out);
    case 4:
      return lookupAll<4>(codes, rows, out);
    case 8:
      if constexpr (kMostGroups >= 8) {
        return lookupAll<8>(codes, rows, out);
      }
      return false;
    case 16:
      if constexpr (kMostGroups >= 16) {
        return lookupAll<16>(codes, rows, out);
      }
      return false;
    default:
      return false;
    }
  }
};

/// Where the shuffles of more groups would take longer than loads of single values.
template <> struct SmallTable<uint8_t, uint8_t> : ByteTables<uint8_t, 16> {
  using ByteTables::ByteTables;
};
template <> struct SmallTable<uint8_t, uint16_t> : ByteTables<uint16_t, 8> {
  using ByteTables::ByteTables;
};
template <> struct SmallTable<uint8_t, uint32_t> : ByteTables<uint32_t, 4> {
  using ByteTables::ByteTables;
};

#endif

} // namespace
} // namespace headrace::primitives
