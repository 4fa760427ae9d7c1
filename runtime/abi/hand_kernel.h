// A kernel for threads written by hand: one source, compiled to PTX with clang's nvptx target and
// for the emulation with the host's. It has one superstep and no shared memory.
#pragma once

#include "runtime/abi/device_kernel.h"

namespace headrace::abi {

/// Which thread of a launch this is.
struct ThreadPlace {
  uint32_t thread, threads, block, blocks;
  uint64_t first() const { return uint64_t(block) * threads + thread; }
  uint64_t stride() const { return uint64_t(blocks) * threads; }
};

} // namespace headrace::abi

/// HR_HAND_KERNEL(name, Parameters, threadsMax) { … }: the body sees `parameters`, which
/// HrArgs.literals points to, `place`, and the launch's `device`.
#ifdef __NVPTX__
#define HR_HAND_KERNEL(name, Parameters, limit)                                                    \
  static void name##Thread(const Parameters &parameters, headrace::abi::ThreadPlace place,         \
                           HrDevice *device);                                                      \
  extern "C" __attribute__((nvptx_kernel)) void name(const HrArgs *args, HrDevice *device) {       \
    name##Thread(*static_cast<const Parameters *>(args->literals),                                 \
                 {static_cast<uint32_t>(__nvvm_read_ptx_sreg_tid_x()),                             \
                  static_cast<uint32_t>(__nvvm_read_ptx_sreg_ntid_x()),                            \
                  static_cast<uint32_t>(__nvvm_read_ptx_sreg_ctaid_x()),                           \
                  static_cast<uint32_t>(__nvvm_read_ptx_sreg_nctaid_x())},                         \
                 device);                                                                          \
  }                                                                                                \
  static void name##Thread(const Parameters &parameters, headrace::abi::ThreadPlace place,         \
                           HrDevice *device)
#else
#define HR_HAND_KERNEL(name, Parameters, limit)                                                    \
  static void name##Thread(const Parameters &parameters, headrace::abi::ThreadPlace place,         \
                           HrDevice *device);                                                      \
  extern "C" {                                                                                     \
  extern const HrEmulatedShape name##Shape __asm__(#name ".shape")                                 \
      __attribute__((visibility("default")));                                                      \
  const HrEmulatedShape name##Shape = {1, 0, limit};                                               \
  __attribute__((visibility("default"))) void name(const HrArgs *args, HrDevice *device, void *,   \
                                                   uint32_t, uint32_t block, uint32_t blocks,      \
                                                   uint32_t first, uint32_t last,                  \
                                                   uint32_t threads) {                             \
    for (uint32_t thread = first; thread < last; ++thread) {                                       \
      name##Thread(*static_cast<const Parameters *>(args->literals),                               \
                   {thread, threads, block, blocks}, device);                                      \
    }                                                                                              \
  }                                                                                                \
  }                                                                                                \
  static void name##Thread(const Parameters &parameters, headrace::abi::ThreadPlace place,         \
                           HrDevice *device)
#endif
