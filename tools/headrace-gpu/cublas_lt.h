// CublasLt: a product of matrices by NVIDIA's library, found at run time, to measure ours against.
#pragma once

#include <cstdint>

#include "runtime/base/status.h"

namespace headrace::gpu {

/// Purpose: cuBLASLt's handle and workspace-free products. Needs a current context in the calling
/// thread. Ownership: owns the handle. Thread-safety: none.
class CublasLt {
public:
  /// kUnsupported where the library is not found.
  static Expected<CublasLt> open();
  CublasLt(CublasLt &&other) noexcept;
  CublasLt &operator=(CublasLt &&) = delete;
  ~CublasLt();

  /// out = a · b of n × n floats, all row by row, submitted to the default stream. In 32-bit
  /// floats.
  Status product(uint64_t a, uint64_t b, uint64_t out, int64_t n);

private:
  struct Calls;
  explicit CublasLt(const Calls &calls) : calls_(&calls) {}
  const Calls *calls_;
  void *handle_ = nullptr;
};

} // namespace headrace::gpu
