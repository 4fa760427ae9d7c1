// The line of hashes is cut as the kernels cut it; what ranks give up of their intervals goes, in
// order, to those that are to have more.
#include "runtime/exec/skew/key_shares.h"

#include "runtime/base/check.h"
#include "runtime/primitives/hash/hash.h"

#include <algorithm>
#include <numeric>

namespace headrace::exec {
namespace {

constexpr uint64_t kWhole = uint64_t{1} << 32; ///< of a rank's interval

} // namespace

KeyShares::KeyShares(const std::vector<uint32_t> &parts)
    : ranks_(static_cast<uint32_t>(parts.size())), pieces_(parts.size()) {
  // Times the number of ranks, so that an equal part is whole.
  const uint64_t equal = std::accumulate(parts.begin(), parts.end(), uint64_t{0});
  auto wanted = [&](size_t rank) { return parts[rank] * uint64_t{ranks_}; };
  size_t taker = 0;
  uint64_t taken = 0; // by the taker
  for (uint32_t rank = 0; rank < ranks_; ++rank) {
    HR_CHECK(parts[rank] >= 1 && parts[rank] <= kPartMax);
    against_.push_back(static_cast<double>(wanted(rank)) / static_cast<double>(equal));
    uint64_t placed = std::min(wanted(rank), equal);
    pieces_[rank].push_back({placed * kWhole / equal, rank});
    while (placed < equal) {
      const uint64_t room = wanted(taker) > equal ? wanted(taker) - equal - taken : 0;
      if (room == 0) {
        ++taker;
        taken = 0;
        continue;
      }
      const uint64_t moved = std::min(room, equal - placed);
      taken += moved;
      placed += moved;
      pieces_[rank].push_back({placed * kWhole / equal, static_cast<uint32_t>(taker)});
    }
  }
}

uint32_t KeyShares::rankOf(uint64_t hash) const {
  const uint32_t named = primitives::rankOfHash(hash, ranks_);
  if (!gives(named)) {
    return named;
  }
  const uint64_t position = primitives::placeWithinRank(hash, ranks_);
  return std::ranges::find_if(pieces_[named],
                              [&](const Piece &piece) { return position < piece.end; })
      ->rank;
}

} // namespace headrace::exec
