// Aggregates whose keys are few small numbers: foreseen by the compiler, and met when it makes
// kernels.
#pragma once

#include <cstdint>

namespace headrace::plan {

/// Combinations of keys up to which a morsel has an array of groups: half of a first-level cache.
inline constexpr int64_t kCodedGroupsMax = 2048;

} // namespace headrace::plan
