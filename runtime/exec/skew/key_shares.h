// The ranks of keys where ranks are to have unequal parts of them: a slow one gives some of its own
// to others.
#pragma once

#include <cstdint>
#include <vector>

namespace headrace::exec {

/// Purpose: where the rows of a key go, by its hash alone, so that all ranks and exchanges of a run
/// agree. Immutable, thread-safe.
class KeyShares {
public:
  /// Equal ones.
  explicit KeyShares(uint32_t ranks) : ranks_(ranks) {}
  /// The parts of the keys that ranks are to have, by rank, in any unit: each from 1 to kPartMax.
  explicit KeyShares(const std::vector<uint32_t> &parts);
  static constexpr uint32_t kPartMax = 1024;

  uint32_t ranks() const { return ranks_; }
  /// Of what hashes to this rank, some goes to others.
  bool gives(uint32_t rank) const { return !pieces_.empty() && pieces_[rank].size() > 1; }
  uint32_t rankOf(uint64_t hash) const;
  /// What a rank is to have, against the mean rank.
  double against(uint32_t rank) const { return against_.empty() ? 1 : against_[rank]; }

private:
  const uint32_t ranks_;
  struct Piece {
    uint64_t end = 0; ///< a rank's keys before this position, of 2^32, that the pieces before leave
    uint32_t rank = 0;
  };
  /// By the rank that the hash names, which keeps the first; empty: each keeps all.
  std::vector<std::vector<Piece>> pieces_;
  std::vector<double> against_;
};

} // namespace headrace::exec
