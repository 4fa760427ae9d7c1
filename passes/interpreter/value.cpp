// Values of the interpreter: shapes, order of rows, errors.
#include "passes/interpreter/value.h"

using namespace mlir;

namespace headrace::interpreter {

int64_t elementCount(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape) {
    count *= extent;
  }
  return count;
}

bool nextPosition(MutableArrayRef<int64_t> position, ArrayRef<int64_t> shape) {
  for (size_t dim = shape.size(); dim-- > 0;) {
    if (++position[dim] < shape[dim]) {
      return true;
    }
    position[dim] = 0;
  }
  return false;
}

Tensor Tensor::zeros(Type elementType, ArrayRef<int64_t> shape) {
  Element zero = isa<FloatType>(elementType) ? Element(0.0) : Element(int64_t(0));
  return {elementType, SmallVector<int64_t>(shape),
          std::vector<Element>(static_cast<size_t>(elementCount(shape)), zero)};
}

size_t Tensor::offsetOf(ArrayRef<int64_t> position) const {
  int64_t offset = 0;
  for (auto [index, extent] : llvm::zip_equal(position, shape)) {
    offset = offset * extent + index;
  }
  return static_cast<size_t>(offset);
}

Element elementOf(Attribute attribute) {
  if (auto real = dyn_cast<FloatAttr>(attribute)) {
    return real.getValueAsDouble();
  }
  return cast<IntegerAttr>(attribute).getValue().getSExtValue();
}

int compareWithNulls(const Scalar &a, const Scalar &b) {
  if (a.isNull() || b.isNull()) {
    return static_cast<int>(!a.isNull()) - static_cast<int>(!b.isNull());
  }
  return analysis::compareScalars(a, b);
}

int compareRows(const Row &a, const Row &b) {
  for (auto [x, y] : llvm::zip_equal(a, b)) {
    if (int order = compareWithNulls(x, y)) {
      return order;
    }
  }
  return 0;
}

char DataError::ID = 0;

llvm::Error dataError(const Twine &message) { return llvm::make_error<DataError>(message.str()); }

llvm::Error programError(const Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

} // namespace headrace::interpreter
