// Parameters of the kernels that figures are measured with.
#pragma once

#include <cstdint>

namespace headrace::gpu {

struct CopyParameters {
  const void *source;
  void *target;
  uint64_t vectors; ///< of 16 bytes
};

} // namespace headrace::gpu
