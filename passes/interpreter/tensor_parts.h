// Cutting tensors along dimensions, putting parts together, and combining them element by element.
#pragma once

#include "dialects/dist/DistDialect.h"
#include "passes/interpreter/value.h"

namespace headrace::interpreter {

Tensor sliceTensor(const Tensor &tensor, int64_t dim, int64_t offset, int64_t extent);
/// Fails if the parts differ in another dimension.
llvm::Expected<Tensor> concatenateTensors(llvm::ArrayRef<TensorPtr> parts, int64_t dim);
/// Combines in the order of the parts. Fails if the shapes differ.
llvm::Expected<Tensor> combineTensors(llvm::ArrayRef<TensorPtr> parts, dist::Combine combine);

} // namespace headrace::interpreter
