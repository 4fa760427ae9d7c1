// Boxes of elements from tensors into another, cut into morsels for the workers.
#pragma once

#include "runtime/exec/task/tensor_buffer.h"
#include "runtime/exec/work/phased_job.h"

namespace headrace::exec {

/// Elements at all positions of the dimensions, the last one the fastest.
struct BoxCopy {
  struct Dimension {
    int64_t extent = 0;
    int64_t fromStride = 0; ///< bytes, also negative
    int64_t toStride = 0;
  };
  const uint8_t *from = nullptr;
  uint8_t *to = nullptr;
  int64_t width = 0; ///< bytes of an element: 4 or 8
  std::vector<Dimension> dimensions;
};

/// All elements, in their order.
BoxCopy wholeBox(const TensorBuffer &from, const TensorBuffer &to);
/// What `to` has of the elements that offsets, sizes and strides of the whole tensors take: the
/// parameters of a slice that the checks of plans have let through.
BoxCopy sliceBox(const TensorBuffer &from, const TensorBuffer &to,
                 const std::vector<int64_t> &numbers);
/// Into `to` from element `offset` of the dimension on.
BoxCopy concatBox(const TensorBuffer &from, const TensorBuffer &to, size_t dimension,
                  int64_t offset);

/// The phase that copies the boxes; their memory outlives it, and their targets do not overlap.
JobPhase copyPhase(std::vector<BoxCopy> boxes);

} // namespace headrace::exec
