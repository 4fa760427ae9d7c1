// Names are those of RFC 1321, section 3, and of FIPS 180-4, section 6.1.
#include "runtime/base/digests.h"

#include "runtime/base/digest_blocks.h"

namespace headrace {
namespace {

/// Of MD5: 2^32 times the sine of 1, 2, 3, … radians, without its sign.
constexpr std::array<uint32_t, 64> kSines = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
constexpr int kShifts[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

using Md5State = std::array<uint32_t, 4>;
using Sha1State = std::array<uint32_t, 5>;

void addMd5(Md5State &state, const uint8_t *block) {
  auto [a, b, c, d] = state;
  for (size_t step = 0; step < 64; ++step) {
    const size_t round = step / 16;
    const uint32_t mixed = round == 0   ? (b & c) | (~b & d)
                           : round == 1 ? (b & d) | (c & ~d)
                           : round == 2 ? b ^ c ^ d
                                        : c ^ (b | ~d);
    constexpr size_t kFactors[] = {1, 5, 3, 7}, kStarts[] = {0, 1, 5, 0};
    const size_t word = (kFactors[round] * step + kStarts[round]) % 16;
    const uint32_t sum = a + mixed + blockWord(block, word, std::endian::little) + kSines[step];
    a = d;
    d = c;
    c = b;
    b += std::rotl(sum, kShifts[round][step % 4]);
  }
  const Md5State worked = {a, b, c, d};
  for (size_t index = 0; index < state.size(); ++index) {
    state[index] += worked[index];
  }
}

void addSha1(Sha1State &state, const uint8_t *block) {
  std::array<uint32_t, 80> w;
  for (size_t t = 0; t < 16; ++t) {
    w[t] = blockWord(block, t, std::endian::big);
  }
  for (size_t t = 16; t < w.size(); ++t) {
    w[t] = std::rotl(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
  }
  auto [a, b, c, d, e] = state;
  for (size_t t = 0; t < w.size(); ++t) {
    constexpr uint32_t kRounds[] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
    const size_t round = t / 20;
    const uint32_t f = round == 0   ? (b & c) ^ (~b & d)
                       : round == 2 ? (b & c) ^ (b & d) ^ (c & d)
                                    : b ^ c ^ d;
    const uint32_t temporary = std::rotl(a, 5) + f + e + kRounds[round] + w[t];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = temporary;
  }
  const Sha1State worked = {a, b, c, d, e};
  for (size_t index = 0; index < state.size(); ++index) {
    state[index] += worked[index];
  }
}

} // namespace

std::string md5(std::span<const uint8_t> bytes) {
  Md5State state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  eachBlock(bytes, std::endian::little, [&](const uint8_t *block) { addMd5(state, block); });
  return digestDigits(state, std::endian::little);
}

std::string sha1(std::span<const uint8_t> bytes) {
  Sha1State state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  eachBlock(bytes, std::endian::big, [&](const uint8_t *block) { addSha1(state, block); });
  return digestDigits(state, std::endian::big);
}

} // namespace headrace
