// What digests of 64-byte blocks have in common: padding (FIPS 180-4, section 5.1.1, and RFC 1321),
// words, digits.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace headrace {

inline constexpr size_t kDigestBlock = 64;

/// Shows the blocks of a message, the last ones padded: a one, zeros, and its length in bits.
template <typename Block>
void eachBlock(std::span<const uint8_t> bytes, std::endian order, Block block) {
  constexpr size_t kLengthBytes = 8;
  const size_t whole = bytes.size() / kDigestBlock * kDigestBlock;
  for (size_t at = 0; at < whole; at += kDigestBlock) {
    block(bytes.data() + at);
  }
  std::array<uint8_t, 2 * kDigestBlock> tail = {};
  const size_t rest = bytes.size() - whole;
  if (rest != 0) {
    std::memcpy(tail.data(), bytes.data() + whole, rest);
  }
  tail[rest] = 0x80;
  const size_t tailBytes = rest < kDigestBlock - kLengthBytes ? kDigestBlock : 2 * kDigestBlock;
  const uint64_t bits = static_cast<uint64_t>(bytes.size()) * 8;
  for (size_t index = 0; index < kLengthBytes; ++index) {
    const size_t place =
        order == std::endian::big ? tailBytes - 1 - index : tailBytes - kLengthBytes + index;
    tail[place] = static_cast<uint8_t>(bits >> (8 * index));
  }
  for (size_t at = 0; at < tailBytes; at += kDigestBlock) {
    block(tail.data() + at);
  }
}

/// The nth word of a block.
inline uint32_t blockWord(const uint8_t *block, size_t n, std::endian order) {
  uint32_t word;
  std::memcpy(&word, block + 4 * n, sizeof word);
  return order == std::endian::native ? word : __builtin_bswap32(word);
}

/// Words as lower-case hexadecimal digits.
inline std::string digestDigits(std::span<const uint32_t> words, std::endian order) {
  std::string text;
  for (uint32_t word : words) {
    word = order == std::endian::big ? word : __builtin_bswap32(word);
    for (int shift = 28; shift >= 0; shift -= 4) {
      text += "0123456789abcdef"[word >> shift & 15];
    }
  }
  return text;
}

} // namespace headrace
