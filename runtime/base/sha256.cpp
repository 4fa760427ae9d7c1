// Names are those of FIPS 180-4, section 6.2.
#include "runtime/base/sha256.h"

#include "runtime/base/digest_blocks.h"

namespace headrace {
namespace {

constexpr std::array<uint32_t, 64> kRounds = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using State = std::array<uint32_t, 8>;

void addBlock(State &state, const uint8_t *block) {
  std::array<uint32_t, 64> w;
  for (size_t t = 0; t < 16; ++t) {
    w[t] = blockWord(block, t, std::endian::big);
  }
  for (size_t t = 16; t < 64; ++t) {
    uint32_t s0 = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ w[t - 15] >> 3;
    uint32_t s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ w[t - 2] >> 10;
    w[t] = w[t - 16] + s0 + w[t - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (size_t t = 0; t < 64; ++t) {
    uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    uint32_t temporary1 = h + sum1 + ((e & f) ^ (~e & g)) + kRounds[t] + w[t];
    uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    uint32_t temporary2 = sum0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + temporary1;
    d = c;
    c = b;
    b = a;
    a = temporary1 + temporary2;
  }
  const State worked = {a, b, c, d, e, f, g, h};
  for (size_t index = 0; index < state.size(); ++index) {
    state[index] += worked[index];
  }
}

State digest(std::span<const uint8_t> bytes) {
  State state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  eachBlock(bytes, std::endian::big, [&](const uint8_t *block) { addBlock(state, block); });
  return state;
}

std::string digestBytes(const std::string &bytes) {
  std::string text;
  for (uint32_t word : digest({reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()})) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      text += static_cast<char>(word >> shift);
    }
  }
  return text;
}

} // namespace

std::string sha256(std::span<const uint8_t> bytes) {
  return digestDigits(digest(bytes), std::endian::big);
}

std::string sha256(std::string_view bytes) {
  return sha256({reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()});
}

std::string hmacSha256(std::string_view key, std::string_view message) {
  std::string inner = key.size() > 64 ? digestBytes(std::string(key)) : std::string(key);
  inner.resize(64, '\0');
  std::string outer = inner;
  for (size_t index = 0; index < 64; ++index) {
    inner[index] ^= 0x36;
    outer[index] ^= 0x5c;
  }
  return digestBytes(outer + digestBytes(inner.append(message)));
}

} // namespace headrace
