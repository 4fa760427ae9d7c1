// Integers as files and Arrow store them, and the range of many.
#pragma once

#include <cstdint>

namespace headrace::primitives {

/// How the integers are stored; no alignment needed.
enum class StoredInteger : uint8_t { kI32, kU32, kI64 };

/// Smallest and largest of the values; min > max if there are none.
struct IntegerRange {
  int64_t min = INT64_MAX;
  int64_t max = INT64_MIN;
};

} // namespace headrace::primitives
