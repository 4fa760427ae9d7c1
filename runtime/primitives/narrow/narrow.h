// Conversion of stored integers to the narrower type that a plan promised to its kernels, with
// their range.
#pragma once

#include "runtime/abi/kernel.h"
#include "runtime/primitives/isa.h"

#include <cstdint>

namespace headrace::primitives {

/// How the integers are stored; no alignment needed.
enum class StoredInteger : uint8_t { kI32, kU32, kI64 };

/// Smallest and largest of the values; min > max if there are none.
struct IntegerRange {
  int64_t min = INT64_MAX;
  int64_t max = INT64_MIN;
};

/// Writes `count` values as `target` (HR_I8 .. HR_I64), cut to its width: the caller looks at the
/// returned range before anybody reads them.
IntegerRange narrowIntegers(Isa isa, StoredInteger stored, const void *values, uint64_t count,
                            HrType target, void *out);

} // namespace headrace::primitives
