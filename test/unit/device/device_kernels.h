// Parameters of the kernels that the tests of devices launch.
#pragma once

#include <cstdint>

struct AddParameters {
  const int64_t *source;
  int64_t *target;
  uint64_t count;
  int64_t addend;
};
