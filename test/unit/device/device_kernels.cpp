// Kernels that the tests of devices launch, as PTX and for the emulation.
#include "test/unit/device/device_kernels.h"

#include "runtime/abi/hand_kernel.h"

HR_HAND_KERNEL(add, AddParameters, 256) {
  for (uint64_t i = place.first(); i < parameters.count; i += place.stride()) {
    parameters.target[i] = parameters.source[i] + parameters.addend;
  }
}

HR_HAND_KERNEL(stop, AddParameters, 32) { __builtin_trap(); }
