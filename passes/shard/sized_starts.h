// Tensors of run-time size that ops begin with: empty, or filled with a constant.
#ifndef HEADRACE_PASSES_SHARD_SIZED_STARTS_H
#define HEADRACE_PASSES_SHARD_SIZED_STARTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <optional>

namespace headrace::shard {

/// A dimension of a tensor.
struct TensorDimension {
  mlir::Value tensor;
  unsigned dimension = 0;
};

/// Gives every use of such a start its own, right before the op that uses it.
void sinkSizedStarts(mlir::func::FuncOp function);

/// For each dynamic dimension of a start, an input with that loop of the op that begins with it: it
/// has the right part of the extent, whatever the layout. Nothing if some dimension has none.
std::optional<llvm::SmallVector<TensorDimension>> carriedSizes(mlir::tensor::EmptyOp empty);

} // namespace headrace::shard

#endif // HEADRACE_PASSES_SHARD_SIZED_STARTS_H
