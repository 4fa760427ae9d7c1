// When a join table's directory goes by an integer key instead of by hash: told by `form`, and
// expected by the costs of `shard`.
#pragma once

#include "model/plan/plan.h"

#include <cstdint>

namespace headrace::analysis {

struct KeyDirectory {
  plan::Directory kind = plan::Directory::kHash;
  uint64_t extent = 0; ///< how many keys the range has; 0 by hash
};

/// For keys of [low, high] in a table of about `rows` rows, in which `probes` rows are looked up.
/// An array costs least where most keys are there. Ranks take two bits for each key of the range,
/// to be cleared and counted, in memory that may be new to the process. By hash, a row costs a few
/// nanoseconds more.
inline KeyDirectory keyDirectory(__int128 low, __int128 high, double rows, double probes) {
  constexpr __int128 kExtentMax = __int128(1) << 28;
  __int128 extent = 0;
  if (__builtin_sub_overflow(high, low, &extent) || ++extent <= 0 || extent > kExtentMax) {
    return {};
  }
  const auto keys = static_cast<double>(extent);
  if (keys <= rows * 2 + 1024) {
    return {plan::Directory::kArray, static_cast<uint64_t>(extent)};
  }
  if (keys <= rows * 32 + probes * 4) {
    return {plan::Directory::kRanks, static_cast<uint64_t>(extent)};
  }
  return {};
}

} // namespace headrace::analysis
