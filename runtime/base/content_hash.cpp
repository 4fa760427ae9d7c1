// checksumBytes: folded 64x64 multiplications over four lanes. ContentHasher: SipHash-2-4-128
// (Aumasson and Bernstein, 2012).
#include "runtime/base/content_hash.h"

#include <bit>
#include <cstdio>
#include <cstring>

namespace headrace {

namespace {

uint64_t load64(const unsigned char *at) {
  uint64_t word;
  std::memcpy(&word, at, sizeof(word));
  return word;
}

/// Both halves of the product, folded. The operands are mixed in again, so that a zero factor does
/// not erase the other.
uint64_t fold(uint64_t a, uint64_t b) {
  unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64) ^ a ^
         std::rotl(b, 32);
}

// Odd constants from the fractional digits of square roots of primes.
constexpr uint64_t kSecret[5] = {0x6a09e667f3bcc909, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                 0xa54ff53a5f1d36f1, 0x510e527fade682d1};

void sipRound(std::array<uint64_t, 4> &v) {
  v[0] += v[1];
  v[1] = std::rotl(v[1], 13) ^ v[0];
  v[0] = std::rotl(v[0], 32);
  v[2] += v[3];
  v[3] = std::rotl(v[3], 16) ^ v[2];
  v[0] += v[3];
  v[3] = std::rotl(v[3], 21) ^ v[0];
  v[2] += v[1];
  v[1] = std::rotl(v[1], 17) ^ v[2];
  v[2] = std::rotl(v[2], 32);
}

} // namespace

uint64_t checksumBytes(const void *data, size_t bytes, uint64_t seed) {
  const auto *at = static_cast<const unsigned char *>(data);
  size_t left = bytes;
  uint64_t lanes[4] = {seed ^ kSecret[0], seed ^ kSecret[1], seed ^ kSecret[2], seed ^ kSecret[3]};
  while (left >= 64) {
    for (int lane = 0; lane < 4; ++lane) {
      lanes[lane] =
          fold(load64(at + 16 * lane) ^ kSecret[lane], load64(at + 16 * lane + 8) ^ lanes[lane]);
    }
    at += 64;
    left -= 64;
  }
  uint64_t hash =
      fold(fold(lanes[0], lanes[1] ^ kSecret[4]), fold(lanes[2], lanes[3] ^ kSecret[4]));
  while (left >= 8) {
    hash = fold(load64(at) ^ kSecret[0], hash ^ kSecret[1]);
    at += 8;
    left -= 8;
  }
  uint64_t rest = 0;
  if (left > 0) {
    std::memcpy(&rest, at, left);
  }
  hash = fold(rest ^ kSecret[2], hash ^ kSecret[3]);
  return fold(hash ^ static_cast<uint64_t>(bytes), kSecret[4]);
}

std::string ContentKey::hex() const {
  char text[33];
  std::snprintf(text, sizeof(text), "%016llx%016llx", static_cast<unsigned long long>(high),
                static_cast<unsigned long long>(low));
  return text;
}

ContentHasher::ContentHasher() {
  // The key is fixed: a cache must find tomorrow what it wrote today.
  constexpr uint64_t kKey[2] = {0x6865616472616365, 0x636f6e74656e7401};
  state_ = {kKey[0] ^ 0x736f6d6570736575, kKey[1] ^ 0x646f72616e646f6d ^ 0xee,
            kKey[0] ^ 0x6c7967656e657261, kKey[1] ^ 0x7465646279746573};
  add(static_cast<uint64_t>(kVersion));
}

void ContentHasher::mix(uint64_t word) {
  state_[3] ^= word;
  sipRound(state_);
  sipRound(state_);
  state_[0] ^= word;
}

void ContentHasher::append(const void *data, size_t bytes) {
  const auto *at = static_cast<const unsigned char *>(data);
  for (size_t index = 0; index < bytes;) {
    size_t used = length_ % 8;
    if (used == 0 && bytes - index >= 8) {
      mix(load64(at + index));
      index += 8;
      length_ += 8;
      continue;
    }
    tail_ |= static_cast<uint64_t>(at[index]) << (8 * used);
    ++index;
    ++length_;
    if (used == 7) {
      mix(tail_);
      tail_ = 0;
    }
  }
}

ContentHasher &ContentHasher::add(std::span<const std::byte> field) {
  uint64_t length = field.size();
  append(&length, sizeof(length));
  append(field.data(), field.size());
  return *this;
}

ContentHasher &ContentHasher::add(std::string_view field) {
  return add(std::as_bytes(std::span(field.data(), field.size())));
}

ContentHasher &ContentHasher::add(uint64_t field) {
  return add(std::as_bytes(std::span(&field, 1)));
}

ContentKey ContentHasher::key() const {
  ContentHasher last = *this;
  last.mix(tail_ | (length_ << 56));
  last.state_[2] ^= 0xee;
  ContentKey key;
  for (int round = 0; round < 4; ++round) {
    sipRound(last.state_);
  }
  key.low = last.state_[0] ^ last.state_[1] ^ last.state_[2] ^ last.state_[3];
  last.state_[1] ^= 0xdd;
  for (int round = 0; round < 4; ++round) {
    sipRound(last.state_);
  }
  key.high = last.state_[0] ^ last.state_[1] ^ last.state_[2] ^ last.state_[3];
  return key;
}

} // namespace headrace
