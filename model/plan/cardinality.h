// How many rows or bytes the compiler expects.
#pragma once

#include <cstdint>

namespace headrace::plan {

/// An estimate of a number of rows or bytes. `max` is a hard bound if the data is as described.
struct Cardinality {
  uint64_t min = 0;
  uint64_t expected = 0;
  uint64_t p95 = 0;
  uint64_t max = UINT64_MAX;
};

} // namespace headrace::plan
