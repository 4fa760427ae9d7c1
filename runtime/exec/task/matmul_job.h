// Matrix products by the BLAS, cut into tiles of rows for the workers.
#pragma once

#include "runtime/exec/task/tensor_buffer.h"
#include "runtime/exec/work/phased_job.h"

namespace headrace::exec {

/// Whether the operands lie in memory as their transpose.
struct MatmulOperands {
  const TensorBuffer *left = nullptr;  ///< (batch… x) m… x k: all of m… are rows
  const TensorBuffer *right = nullptr; ///< (batch… x) k x n
  TensorBuffer *product = nullptr;     ///< (batch… x) m… x n; zero at the start
  bool leftTransposed = false;         ///< then there is one m
  bool rightTransposed = false;
  size_t batch = 0; ///< dimensions in front of the matrices
};

/// The phase that computes `product` on at most `lanes` workers. Errors: kInternal if the local
/// extents do not fit together, kUnsupported beyond what the library's integers hold. The buffers
/// outlive the phase.
Expected<JobPhase> matmulPhase(const MatmulOperands &operands, size_t lanes);

} // namespace headrace::exec
