// Splitting the morsels of a slot over ranks.
#pragma once

#include "runtime/storage/source.h"

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

/// The pieces (with so many rows each) that are a rank's. Each is told where it begins within them;
/// `total` becomes the rows of all.
template <typename Piece>
std::vector<Piece> takeShare(std::vector<Piece> all, const std::vector<uint64_t> &rows, Share share,
                             uint64_t &total) {
  const auto [first, last] = shareOf(rows, share);
  std::vector<Piece> taken;
  taken.reserve(last - first);
  total = 0;
  for (size_t i = first; i < last; ++i) {
    all[i].firstRow = total;
    total += rows[i];
    taken.push_back(std::move(all[i]));
  }
  return taken;
}

} // namespace headrace::storage
