// Which keys ranks have where they are to have unequal parts of them: a slow one fewer.
#pragma once

#include "runtime/primitives/hash/hash.h"

#include <cstdint>
#include <vector>

namespace headrace::exec {

/// Purpose: the rank of a key by its place on the line of keys alone, so that all kernels, scans
/// and exchanges of a run agree. Immutable, thread-safe.
class KeyShares {
public:
  /// Equal ones, as rankOfHash has them.
  explicit KeyShares(uint32_t ranks) : ranks_(ranks) {}
  /// The parts of the keys that ranks are to have, by rank, in any unit: each from 1 to kPartMax.
  explicit KeyShares(const std::vector<uint32_t> &parts);
  static constexpr uint32_t kPartMax = 1024;

  uint32_t ranks() const { return ranks_; }
  bool areEqual() const { return bounds_.empty(); }
  /// Where the rank's keys are.
  primitives::KeyInterval placesOf(uint32_t rank) const {
    return areEqual() ? primitives::equalInterval(rank, ranks_)
                      : primitives::KeyInterval{bounds_[rank], bounds_[rank + 1] - bounds_[rank]};
  }
  uint32_t rankOf(uint64_t hash) const;
  /// What a rank is to have, against the mean rank.
  double against(uint32_t rank) const {
    return static_cast<double>(placesOf(rank).count) * ranks_ / primitives::kKeyPlaces;
  }
  /// As kernels take them: by rank the first of its places, and their end; null: they are equal.
  const uint64_t *bounds() const { return areEqual() ? nullptr : bounds_.data(); }

private:
  const uint32_t ranks_;
  std::vector<uint64_t> bounds_;
};

} // namespace headrace::exec
