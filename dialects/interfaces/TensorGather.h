// Which tensor.gather there are: rows of a tensor at places that are numbers of another.
#ifndef HEADRACE_DIALECTS_INTERFACES_TENSORGATHER_H
#define HEADRACE_DIALECTS_INTERFACES_TENSORGATHER_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace headrace {

/// Diagnostics unless the op takes whole rows, without the dimension that the places are along, by
/// i64 places: `gather_dims([0])` of a rank-reducing gather. A negative place counts from the end;
/// one outside the source is an error of the run.
mlir::LogicalResult verifyTensorGather(mlir::tensor::GatherOp op);

} // namespace headrace

#endif // HEADRACE_DIALECTS_INTERFACES_TENSORGATHER_H
