// The hash of a logical value: one formula for generated code, the runtime and every rank.
// The compiler emits hashInteger, hashDouble and hashCombine inline; keep the two in step and raise
// kHashVersion when a formula changes (a plan compiled with another version is refused).
#pragma once

#include <bit>
#include <cstdint>

namespace headrace::primitives {

inline constexpr int kHashVersion = 1;

inline constexpr uint64_t kHashMultiplier1 = 0x9e3779b97f4a7c15ull;
inline constexpr uint64_t kHashMultiplier2 = 0xd6e8feb86659fd93ull;
/// What a NULL of any type hashes to.
inline constexpr uint64_t kNullHash = 0x7b1a4bd1c5a7e39full;

/// Integers, dates, bools (0, 1) and decimals whose scaled value fits 64 bits, sign-extended.
/// Two multiplications and three shifts: every input bit reaches the low and the high bits.
constexpr uint64_t hashInteger(int64_t value) {
  uint64_t hash = static_cast<uint64_t>(value);
  hash ^= hash >> 32;
  hash *= kHashMultiplier1;
  hash ^= hash >> 29;
  hash *= kHashMultiplier2;
  hash ^= hash >> 32;
  return hash;
}

/// Joins the hash of the next key column to that of the ones before it. Not commutative.
constexpr uint64_t hashCombine(uint64_t hash, uint64_t next) {
  uint64_t mixed = (std::rotl(hash, 5) ^ next) * kHashMultiplier1;
  return mixed ^ (mixed >> 32);
}

/// Decimals in 128 bits. Equal to hashInteger where the value fits 64 bits, so that both sides of a
/// join agree whatever width each was narrowed to.
constexpr uint64_t hashInteger128(__int128 value) {
  int64_t low = static_cast<int64_t>(value);
  if (static_cast<__int128>(low) == value) {
    return hashInteger(low);
  }
  return hashCombine(hashInteger(static_cast<int64_t>(value >> 64)), hashInteger(low));
}

/// Doubles, and floats widened to double. -0 hashes as +0; all NaNs hash alike.
constexpr uint64_t hashDouble(double value) {
  if (value == 0) {
    value = 0;
  }
  uint64_t bits = value != value ? 0x7ff8000000000000ull : std::bit_cast<uint64_t>(value);
  return hashInteger(static_cast<int64_t>(bits));
}

/// The rank (0..size-1) that owns a key. Taken from bits 16..47: group tables use the low bits and
/// the high 16, join tables the high bits, so the rows of one rank still spread over its whole
/// directory.
constexpr uint32_t rankOfHash(uint64_t hash, uint32_t size) {
  return static_cast<uint32_t>((((hash >> 16) & 0xffffffffull) * size) >> 32);
}

/// Where neighbouring keys are to be on one rank, their position in a cycle of keys (at least one)
/// names it: a cycle goes once round the ranks, each of which has an equal stretch of it. The
/// position is a fraction of 2^64.
constexpr uint64_t scaleOfCycle(int64_t cycle) {
  return ~uint64_t{0} / static_cast<uint64_t>(cycle);
}
constexpr uint64_t positionInCycle(int64_t key, uint64_t scale) {
  return static_cast<uint64_t>(key) * scale;
}
constexpr uint32_t rankInCycle(int64_t key, uint64_t scale, uint32_t size) {
  return rankOfHash(positionInCycle(key, scale) >> 16, size);
}

/// Where among the keys of its rank a key is, as a fraction of 2^32.
constexpr uint64_t placeWithinRank(uint64_t hash, uint32_t size) {
  return (((hash >> 16) & 0xffffffffull) * size) & 0xffffffffull;
}

inline constexpr uint64_t kPartMixer = 0x9e3779b1;

/// The part (0..parts-1) of a key where the rows of a rank are kept in parts: the bits that chose
/// the rank, mixed anew, so that those of one rank spread over all parts.
constexpr uint32_t partOfHash(uint64_t hash, uint32_t parts) {
  const uint64_t mixed = ((hash >> 16) * kPartMixer) & 0xffffffffull;
  return static_cast<uint32_t>((mixed * parts) >> 32);
}

/// Strings: hr_string_hash in string/hash.cpp. Those of at most four bytes hash as the integer that
/// their length (low half) and zero-filled prefix (high half) make, which generated code computes
/// itself.

} // namespace headrace::primitives
