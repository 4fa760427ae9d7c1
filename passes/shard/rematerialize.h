// Tensors that cost nothing to make again in another layout: empty ones and those filled with a
// constant.
#ifndef HEADRACE_PASSES_SHARD_REMATERIALIZE_H
#define HEADRACE_PASSES_SHARD_REMATERIALIZE_H

#include "dialects/dist/DistDialect.h"
#include "mlir/IR/Builders.h"

namespace headrace::shard {

/// tensor.empty and constants of static shape, and linalg.fill of a constant into such a tensor.
bool isRematerializable(mlir::Value value);

/// Tensors that run-time sizes shape: no move of them is worth anything, they must be made where
/// they are used.
bool isSizedFill(mlir::Value value);

/// Makes the value, which is rematerializable, once more at the builder's place; its ops carry
/// `layout`.
mlir::Value rematerialize(mlir::OpBuilder &builder, mlir::Value value, dist::LayoutAttr layout);

} // namespace headrace::shard

#endif // HEADRACE_PASSES_SHARD_REMATERIALIZE_H
