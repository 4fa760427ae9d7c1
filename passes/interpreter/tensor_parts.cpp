// Parts of tensors.
#include "passes/interpreter/tensor_parts.h"

#include <cmath>

using namespace mlir;

namespace headrace::interpreter {
namespace {

/// Calls visit(position in `part`, position in a whole in which the part starts at `offset` along
/// `dim`).
void forEachPosition(ArrayRef<int64_t> part, int64_t dim, int64_t offset,
                     llvm::function_ref<void(ArrayRef<int64_t>, ArrayRef<int64_t>)> visit) {
  if (elementCount(part) == 0) {
    return;
  }
  SmallVector<int64_t> position(part.size(), 0);
  do {
    SmallVector<int64_t> whole(position);
    whole[dim] += offset;
    visit(position, whole);
  } while (nextPosition(position, part));
}

Element combined(dist::Combine combine, const Element &a, const Element &b, Type type) {
  if (const auto *x = std::get_if<double>(&a)) {
    double y = std::get<double>(b);
    double result = combine == dist::Combine::Sum       ? *x + y
                    : combine == dist::Combine::Product ? *x * y
                    : std::isnan(*x) || std::isnan(y)   ? std::nan("")
                    : combine == dist::Combine::Max     ? std::fmax(*x, y)
                                                        : std::fmin(*x, y);
    return type.isF32() ? static_cast<double>(static_cast<float>(result)) : result;
  }
  auto x = std::get<int64_t>(a);
  auto y = std::get<int64_t>(b);
  switch (combine) {
  case dist::Combine::Sum:
    return static_cast<int64_t>(static_cast<uint64_t>(x) + static_cast<uint64_t>(y));
  case dist::Combine::Product:
    return static_cast<int64_t>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
  case dist::Combine::Max:
    return std::max(x, y);
  default:
    return std::min(x, y);
  }
}

} // namespace

Tensor sliceTensor(const Tensor &tensor, int64_t dim, int64_t offset, int64_t extent) {
  SmallVector<int64_t> shape(tensor.shape);
  shape[dim] = extent;
  Tensor part = Tensor::zeros(tensor.elementType, shape);
  forEachPosition(part.shape, dim, offset, [&](ArrayRef<int64_t> here, ArrayRef<int64_t> there) {
    part.elements[part.offsetOf(here)] = tensor.elements[tensor.offsetOf(there)];
  });
  return part;
}

llvm::Expected<Tensor> concatenateTensors(ArrayRef<TensorPtr> parts, int64_t dim) {
  SmallVector<int64_t> shape(parts.front()->shape);
  shape[dim] = 0;
  for (const TensorPtr &part : parts) {
    SmallVector<int64_t> other(part->shape);
    shape[dim] += other[dim];
    other[dim] = shape[dim];
    if (other != shape) {
      return programError("parts of a tensor differ in a dimension that is not split");
    }
  }
  Tensor whole = Tensor::zeros(parts.front()->elementType, shape);
  int64_t offset = 0;
  for (const TensorPtr &part : parts) {
    forEachPosition(part->shape, dim, offset, [&](ArrayRef<int64_t> here, ArrayRef<int64_t> there) {
      whole.elements[whole.offsetOf(there)] = part->elements[part->offsetOf(here)];
    });
    offset += part->shape[dim];
  }
  return whole;
}

llvm::Expected<Tensor> combineTensors(ArrayRef<TensorPtr> parts, dist::Combine combine) {
  Tensor result = *parts.front();
  for (const TensorPtr &part : parts.drop_front()) {
    if (part->shape != result.shape) {
      return programError("tensors that are combined have different shapes");
    }
    for (size_t index = 0; index < result.elements.size(); ++index) {
      result.elements[index] =
          combined(combine, result.elements[index], part->elements[index], result.elementType);
    }
  }
  return result;
}

} // namespace headrace::interpreter
