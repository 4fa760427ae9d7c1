// Whether two sets of rows are the same, and where not.
#pragma once

#include "tools/headrace-gpu/case_file.h"

namespace headrace::gpu {

/// Empty if they are the same in any order, floats within `tolerance` (relative, or of the largest
/// number of the column where sums cancel); else the first difference.
std::string differenceOf(std::vector<Json> found, std::vector<Json> expected, double tolerance);

/// The integer of a text, times `factor`, as a text: sums over rows that are there so many times.
Json timesInteger(const Json &value, uint64_t factor);

} // namespace headrace::gpu
