// How sorts that keep the first rows only find them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace headrace::plan {

/// A worker leaves out the rows that are not the first ones when it has so many.
inline uint64_t rowsBeforeFirst(uint64_t limit) {
  constexpr uint64_t kFactor = 4, kRowsMin = 8192;
  // A limit may be as large as a number can be.
  return limit > UINT64_MAX / kFactor ? UINT64_MAX : std::max(limit * kFactor, kRowsMin);
}

/// How many of so many rows in any order come before the last of the first ones known until then:
/// between two times that rows are left out, as often as there are times as many rows more.
inline double rowsWithinBound(double rows, uint64_t limit) {
  const auto most = static_cast<double>(rowsBeforeFirst(limit));
  if (rows <= most) {
    return rows;
  }
  return most * (1 + std::log(rows / most) / std::log(most / static_cast<double>(limit)));
}

} // namespace headrace::plan
