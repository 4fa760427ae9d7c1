// What a tensor.extract_slice takes of each dimension of its source, where the program says it.
#ifndef HEADRACE_DIALECTS_INTERFACES_TENSORSLICE_H
#define HEADRACE_DIALECTS_INTERFACES_TENSORSLICE_H

#include "runtime/base/strided_range.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <optional>

namespace headrace {

struct SlicedDimension {
  StridedRange elements; ///< of size kDynamic where the extent is known only at run time
  bool whole = false;
  std::optional<int64_t> result; ///< the dimension of the result, unless that lacks it
};

/// Of each dimension of the source; nothing if a number is known only at run time that is not the
/// size of a dimension of the source, taken whole.
std::optional<llvm::SmallVector<SlicedDimension>> slicedDimensions(mlir::tensor::ExtractSliceOp op);

/// Sizes of dimensions that are taken whole and known only at run time are those of the source.
void sizeBySource(mlir::tensor::ExtractSliceOp op);

/// Diagnostics if the slice is known only at run time, or not within its source: the verifier of
/// the op itself does not look at where negative strides end.
mlir::LogicalResult verifyTensorSlice(mlir::tensor::ExtractSliceOp op);

} // namespace headrace

#endif // HEADRACE_DIALECTS_INTERFACES_TENSORSLICE_H
