// Kernels that figures are measured with: a copy that does nothing else, and one that does nothing.
#include "tools/headrace-gpu/figure_kernels.h"

#include "runtime/abi/hand_kernel.h"

using headrace::gpu::CopyParameters;

namespace {
typedef float Vector __attribute__((vector_size(16)));
#ifdef __NVPTX__
using Source = const Vector __attribute__((address_space(1)));
using Target = Vector __attribute__((address_space(1)));
#else
using Source = const Vector;
using Target = Vector;
#endif
} // namespace

HR_HAND_KERNEL(copy, CopyParameters, 1024) {
  constexpr uint64_t kTogether = 4; // loads under way before the first is stored
  auto *source = (Source *)parameters.source;
  auto *target = (Target *)parameters.target;
  const uint64_t count = parameters.vectors, stride = place.stride();
  uint64_t i = place.first();
  for (; i + (kTogether - 1) * stride < count; i += kTogether * stride) {
    Vector a = source[i], b = source[i + stride], c = source[i + 2 * stride],
           d = source[i + 3 * stride];
    target[i] = a;
    target[i + stride] = b;
    target[i + 2 * stride] = c;
    target[i + 3 * stride] = d;
  }
  for (; i < count; i += stride) {
    target[i] = source[i];
  }
}

HR_HAND_KERNEL(nothing, CopyParameters, 1024) {}
