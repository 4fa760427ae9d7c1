// The devices that are emulated, and in which order what they are told happens.
#pragma once

#include <cstdint>

namespace headrace::emulated {

struct EmulationOptions {
  uint64_t seed = 1;
  int64_t memoryBytes = 64 << 20; ///< of each device
  int devices = 1;
};

} // namespace headrace::emulated
