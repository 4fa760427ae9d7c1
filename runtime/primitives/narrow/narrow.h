// Conversion of stored integers to the narrower type that a plan promised to its kernels, with
// their range.
#pragma once

#include "runtime/abi/kernel.h"
#include "runtime/primitives/dispatch/isa.h"
#include "runtime/primitives/narrow/stored_integer.h"

#include <cstdint>

namespace headrace::primitives {

/// Writes `count` values as `target` (HR_I8 .. HR_I64), cut to its width: the caller looks at the
/// returned range before anybody reads them.
IntegerRange narrowIntegers(Isa isa, StoredInteger stored, const void *values, uint64_t count,
                            HrType target, void *out);

} // namespace headrace::primitives
