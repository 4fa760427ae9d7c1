// Splitting the morsels of a slot over ranks.
#pragma once

#include "runtime/storage/columns/source.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace headrace::storage {

/// The morsels [first, second) of a rank: contiguous, every morsel on exactly one rank, balanced by
/// rows. A morsel goes to the rank in whose equal part of all rows its middle row lies. A function
/// of its arguments only.
inline std::pair<size_t, size_t> shareOf(const std::vector<uint64_t> &rows, Share share) {
  uint64_t total = 0;
  for (uint64_t count : rows) {
    total += count;
  }
  auto rankOf = [&](uint64_t before, uint64_t count) -> uint64_t {
    if (total == 0) {
      return 0;
    }
    // (2 * before + count) / 2 is the middle; in 128 bits, for tables of any size.
    unsigned __int128 middle = (static_cast<unsigned __int128>(before) * 2 + count) * share.size;
    uint64_t rank = static_cast<uint64_t>(middle / (static_cast<unsigned __int128>(total) * 2));
    return rank < share.size ? rank : share.size - 1;
  };
  size_t first = 0;
  uint64_t before = 0;
  while (first < rows.size() && rankOf(before, rows[first]) < share.rank) {
    before += rows[first++];
  }
  size_t last = first;
  while (last < rows.size() && rankOf(before, rows[last]) == share.rank) {
    before += rows[last++];
  }
  return {first, last};
}

/// Keeps the pieces (with so many rows each) that a source with this share has, and tells each
/// where it begins within them; `total` becomes their rows. Gives those of the share among them.
template <typename Piece>
MorselRange takeShare(std::vector<Piece> &pieces, const std::vector<uint64_t> &rows, Share share,
                      uint64_t &total) {
  auto [first, last] = shareOf(rows, share);
  const MorselRange own{first, last};
  if (share.reach == Reach::kAll) {
    first = 0;
    last = pieces.size();
  }
  pieces.erase(pieces.begin() + static_cast<ptrdiff_t>(last), pieces.end());
  pieces.erase(pieces.begin(), pieces.begin() + static_cast<ptrdiff_t>(first));
  total = 0;
  for (size_t i = first; i < last; ++i) {
    pieces[i - first].firstRow = total;
    total += rows[i];
  }
  return {own.first - first, own.end - first};
}

} // namespace headrace::storage
