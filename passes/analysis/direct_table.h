// When a join table's directory is an array over the keys instead of a hash table: told by `form`,
// and expected by the costs of `shard`.
#pragma once

#include <cstdint>
#include <optional>

namespace headrace::analysis {

/// The entries of a directory over the keys' range [low, high] of a table of about `rows` rows in
/// which `probes` rows are looked up; nothing if the one by hash costs less: all of a directory is
/// cleared, in memory that may be new to the process, and an entry costs about what finding a row
/// by hash costs more.
inline std::optional<uint64_t> directExtent(__int128 low, __int128 high, double rows,
                                            double probes) {
  constexpr __int128 kExtentMax = __int128(1) << 27;
  __int128 extent = high - low + 1;
  bool dense =
      extent > 0 && extent <= kExtentMax && static_cast<double>(extent) <= rows * 8 + probes + 1024;
  return dense ? std::optional(static_cast<uint64_t>(extent)) : std::nullopt;
}

} // namespace headrace::analysis
