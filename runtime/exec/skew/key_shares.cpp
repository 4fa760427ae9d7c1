// The line of keys, cut in proportion.
#include "runtime/exec/skew/key_shares.h"

#include "runtime/base/check.h"

#include <algorithm>
#include <numeric>

namespace headrace::exec {

KeyShares::KeyShares(const std::vector<uint32_t> &parts)
    : ranks_(static_cast<uint32_t>(parts.size())) {
  HR_CHECK(std::ranges::all_of(parts, [](uint32_t part) { return part >= 1 && part <= kPartMax; }));
  if (std::ranges::all_of(parts, [&](uint32_t part) { return part == parts.front(); })) {
    return;
  }
  const uint64_t all = std::accumulate(parts.begin(), parts.end(), uint64_t{0});
  uint64_t before = 0;
  for (uint32_t part : parts) {
    bounds_.push_back((before * primitives::kKeyPlaces + all - 1) / all);
    before += part;
  }
  bounds_.push_back(primitives::kKeyPlaces);
}

uint32_t KeyShares::rankOf(uint64_t hash) const {
  return areEqual() ? primitives::rankOfHash(hash, ranks_)
                    : primitives::rankOfHash(hash, bounds_.data(), ranks_);
}

} // namespace headrace::exec
