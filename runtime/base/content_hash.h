// Content hashes: 128 bits for cache keys, 64 bits for checksums of messages.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace headrace {

/// 64 bits of any bytes, at memory speed: a checksum against accidents, not against an adversary.
/// The value depends on the version below and on little-endian order, not on the machine otherwise.
uint64_t checksumBytes(const void *data, size_t bytes, uint64_t seed = 0);

/// A key of the content-addressed caches.
struct ContentKey {
  uint64_t high = 0;
  uint64_t low = 0;
  auto operator<=>(const ContentKey &) const = default;
  /// 32 lower-case hexadecimal digits, usable as a file name.
  std::string hex() const;
};

/// Purpose: builds a ContentKey from fields. Every field is preceded by its length, so that
/// ("ab", "c") and ("a", "bc") differ. SipHash-2-4 with 128 bits of output and a fixed key: far
/// apart for any two inputs met in practice; a cache that others can write to needs a signature
/// besides. Ownership: copies nothing beyond 8 bytes. Thread-safety: none. Ordering: fields in call
/// order.
class ContentHasher {
public:
  /// Changes whenever the function or the framing of fields does; part of every key.
  static constexpr uint32_t kVersion = 1;

  ContentHasher();
  ContentHasher &add(std::string_view field);
  ContentHasher &add(std::span<const std::byte> field);
  ContentHasher &add(uint64_t field);
  /// The key of all fields so far; more may follow.
  ContentKey key() const;

private:
  void append(const void *data, size_t bytes);
  void mix(uint64_t word);

  std::array<uint64_t, 4> state_;
  uint64_t tail_ = 0;
  uint64_t length_ = 0;
};

} // namespace headrace
