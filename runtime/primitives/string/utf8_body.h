// Compiled once per instruction set: whether bytes are UTF-8. With AVX2 each byte and the three in
// front of it are looked up in tables of what may be wrong between them (Keiser and Lemire,
// "Validating UTF-8 in less than one instruction per byte", 2021).
#pragma once

#include <stdint.h>
#include <string.h>

#if HR_ISA_LEVEL >= 3
#include <immintrin.h>
#else // not above: functions of base are inline, and would be of this instruction set everywhere
#include "runtime/base/utf8.h"
#endif

namespace headrace::primitives {
namespace {

#if HR_ISA_LEVEL >= 3

// What is wrong with a byte behind another.
constexpr char kTooShort = 1 << 0;     // 11...... 0.......  11...... 11......
constexpr char kTooLong = 1 << 1;      // 0....... 10......
constexpr char kOverlong3 = 1 << 2;    // 11100000 100.....
constexpr char kTooLarge = 1 << 3;     // 11110100 101..... and above
constexpr char kSurrogate = 1 << 4;    // 11101101 101.....
constexpr char kOverlong2 = 1 << 5;    // 1100000. 10......
constexpr char kTooLarge1000 = 1 << 6; // 11110101 1000.... and above
constexpr char kOverlong4 = 1 << 6;    // 11110000 1000....
constexpr char kTwoFollow = -128;      // 10...... 10......: right behind a lead of three or four
constexpr char kAnyLow = kTooShort | kTooLong | kTwoFollow;
constexpr char kHighLow = kAnyLow | kTooLarge | kTooLarge1000;

class Utf8Check {
public:
  /// The next 64 bytes.
  void add(const uint8_t *bytes) {
    const __m256i first = load(bytes), second = load(bytes + 32);
    if (_mm256_movemask_epi8(_mm256_or_si256(first, second)) == 0) {
      error_ = _mm256_or_si256(error_, incomplete_);
      incomplete_ = _mm256_setzero_si256();
    } else {
      look(first, before_);
      look(second, first);
      incomplete_ = incompleteIn(second);
    }
    before_ = second;
  }
  bool end() const {
    const __m256i error = _mm256_or_si256(error_, incomplete_);
    return _mm256_testz_si256(error, error) != 0;
  }

private:
  static __m256i load(const uint8_t *bytes) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(bytes));
  }
  /// What a lead of two, three or four bytes at the end still waits for.
  static __m256i incompleteIn(__m256i bytes) {
    const __m256i most =
        _mm256_setr_epi8(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                         -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, static_cast<char>(0xef),
                         static_cast<char>(0xdf), static_cast<char>(0xbf));
    return _mm256_subs_epu8(bytes, most);
  }
  static __m256i table(char a, char b, char c, char d, char e, char f, char g, char h, char i,
                       char j, char k, char l, char m, char n, char o, char p) {
    return _mm256_setr_epi8(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, a, b, c, d, e, f, g, h,
                            i, j, k, l, m, n, o, p);
  }
  static __m256i high(__m256i bytes) {
    return _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(0x0f));
  }
  void look(__m256i bytes, __m256i before) {
    const __m256i across = _mm256_permute2x128_si256(before, bytes, 0x21);
    const __m256i one = _mm256_alignr_epi8(bytes, across, 15);
    const __m256i two = _mm256_alignr_epi8(bytes, across, 14);
    const __m256i three = _mm256_alignr_epi8(bytes, across, 13);
    const __m256i leadHigh = _mm256_shuffle_epi8(
        table(kTooLong, kTooLong, kTooLong, kTooLong, kTooLong, kTooLong, kTooLong, kTooLong,
              kTwoFollow, kTwoFollow, kTwoFollow, kTwoFollow, kTooShort | kOverlong2, kTooShort,
              kTooShort | kOverlong3 | kSurrogate,
              kTooShort | kTooLarge | kTooLarge1000 | kOverlong4),
        high(one));
    const __m256i leadLow = _mm256_shuffle_epi8(
        table(kAnyLow | kOverlong2 | kOverlong3 | kOverlong4, kAnyLow | kOverlong2, kAnyLow,
              kAnyLow, kAnyLow | kTooLarge, kHighLow, kHighLow, kHighLow, kHighLow, kHighLow,
              kHighLow, kHighLow, kHighLow, kHighLow | kSurrogate, kHighLow, kHighLow),
        _mm256_and_si256(one, _mm256_set1_epi8(0x0f)));
    constexpr char kFollows = kTooLong | kOverlong2 | kTwoFollow;
    const __m256i own = _mm256_shuffle_epi8(
        table(kTooShort, kTooShort, kTooShort, kTooShort, kTooShort, kTooShort, kTooShort,
              kTooShort, kFollows | kOverlong3 | kTooLarge1000 | kOverlong4,
              kFollows | kOverlong3 | kTooLarge, kFollows | kSurrogate | kTooLarge,
              kFollows | kSurrogate | kTooLarge, kTooShort, kTooShort, kTooShort, kTooShort),
        high(bytes));
    const __m256i wrong = _mm256_and_si256(_mm256_and_si256(leadHigh, leadLow), own);
    // The third byte of three and the third and fourth of four follow a byte that follows.
    const __m256i third = _mm256_subs_epu8(two, _mm256_set1_epi8(0xe0 - 0x80));
    const __m256i fourth = _mm256_subs_epu8(three, _mm256_set1_epi8(0xf0 - 0x80));
    const __m256i must =
        _mm256_and_si256(_mm256_or_si256(third, fourth), _mm256_set1_epi8(kTwoFollow));
    error_ = _mm256_or_si256(error_, _mm256_xor_si256(must, wrong));
  }

  __m256i error_ = _mm256_setzero_si256();
  __m256i before_ = _mm256_setzero_si256();
  __m256i incomplete_ = _mm256_setzero_si256();
};

bool isUtf8(const uint8_t *bytes, uint64_t count) {
  Utf8Check check;
  for (; count >= 64; bytes += 64, count -= 64) {
    check.add(bytes);
  }
  if (count != 0) {
    uint8_t last[64] = {}; // zeros are ASCII: what is cut short before them is wrong
    memcpy(last, bytes, count);
    check.add(last);
  }
  return check.end();
}

#else

bool isUtf8(const uint8_t *bytes, uint64_t count) {
  return utf8::isValid({reinterpret_cast<const char *>(bytes), count});
}

#endif

} // namespace
} // namespace headrace::primitives
