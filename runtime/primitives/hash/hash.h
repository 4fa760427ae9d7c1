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

/// Keys lie on a line of so many places, of which the ranks, in their order, have an interval each.
inline constexpr uint64_t kKeyPlaces = uint64_t{1} << 32;

/// Bits 16..47: group tables use the low bits and the high 16, join tables the high bits, so the
/// rows of one rank still spread over its whole directory.
constexpr uint64_t placeOfHash(uint64_t hash) { return (hash >> 16) & (kKeyPlaces - 1); }

/// The rank (0..size-1) that owns a key, where all have equal intervals.
constexpr uint32_t rankOfHash(uint64_t hash, uint32_t size) {
  return static_cast<uint32_t>((placeOfHash(hash) * size) >> 32);
}

struct KeyInterval {
  uint64_t first = 0; ///< place
  uint64_t count = kKeyPlaces;

  constexpr bool has(uint64_t place) const { return place - first < count; }
  bool operator==(const KeyInterval &) const = default;
};

/// The places that rankOfHash gives to a rank.
constexpr KeyInterval equalInterval(uint64_t rank, uint64_t size) {
  auto first = [&](uint64_t of) { return (of * kKeyPlaces + size - 1) / size; };
  return {first(rank), first(rank + 1) - first(rank)};
}

/// The same where the places of rank r are bounds[r] to bounds[r + 1] - 1.
constexpr uint32_t rankOfHash(uint64_t hash, const uint64_t *bounds, uint32_t size) {
  const uint64_t place = placeOfHash(hash);
  uint32_t rank = 0;
  for (uint32_t ranks = size; ranks > 1;) { // it is one of so many from `rank` on
    const uint32_t half = ranks / 2;
    rank += bounds[rank + half] <= place ? half : 0;
    ranks -= half;
  }
  return rank;
}

/// Where neighbouring keys are to be on one rank, their position in a cycle of keys (at least one)
/// names it: a cycle goes once round the ranks, each of which has an equal stretch of it. The
/// position is a fraction of 2^64, whose upper half is the key's place on the line.
constexpr uint64_t scaleOfCycle(int64_t cycle) {
  return ~uint64_t{0} / static_cast<uint64_t>(cycle);
}
constexpr uint64_t positionInCycle(int64_t key, uint64_t scale) {
  return static_cast<uint64_t>(key) * scale;
}
constexpr uint64_t placeInCycle(int64_t key, uint64_t scale) {
  return positionInCycle(key, scale) >> 32;
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
