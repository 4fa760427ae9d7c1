// When a join table's directory is an array over the keys instead of a hash table: told by `form`,
// and expected by the costs of `shard`.
#pragma once

#include <cstdint>
#include <optional>

namespace headrace::analysis {

/// The entries of a directory over the keys' range [low, high] of a table of at most `rowsMax`
/// rows; nothing if that would be much larger than the one by hash.
inline std::optional<uint64_t> directExtent(__int128 low, __int128 high, uint64_t rowsMax) {
  constexpr __int128 kExtentMax = __int128(1) << 27;
  __int128 extent = high - low + 1;
  bool dense =
      extent > 0 && extent <= kExtentMax && extent <= static_cast<__int128>(rowsMax) * 8 + 1024;
  return dense ? std::optional(static_cast<uint64_t>(extent)) : std::nullopt;
}

} // namespace headrace::analysis
