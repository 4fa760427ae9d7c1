// Random: small seeded generator for simulations and random tests; the same numbers on every
// machine.
#pragma once

#include <cstdint>

namespace headrace {

/// SplitMix64 (Steele, Lea, Flood, 2014). A plain value; not thread-safe; not for secrets.
class Random {
public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t word = (state_ += 0x9e3779b97f4a7c15);
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
    word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
    return word ^ (word >> 31);
  }
  /// Uniform over [0, bound); bound at least 1.
  uint64_t below(uint64_t bound) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
  }
  /// Uniform over [least, most].
  int64_t between(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(below(static_cast<uint64_t>(most - least) + 1));
  }
  bool chance(double probability) {
    return static_cast<double>(next() >> 11) * 0x1p-53 < probability;
  }

private:
  uint64_t state_;
};

} // namespace headrace
