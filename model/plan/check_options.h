// What the checker of plans is told of the machine.
#pragma once

#include "runtime/base/tier.h"

#include <cstdint>
#include <map>

namespace headrace::plan {

/// What the machine offers. A tier that is not listed is not checked.
struct CheckOptions {
  std::map<Tier, uint64_t> tierBytes; ///< capacity of each tier on one rank
};

} // namespace headrace::plan
