// The folder of compiled kernels, keyed by content: made for this user alone, and read only if it
// is.
#pragma once

#include "passes/lower/machine/kernel_objects.h"

#include <string>

namespace headrace::driver {

/// A cache in the folder, which is made if it is not there; without entries if the folder is not
/// this user's alone. An entry carries its length and digest: one that was damaged is not found.
lower::ObjectCache objectCache(const std::string &folder);

} // namespace headrace::driver
